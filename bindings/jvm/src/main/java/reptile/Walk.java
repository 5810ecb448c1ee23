package reptile;

/**
 * One walk over a path with one automaton, which finds the matching rules.
 *
 * <p>A walk for a verdict skips rules that cannot beat those already matched. A walk that names rules finds the best
 * allow and the best disallow.
 */
final class Walk {
    /** Maximum number of passes over a path in one decision. */
    static final int MAX_PASSES = 256;
    /** Maximum nesting depth of wildcard automata. */
    static final int MAX_DEPTH = 16;
    /** Maximum size of fallback patterns in bytes. */
    static final int MAX_FALLBACK_BYTES = 2 << 20;

    private static final int NO_RANK = Automaton.NO_RANK;

    private final Automaton automaton;
    private final int width;
    private final byte[] path;
    private final int from;
    private final int to;
    private final boolean naming;
    /** The number of passes over the path so far. Rulesets that decide together share the limit. */
    private int passes;

    /** The best matching rank of each kind. */
    int allow = NO_RANK;
    int disallow = NO_RANK;
    /**
     * Where each kind's best rule ends in the trie, plus 1; negated if the rule ends with {@code $}; 0 if it is not in
     * the trie.
     */
    private int allowEnd;
    private int disallowEnd;

    Walk(Automaton automaton, byte[] path, int from, int to, boolean naming, int passes) {
        this.automaton = automaton;
        this.path = path;
        this.from = from;
        this.to = to;
        this.naming = naming;
        this.passes = passes;
        width = automaton.width;
    }

    int passes() {
        return passes;
    }

    /** Returns whether the rules disallow the path. */
    static boolean disallows(Automaton automaton, byte[] path, int from, int to) {
        Walk walk = new Walk(automaton, path, from, to, false, 0);
        return walk.walkTrie();
    }

    /** Finds the best matching rule of each kind. */
    static Walk named(Automaton automaton, byte[] path, int from, int to, int passes) {
        Walk walk = new Walk(automaton, path, from, to, true, passes);
        walk.walkTrie();
        return walk;
    }

    private int best() {
        return Math.min(allow, disallow);
    }

    /** Walks the trie, and then the wildcard automata and the fallback patterns that could change the answer. */
    private boolean walkTrie() {
        Automaton automaton = this.automaton;
        int state = automaton.trie();
        int position = from;
        int flags = 0;
        int ranks = 0;
        int rankFlags = 0;
        int list = 0;
        int end = 0;
        boolean isAtEnd = false;
        pass();
        while (state != 0) {
            int label = automaton.u8(state);
            int here = automaton.u8(state + 1);
            int children = automaton.u8(state + 2);
            int transitions = state + Automaton.STATE_BYTES;
            int text = transitions + automaton.transitionBytes(children);
            if (!automaton.matches(text, label, path, position, to)) {
                break;
            }
            position += label;
            flags = here;
            end = text + label;
            if ((here & (Automaton.ALLOW | Automaton.DISALLOW)) != 0) {
                ranks = end;
                rankFlags = here;
            }
            if ((here & Automaton.BEGINS_WILDCARDS) != 0) {
                list = state;
            }
            if (naming) {
                takeRanks(end, here, position, true);
            }
            if (position == to) {
                isAtEnd = true;
                break;
            }
            state = automaton.transition(transitions, children, path[position++] & 0xFF);
        }
        int fallbacks = automaton.fallbacks();
        // Fallback patterns may change a settled state's verdict. Then wildcard automata matter too.
        boolean isSettled = fallbacks == 0 && (list == 0 || (flags & Automaton.SETTLED) != 0);
        if (!naming && isSettled) {
            return (flags & (isAtEnd ? Automaton.DISALLOWS_AT_END : Automaton.DISALLOWS)) != 0;
        }
        if (!naming) {
            takeRanks(ranks, rankFlags & (Automaton.ALLOW | Automaton.DISALLOW), position, false);
            if (isAtEnd) {
                takeRanks(end, flags, position, false);
            }
        }
        if (list != 0) {
            walkList(list);
        }
        if (fallbacks != 0) {
            tryFallbacks(fallbacks);
        }
        return disallow < allow;
    }

    /** Records a state's ranks. End-anchored ranks count only if the path ends here. */
    private void takeRanks(int at, int flags, int position, boolean inTrie) {
        int place = inTrie ? position - from + 1 : 0;
        for (int flag = Automaton.ALLOW; flag <= Automaton.DISALLOW_AT_END; flag <<= 1) {
            if ((flags & flag) == 0) {
                continue;
            }
            boolean isAtEnd = flag >= Automaton.ALLOW_AT_END;
            int rank = automaton.rank(at);
            at += width;
            if (isAtEnd && position != to) {
                continue;
            }
            if ((flag & (Automaton.ALLOW | Automaton.ALLOW_AT_END)) != 0) {
                if (rank < allow) {
                    allow = rank;
                    allowEnd = isAtEnd ? -place : place;
                }
            } else if (rank < disallow) {
                disallow = rank;
                disallowEnd = isAtEnd ? -place : place;
            }
        }
    }

    /** Returns a matching rank's pattern in the set's normal form. */
    byte[] pattern(int rank) {
        byte[] text = automaton.text(rank);
        if (text != null || rank == automaton.otherwise()) {
            return text == null ? new byte[0] : text;
        }
        int end = (rank & 1) == 0 ? allowEnd : disallowEnd;
        if (end == 0) {
            throw automaton.damaged(0, "a text for the rule with rank " + rank, "none");
        }
        int length = Math.abs(end) - 1;
        byte[] pattern = java.util.Arrays.copyOfRange(path, from, from + length + (end < 0 ? 1 : 0));
        if (end < 0) {
            pattern[length] = '$';
        }
        return pattern;
    }

    /** Runs the wildcard automata in a trie state's list. */
    private void walkList(int state) {
        int count = automaton.u8(state - 1);
        if (count != 2) {
            throw automaton.damaged(state - 1, "two lists of wildcard automata", count);
        }
        int entry = state - 1 - (naming ? 1 : 2) * (1 + width);
        boolean takesAll = naming || automaton.u8(entry) == 1;
        int root = automaton.number(entry + 1);
        for (int left = automaton.wildcards(); root != 0; left--) {
            if (left <= 0) {
                throw automaton.damaged(root, "a list of at most " + automaton.wildcards() + " wildcard automata", "a longer one");
            }
            if (isUseful(root)) {
                int start = automaton.number(root + 1 + 2 * width);
                if (start > to - from) {
                    throw automaton.damaged(root, "a wildcard start up to " + (to - from), start);
                }
                run(root, from + start, 1);
            }
            root = automaton.number(root + 1 + 3 * width);
            if (root != 0 && !takesAll) {
                root = automaton.number(root + 1 + 4 * width);
            }
        }
    }

    /** Returns whether a wildcard automaton may lead to a better rule than those already matched. */
    private boolean isUseful(int root) {
        int bestAllow = automaton.rank(root + 1);
        int bestDisallow = automaton.rank(root + 1 + width);
        return naming ? bestAllow < allow || bestDisallow < disallow : Math.min(bestAllow, bestDisallow) < best();
    }

    private void pass() {
        if (++passes > MAX_PASSES) {
            throw automaton.damaged(0, "at most " + MAX_PASSES + " passes over a path", "more");
        }
    }

    /** Runs a wildcard automaton from a position in the path. */
    private void run(int root, int position, int depth) {
        pass();
        if (depth > MAX_DEPTH) {
            throw automaton.damaged(root, "wildcard automata up to " + MAX_DEPTH + " deep", "deeper ones");
        }
        int rootChildren = automaton.u8(root);
        int rootTransitions = root + 1 + 6 * width;
        long firstLetters = firstLetters(rootChildren, rootTransitions);
        long begun = 0;
        while (position < to) {
            // One shift rejects most bytes; Java takes the shift count modulo 64.
            byte letter = path[position++];
            if ((firstLetters >>> letter & 1) == 0) {
                continue;
            }
            int state = automaton.transition(rootTransitions, rootChildren, letter & 0xFF);
            while (state != 0) {
                int label = automaton.u8(state);
                int flags = automaton.u8(state + 1);
                int children = automaton.u8(state + 2);
                int transitions = state + Automaton.STATE_BYTES;
                int text = transitions + automaton.transitionBytes(children);
                automaton.check(text, label);
                int read = 0;
                while (read < label && position + read < to && automaton.checkedByte(text + read) == path[position + read]) {
                    read++;
                }
                position += read;
                if (read < label) {
                    // The mismatched byte is tried again from the root.
                    break;
                }
                takeRanks(text + label, flags, position, false);
                if ((flags & Automaton.BEGINS_WILDCARDS) != 0) {
                    begun = runNested(state, begun, position, depth);
                }
                if (!isUseful(root) || position == to) {
                    return;
                }
                state = automaton.transition(transitions, children, path[position] & 0xFF);
                position += state != 0 ? 1 : 0;
            }
        }
    }

    /** Returns a bit for each byte that leads from the root, modulo 64, or all bits if there are many. */
    private long firstLetters(int children, int transitions) {
        if (children > Automaton.MAX_LISTED) {
            return -1;
        }
        long letters = 0;
        for (int child = 0; child < children; child++) {
            letters |= 1L << automaton.u8(transitions + children * width + child);
        }
        return letters;
    }

    /** Runs the wildcard automata nested in a state, each once. */
    private long runNested(int state, long begun, int position, int depth) {
        int count = automaton.u8(state - 1);
        for (int left = count; left > 0; left--) {
            int entry = state - 1 - left * (1 + width);
            int number = automaton.u8(entry);
            if (number > 63) {
                throw automaton.damaged(entry, "a number up to 63", number);
            }
            if ((begun >>> number & 1) == 0) {
                begun |= 1L << number;
                int root = automaton.number(entry + 1);
                if (isUseful(root)) {
                    run(root, position, depth + 1);
                }
            }
        }
        return begun;
    }

    /** Tries the fallback patterns in rank order until none could change the answer. */
    private void tryFallbacks(int start) {
        long at = start;
        while (true) {
            if (automaton.isNone((int) at)) {
                return;
            }
            int rank = automaton.u31((int) at);
            boolean isAnchored = automaton.u31((int) at + 4) != 0;
            int segments = automaton.u31((int) at + 8);
            at += 16;
            boolean isWanted = naming ? rank < ((rank & 1) == 0 ? allow : disallow) : rank < best();
            if (!isWanted && !naming) {
                return;
            }
            at = tryFallback((int) at, segments, isAnchored, isWanted ? rank : NO_RANK);
            if (at - start > MAX_FALLBACK_BYTES) {
                throw automaton.damaged(start, "at most " + MAX_FALLBACK_BYTES + " bytes of fallback patterns", "more");
            }
        }
    }

    /** Returns the end of a text's first occurrence after a position, or -1. Linear (Knuth-Morris-Pratt). */
    private int endOf(int at, int length, int position) {
        if (length > to - position) {
            return -1;
        }
        int[] borders = new int[length + 1];
        int border = 0;
        for (int read = 1; read < length; read++) {
            byte letter = automaton.checkedByte(at + read);
            while (border > 0 && letter != automaton.checkedByte(at + border)) {
                border = borders[border];
            }
            border += letter == automaton.checkedByte(at + border) ? 1 : 0;
            borders[read + 1] = border;
        }
        int found = 0;
        while (found < length) {
            if (position == to) {
                return -1;
            }
            byte letter = path[position++];
            while (found > 0 && letter != automaton.checkedByte(at + found)) {
                found = borders[found];
            }
            found += letter == automaton.checkedByte(at + found) ? 1 : 0;
        }
        return position;
    }

    /** Tries one pattern and records its rank if it matches. Returns where the next pattern begins. */
    private long tryFallback(int at, int segments, boolean isAnchored, int rank) {
        int position = from;
        boolean matches = rank != NO_RANK;
        for (int segment = 0; segment < segments; segment++) {
            int length = automaton.u31(at);
            automaton.check(at + 4, length);
            boolean isLast = segment == segments - 1;
            if (matches && segment == 0) {
                matches = automaton.matches(at + 4, length, path, position, to) && (!isAnchored || !isLast || length == to - from);
                if (matches) {
                    pass();
                }
                position += length;
            } else if (matches && isAnchored && isLast) {
                matches = to - length >= position && automaton.matches(at + 4, length, path, to - length, to);
            } else if (matches) {
                position = endOf(at + 4, length, position);
                matches = position >= 0;
            }
            at += 4 + length;
        }
        if (matches) {
            allow = (rank & 1) == 0 ? rank : allow;
            disallow = (rank & 1) == 1 ? rank : disallow;
        }
        return at;
    }
}
