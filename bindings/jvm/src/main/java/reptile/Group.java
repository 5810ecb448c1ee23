package reptile;

/** Selects a policy's groups for a crawler. Usually there is one. */
final class Group {
    /** No group applies to the crawler. */
    static final int[] NONE = {};

    private Group() {}

    /**
     * Returns the groups for the first step that the policy names, or else the default group if the crawler honors it.
     * A step lists token numbers.
     */
    static int[] choose(Policy policy, long[][] steps, boolean honorsDefaultGroup, boolean matchesContained) {
        for (long[] step : steps) {
            int[] found = matchesContained ? first(policy, step) : all(policy, step[0]);
            if (found.length > 0) {
                return found;
            }
        }
        int group = honorsDefaultGroup ? policy.defaultGroup() : -1;
        return group < 0 ? NONE : new int[] {group};
    }

    /** Returns all groups for one token. */
    private static int[] all(Policy policy, long number) {
        int place = policy.place(number);
        int end = place;
        while (end < policy.tokenCount() && policy.token(end) == number) {
            end++;
        }
        if (place == end) {
            return NONE;
        }
        if (end - place > Walk.MAX_PASSES) {
            throw policy.damaged("at most " + Walk.MAX_PASSES + " groups per token, since each is a pass over the path", end - place);
        }
        int[] groups = new int[end - place];
        for (int at = 0; at < groups.length; at++) {
            groups[at] = policy.groupOf(place + at);
        }
        return groups;
    }

    /** Returns the group with the smallest index for any of these tokens. */
    private static int[] first(Policy policy, long[] numbers) {
        int best = -1;
        for (long number : numbers) {
            for (int group : all(policy, number)) {
                best = best < 0 ? group : Math.min(best, group);
            }
        }
        return best < 0 ? NONE : new int[] {best};
    }
}
