package reptile;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Checks that wildcard automata are the Aho-Corasick automata of their segments, and that their fingerprints pass every
 * segment. FORMAT.md defines this under "A wildcard automaton and its segments".
 */
final class MachineVerifier {
    /** The root, used as a suffix. */
    private static final int ROOT = 0;
    private static final int FINGERPRINT_BYTES = 80;
    /** Length of the segment prefix from which fingerprints are computed. */
    private static final int START_BYTES = 4;

    private final Automaton automaton;
    private final int width;
    private final Section prints;
    /** For each visited state, the state with the longest proper suffix of its text. */
    private final Map<Integer, Integer> suffixes = new HashMap<>();
    private final PriorityQueue<Open> waiting = new PriorityQueue<>();
    /** The automaton being checked: its root, its transitions, and the numbers of the automata that begin in it. */
    private int root;
    private int[][] first;
    private long numbers;

    MachineVerifier(Automaton automaton, Section prints) {
        this.automaton = automaton;
        this.prints = prints;
        width = automaton.width;
    }

    /** A visited state. */
    private static final class Open implements Comparable<Open> {
        final int state;
        /** Length and first bytes of the state's text. */
        final int length;
        final int[] start;

        Open(int state, int length, int[] start) {
            this.state = state;
            this.length = length;
            this.start = start;
        }

        @Override
        public int compareTo(Open other) {
            return length != other.length ? Integer.compare(length, other.length) : Integer.compare(state, other.state);
        }
    }

    /** Checks a wildcard automaton. No other automaton may share its states. */
    void verify(int root) {
        this.root = root;
        first = automaton.transitions(root + 1 + 6 * width, automaton.u8(root));
        numbers = 0;
        waiting.clear();
        Open none = new Open(ROOT, 0, new int[START_BYTES]);
        for (int child = 0; child < first[0].length; child++) {
            visit(none, first[0][child], first[1][child], ROOT);
        }
        while (!waiting.isEmpty()) {
            verifyState(waiting.remove());
        }
    }

    private int[][] transitions(int state) {
        return automaton.transitions(state + Automaton.STATE_BYTES, automaton.u8(state + 2));
    }

    private static int step(int[][] transitions, int letter) {
        int place = Arrays.binarySearch(transitions[0], letter);
        return place < 0 ? ROOT : transitions[1][place];
    }

    /** Checks a state's results and transitions, and visits the states with longer texts. */
    private void verifyState(Open open) {
        int suffix = suffixes.get(open.state);
        verifyFound(open, suffix);
        int[][] own = transitions(open.state);
        int[][] others = suffix == ROOT ? new int[2][0] : transitions(suffix);
        int place = 0;
        for (int child = 0; child < own[0].length; child++) {
            int same = ROOT;
            if (place < others[0].length && others[0][place] <= own[0][child]) {
                if (others[0][place] < own[0][child]) {
                    break;
                }
                same = others[1][place++];
            }
            if (!suffixes.containsKey(own[1][child])) {
                visit(open, own[0][child], own[1][child], suffix);
            } else if (same != own[1][child]) {
                throw automaton.damaged(open.state, "the suffix's transitions", "different ones");
            }
        }
        if (place < others[0].length) {
            throw automaton.damaged(open.state, "all the suffix's transitions", "fewer");
        }
    }

    /**
     * Checks that a state finds everything that its suffix finds, and that the fingerprints pass its additional
     * results.
     */
    private void verifyFound(Open open, int suffix) {
        int[][] own = automaton.wildcards(open.state);
        int[][] nested = suffix == ROOT ? new int[0][] : automaton.wildcards(suffix);
        int count = own.length - nested.length;
        boolean hasAll = count >= 0 && Arrays.deepEquals(Arrays.copyOfRange(own, Math.max(count, 0), own.length), nested);
        boolean findsMore = count > 0;
        for (boolean isAtEnd : new boolean[] {false, true}) {
            int[] ranks = automaton.ranks(open.state, isAtEnd);
            int[] others = suffix == ROOT ? new int[] {Automaton.NO_RANK, Automaton.NO_RANK} : automaton.ranks(suffix, isAtEnd);
            hasAll &= ranks[0] <= others[0] && ranks[1] <= others[1];
            findsMore |= !Arrays.equals(ranks, others);
        }
        if (!hasAll) {
            throw automaton.damaged(open.state, "all results of the longest suffix's state", "fewer");
        }
        for (int entry = 0; entry < count; entry++) {
            if (own[entry][0] > 63 || (numbers >>> own[entry][0] & 1) != 0) {
                throw automaton.damaged(open.state, "a distinct number for each segment's wildcard automata", own[entry][0]);
            }
            numbers |= 1L << own[entry][0];
        }
        if (findsMore && open.length < START_BYTES) {
            checkStart(open.start, open.length);
        }
    }

    /** Visits a state that a byte leads to from another state. Within a label, the suffix must be the root. */
    private void visit(Open from, int letter, int state, int suffix) {
        int length = automaton.u8(state);
        int text = automaton.labelAt(state);
        automaton.check(text, length);
        int now = from.state == ROOT ? ROOT : suffix == ROOT ? ROOT : step(transitions(suffix), letter);
        if (now == ROOT && from.state != ROOT) {
            now = step(first, letter);
        }
        int[] start = from.start.clone();
        for (int read = 0; read <= length; read++) {
            int byteHere = read == 0 ? letter : automaton.u8(text + read - 1);
            if (read > 0) {
                if (now != ROOT) {
                    throw automaton.damaged(state, "a label without suffixes", "another label");
                }
                now = step(first, byteHere);
            }
            if (from.length + read < START_BYTES) {
                start[from.length + read] = byteHere;
            }
        }
        if (now != ROOT && automaton.u8(now) != 0) {
            throw automaton.damaged(state, "a label without suffixes", "another label");
        }
        if (suffixes.put(state, now) != null) {
            throw automaton.damaged(root, "a tree of segments", "two ways to a state");
        }
        Open open = new Open(state, from.length + 1 + length, start);
        if (from.length < START_BYTES && open.length >= START_BYTES) {
            checkStart(start, START_BYTES);
        }
        waiting.add(open);
    }

    /** Checks that the fingerprints pass a segment that begins with these bytes, regardless of the following bytes. */
    private void checkStart(int[] start, int length) {
        int index = automaton.number(root + 1 + 5 * width);
        long place = automaton.u32(automaton.end() + 4L * index);
        long at = FINGERPRINT_BYTES * place;
        prints.check(at, FINGERPRINT_BYTES, "fingerprints");
        int groups = 0xFF;
        // The last table is for the first byte's upper half.
        for (int number = 0; number <= START_BYTES; number++) {
            long table = at + 16 * number;
            int offset = number % START_BYTES;
            if (offset < length) {
                groups &= prints.u8(table + (number < START_BYTES ? start[offset] & 15 : start[offset] >> 4));
            } else {
                for (int half = 0; half < 16; half++) {
                    groups &= prints.u8(table + half);
                }
            }
        }
        if (groups == 0) {
            throw automaton.damaged(root, "fingerprints that pass every segment", "some that miss one");
        }
    }
}
