package reptile;

import java.util.Arrays;

/** The statements in groups' usage rules: the section {@code usages}. */
final class Usages {
    private static final int UNIT = 4;
    private static final int HEADER_BYTES = 20;
    /** Maximum number of patterns with wildcards and equal lengths in a group. */
    private static final int MAX_TIED_PATTERNS = 1024;

    private final Section section;

    Usages(Section section) {
        this.section = section;
    }

    /** One group's record. */
    final class Group {
        private final long at;
        private final long statements;
        private final long rules;

        private Group(long address) {
            at = address * UNIT;
            section.check(at, HEADER_BYTES, "a record of usage rules");
            statements = section.u32(at + 4);
            rules = section.u32(at + 8);
            section.check(at, HEADER_BYTES + 4 * statements + 8 * rules, "a record of usage rules");
        }

        private long place(long rule) {
            if (rule >= rules) {
                throw section.damaged(at, "a usage rule below " + rules, rule);
            }
            return at + HEADER_BYTES + 4 * statements + 8 * rule;
        }

        /** Returns a rule's pattern length in bytes. */
        long length(long rule) {
            return section.u32(place(rule) + 4);
        }

        private long statementOf(long rule) {
            return section.u32(place(rule));
        }

        void combineBase(Uses uses, Preference[] answer) {
            combineOptional(at + 12, uses, false, answer);
        }

        void combineSignals(Uses uses, Preference[] answer) {
            combineOptional(at + 16, uses, true, answer);
        }

        private void combineOptional(long number, Uses uses, boolean inSignals, Preference[] answer) {
            long statement = section.u32(number);
            if (statement != 0) {
                combine(statement - 1, uses, inSignals, answer);
            }
        }

        private void combine(long statement, Uses uses, boolean inSignals, Preference[] answer) {
            if (statement >= statements) {
                throw section.damaged(at, "a statement below " + statements, statement);
            }
            long next = at + section.u32(at + HEADER_BYTES + 4 * statement);
            section.check(next, 2, "a statement");
            int count = section.u16(next);
            next += 2;
            for (int label = 0; label < count; label++) {
                section.check(next, 2, "a label");
                int length = section.u16(next);
                section.check(next + 2, length + 1L, "a label");
                byte[] text = section.copy(next + 2, length);
                int value = section.u8(next + 2 + length);
                if (value > 1) {
                    throw section.damaged(next, "a preference, 0 or 1", value);
                }
                next += 3 + length;
                Preference stated = value == 0 ? Preference.ALLOWED : Preference.DISALLOWED;
                for (int use = 0; use < answer.length; use++) {
                    for (byte[] wanted : uses.labels(use, inSignals)) {
                        if (Arrays.equals(wanted, text)) {
                            answer[use] = answer[use].combinedWith(stated);
                        }
                    }
                }
            }
        }

        /** Combines an answer with all rules that match the path and have this length, given the best of each kind. */
        void combineBest(Walk walk, Automaton automaton, byte[] path, long length, Uses uses, Preference[] answer) {
            for (int rank : new int[] {walk.allow, walk.disallow}) {
                if (rank != Automaton.NO_RANK && length(rank >> 1) == length) {
                    combine(statementOf(rank >> 1), uses, false, answer);
                }
            }
            if (walk.allow == Automaton.NO_RANK || length(walk.allow >> 1) != length) {
                return;
            }
            int first = walk.allow >> 1;
            for (int rule = first + 1; rule < rules && length(rule) == length; rule++) {
                if (rule - first >= MAX_TIED_PATTERNS) {
                    throw section.damaged(at, "up to " + MAX_TIED_PATTERNS + " patterns of " + length + " bytes", "more");
                }
                byte[] pattern = automaton.text(2 * rule);
                if (pattern == null) {
                    // A plain rule. The rest are plain, too.
                    return;
                }
                if (matches(pattern, path)) {
                    combine(statementOf(rule), uses, false, answer);
                }
            }
        }
    }

    /** Returns the record at an address, or null for {@link Section#NONE}. */
    Group at(long address) {
        return address == Section.NONE ? null : new Group(address);
    }

    /** Returns whether a pattern with wildcards matches a path. Each segment is matched at its leftmost place. */
    private static boolean matches(byte[] pattern, byte[] path) {
        boolean isAnchored = pattern.length > 0 && pattern[pattern.length - 1] == '$';
        int end = isAnchored ? pattern.length - 1 : pattern.length;
        int from = 0;
        int position = 0;
        boolean isFirst = true;
        while (true) {
            int to = from;
            while (to < end && pattern[to] != '*') {
                to++;
            }
            boolean isLast = to == end;
            int length = to - from;
            if (isFirst) {
                position = starts(path, 0, pattern, from, length) ? length : -1;
            } else if (isLast && isAnchored) {
                int start = path.length - length;
                return start >= position && starts(path, start, pattern, from, length);
            } else {
                int found = position;
                while (found + length <= path.length && !starts(path, found, pattern, from, length)) {
                    found++;
                }
                position = found + length <= path.length ? found + length : -1;
            }
            if (position < 0) {
                return false;
            }
            if (isLast) {
                return !isAnchored || position == path.length;
            }
            isFirst = false;
            from = to + 1;
        }
    }

    private static boolean starts(byte[] path, int at, byte[] pattern, int from, int length) {
        return at + length <= path.length && Arrays.equals(path, at, at + length, pattern, from, from + length);
    }
}
