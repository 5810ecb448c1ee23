package reptile;

/** The groups that a policy has for a crawler. Most policies have one. */
final class Group {
    /** No group is for the crawler. */
    static final int[] NONE = {};

    private Group() {}

    /** The groups for the first of these steps that a policy has; each step has the numbers of the tokens that it stands for. */
    static int[] choose(Policy policy, long[][] steps, boolean honoursDefaultGroup, boolean matchesContained) {
        for (long[] step : steps) {
            int[] found = matchesContained ? first(policy, step) : all(policy, step[0]);
            if (found.length > 0) {
                return found;
            }
        }
        int group = honoursDefaultGroup ? policy.defaultGroup() : -1;
        return group < 0 ? NONE : new int[] {group};
    }

    /** All groups of one token. */
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
            throw policy.damaged("at most " + Walk.MAX_PASSES + " groups of one token, since each is a pass over the path", end - place);
        }
        int[] groups = new int[end - place];
        for (int at = 0; at < groups.length; at++) {
            groups[at] = policy.groupOf(place + at);
        }
        return groups;
    }

    /** The group of the smallest index of any of these tokens. */
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
