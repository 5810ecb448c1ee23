package reptile;

/** Explains a verdict: the best rules of a crawler's groups, which decide together. Usually there is one group. */
final class Together {
    /** The best rule of one kind so far. */
    private static final class Best {
        Rule rule;
        long key;

        void offer(Rule other, long otherKey) {
            if (rule == null || otherKey < key || otherKey == key && other.line() < rule.line()) {
                rule = other;
                key = otherKey;
            }
        }
    }

    private final CompiledSet set;
    private final Best allow = new Best();
    private final Best disallow = new Best();
    private final Best empty = new Best();

    private Together(CompiledSet set) {
        this.set = set;
    }

    /** Returns the groups' verdict for a normalized path, with the rules. */
    static Explanation explain(CompiledSet set, Policy policy, int[] groups, byte[] path) {
        Together best = new Together(set);
        int passes = 0;
        for (int group : groups) {
            Automaton automaton = set.automaton(policy.ruleset(group));
            Walk walk = Walk.named(automaton, path, 0, path.length, passes);
            passes = walk.passes();
            best.take(walk, automaton, policy.lines(group), groups.length == 1);
        }
        return best.explanation(policy, groups.length > 0);
    }

    private void take(Walk walk, Automaton automaton, long lines, boolean alone) {
        int otherwise = automaton.otherwise();
        if (otherwise != Automaton.NO_RANK) {
            // A rule with an empty pattern restricts nothing and has no place in the other rules' order.
            empty.offer(rule(walk, otherwise, lines), otherwise & 1);
        }
        for (int rank : new int[] {walk.allow, walk.disallow}) {
            if (rank != Automaton.NO_RANK) {
                long joint = alone ? rank : automaton.jointRank(rank);
                if (joint < 0) {
                    throw automaton.damaged(0, "joint ranks, since several groups decide together", "none");
                }
                ((rank & 1) == 0 ? allow : disallow).offer(rule(walk, rank, lines), joint);
            }
        }
    }

    private Rule rule(Walk walk, int rank, long lines) {
        return new Rule((rank & 1) == 0, set.line(lines, rank >> 1), walk.pattern(rank));
    }

    private Explanation explanation(Policy policy, boolean hasGroup) {
        boolean disallows = disallow.rule != null && (allow.rule == null || disallow.key < allow.key);
        Rule rule = disallows ? disallow.rule : allow.rule != null ? allow.rule : empty.rule;
        Rule named = rule == empty.rule ? rule : null;
        Reason reason = rule != null ? Reason.RULE : hasGroup ? Reason.NO_RULE_MATCHES : Reason.NO_GROUP;
        return new Explanation(
                disallows ? Verdict.DISALLOW : Verdict.ALLOW,
                reason,
                policy,
                rule,
                named != null && named.allows() ? named : allow.rule,
                named != null && !named.allows() ? named : disallow.rule);
    }
}
