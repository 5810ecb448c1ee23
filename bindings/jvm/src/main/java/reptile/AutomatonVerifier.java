package reptile;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** Reads every part of an automaton, and follows every offset. Time and memory: linear in the bytes. */
final class AutomatonVerifier {
    private final Automaton automaton;
    private final int width;
    private final BitSet texts = new BitSet();
    /** The wildcard automaton that a state belongs to, by its root; 0 for the trie. */
    private final Map<Integer, Integer> owners = new HashMap<>();
    /** How deep wildcard automata begin one in another from each on. */
    private final Map<Integer, Integer> heights = new HashMap<>();
    /** The farthest place in the path at which an automaton of a list begins, from each on. */
    private final Map<Integer, Integer> farthest = new HashMap<>();
    /** How many automata a list has, from each on. */
    private final Map<Integer, Integer> lengths = new HashMap<>();
    private final int end;

    AutomatonVerifier(Automaton automaton) {
        this.automaton = automaton;
        width = automaton.width;
        end = automaton.end();
    }

    void verify() {
        verifyTexts();
        if (automaton.otherwise() != Automaton.NO_RANK) {
            checkRank(automaton.otherwise(), 0);
        }
        if (automaton.rules() > 0) {
            automaton.jointRank(2 * (automaton.rules() - 1));
        }
        if (automaton.trie() != 0) {
            verifyTrie();
        }
        if (automaton.fallbacks() != 0) {
            verifyFallbacks(automaton.fallbacks());
        }
    }

    private void checkRank(int rank, int at) {
        if (rank >> 1 >= automaton.rules()) {
            throw automaton.damaged(at, "a rank of one of " + automaton.rules() + " rules", rank);
        }
    }

    private void verifyTexts() {
        int at = automaton.texts();
        int last = -1;
        for (int text = 0; at != 0 && text < automaton.number(at); text++) {
            int rank = automaton.textRank(at, text);
            checkRank(rank, at);
            if (rank <= last) {
                throw automaton.damaged(at, "texts in the order of their ranks", rank + " after " + last);
            }
            automaton.text(at, text);
            texts.set(rank);
            last = rank;
        }
    }

    /** Checks the header of a state, its ranks, and where it leads; the end of its ranks. */
    private int checkState(int state, boolean isInTrie) {
        int flags = automaton.u8(state + 1);
        int children = automaton.u8(state + 2);
        int at = state + Automaton.STATE_BYTES + automaton.transitionBytes(children) + automaton.u8(state);
        for (int flag = Automaton.ALLOW; flag <= Automaton.DISALLOW_AT_END; flag <<= 1) {
            if ((flags & flag) == 0) {
                continue;
            }
            int rank = automaton.rank(at);
            checkRank(rank, at);
            boolean isAllow = (flag & (Automaton.ALLOW | Automaton.ALLOW_AT_END)) != 0;
            if (isAllow != ((rank & 1) == 0) || !isInTrie && !texts.get(rank)) {
                throw automaton.damaged(at, "the rank of " + (isAllow ? "an allow" : "a disallow") + " with a text", rank);
            }
            at += width;
        }
        if (at > end) {
            throw automaton.damaged(state, "a state that ends before " + end, at);
        }
        return at;
    }

    /** A state of the trie that is still to be looked at. */
    private static final class Next {
        final int state;
        final int depth;

        Next(int state, int depth) {
            this.state = state;
            this.depth = depth;
        }
    }

    private void verifyTrie() {
        ArrayDeque<Next> waiting = new ArrayDeque<>();
        waiting.add(new Next(automaton.trie(), 0));
        while (!waiting.isEmpty()) {
            Next next = waiting.removeLast();
            if (owners.put(next.state, 0) != null) {
                throw automaton.damaged(next.state, "a state of the trie that one transition leads to", "another transition");
            }
            checkState(next.state, true);
            int depth = next.depth + automaton.u8(next.state);
            if ((automaton.u8(next.state + 1) & Automaton.BEGINS_WILDCARDS) != 0) {
                verifyLists(next.state, depth);
            }
            int children = automaton.u8(next.state + 2);
            for (int target : targets(next.state + Automaton.STATE_BYTES, children)) {
                waiting.add(new Next(target, depth + 1));
            }
        }
    }

    /** The states that transitions lead to. */
    private int[] targets(int at, int children) {
        int count = children <= Automaton.MAX_LISTED ? children : children + 1;
        int first = children <= Automaton.MAX_LISTED ? at : at + 1;
        int[] targets = new int[count];
        int len = 0;
        for (int child = 0; child < count; child++) {
            int target = automaton.number(first + child * width);
            if (target >= end || target == 0 && children <= Automaton.MAX_LISTED) {
                throw automaton.damaged(first + child * width, "the offset of a state before " + end, target);
            }
            if (target != 0) {
                targets[len++] = target;
            }
        }
        return java.util.Arrays.copyOf(targets, len);
    }

    private void verifyLists(int state, int depth) {
        int entry = state - 1 - 2 * (1 + width);
        int takesAll = automaton.u8(entry);
        int deciding = automaton.number(entry + 1);
        int all = automaton.number(entry + 1 + 1 + width);
        if (automaton.u8(state - 1) != 2 || takesAll > 1 || automaton.u8(entry + 1 + width) != 0) {
            throw automaton.damaged(entry, "two lists of wildcard automata", automaton.u8(state - 1));
        }
        if (Math.max(farthest(deciding), farthest(all)) > depth) {
            throw automaton.damaged(entry, "wildcards that begin within " + depth + " bytes", "a later one");
        }
    }

    /** Checks the automata of a list; the farthest place at which one begins. */
    private int farthest(int first) {
        ArrayDeque<Integer> list = new ArrayDeque<>();
        int root = first;
        while (root != 0 && !farthest.containsKey(root)) {
            list.push(root);
            checkLength(root, list.size());
            height(root, 1);
            root = automaton.number(root + 1 + 3 * width);
        }
        int far = root == 0 ? 0 : farthest.get(root);
        int length = root == 0 ? 0 : lengths.get(root);
        for (int each : list) {
            length++;
            checkLength(each, length);
            lengths.put(each, length);
            int deciding = automaton.number(each + 1 + 4 * width);
            int next = automaton.number(each + 1 + 3 * width);
            if (deciding != 0 && deciding != each && !farthest.containsKey(deciding) || next == each) {
                throw automaton.damaged(each, "an automaton of the list after this one", deciding);
            }
            far = Math.max(far, automaton.number(each + 1 + 2 * width));
            farthest.put(each, far);
        }
        return far;
    }

    private void checkLength(int root, int length) {
        if (length > automaton.wildcards()) {
            throw automaton.damaged(root, "a list of at most " + automaton.wildcards() + " wildcard automata", "a longer one");
        }
    }

    /** Checks a wildcard automaton and those that it leads to; how many begin one in another. */
    private int height(int root, int depth) {
        Integer known = heights.get(root);
        if (known != null || depth > Walk.MAX_DEPTH) {
            if (known == null || depth + known - 1 > Walk.MAX_DEPTH) {
                throw automaton.damaged(root, "wildcard automata up to " + Walk.MAX_DEPTH + " deep", "deeper ones");
            }
            return known;
        }
        for (int kind = 0; kind < 2; kind++) {
            int rank = automaton.rank(root + 1 + kind * width);
            if (rank != Automaton.NO_RANK && (rank & 1) != kind) {
                throw automaton.damaged(root, "the rank of " + (kind == 0 ? "an allow" : "a disallow"), rank);
            }
        }
        int height = 1;
        ArrayDeque<Integer> waiting = new ArrayDeque<>();
        for (int target : targets(root + 1 + 6 * width, automaton.u8(root))) {
            waiting.add(target);
        }
        while (!waiting.isEmpty()) {
            int state = waiting.removeLast();
            Integer owner = owners.putIfAbsent(state, root);
            if (owner != null && owner.intValue() != root) {
                throw automaton.damaged(state, "a state of one automaton", "another automaton");
            }
            if (owner != null) {
                continue;
            }
            checkState(state, false);
            if ((automaton.u8(state + 1) & Automaton.BEGINS_WILDCARDS) != 0) {
                height = Math.max(height, 1 + nestedHeight(state, depth));
            }
            for (int target : targets(state + Automaton.STATE_BYTES, automaton.u8(state + 2))) {
                waiting.add(target);
            }
        }
        heights.put(root, height);
        return height;
    }

    private int nestedHeight(int state, int depth) {
        int height = 0;
        for (int left = automaton.u8(state - 1); left > 0; left--) {
            int entry = state - 1 - left * (1 + width);
            if (automaton.u8(entry) > 63) {
                throw automaton.damaged(entry, "a number up to 63", automaton.u8(entry));
            }
            height = Math.max(height, height(automaton.number(entry + 1), depth + 1));
        }
        return height;
    }

    private void verifyFallbacks(int start) {
        long at = start;
        while (!automaton.isNone((int) at)) {
            int rank = automaton.u31((int) at);
            checkRank(rank, (int) at);
            if (!texts.get(rank)) {
                throw automaton.damaged((int) at, "a rank with a text", rank);
            }
            if (automaton.u31((int) at + 4) > 1) {
                throw automaton.damaged((int) at + 4, "0 or 1", automaton.u31((int) at + 4));
            }
            int segments = automaton.u31((int) at + 8);
            at += 16;
            for (int segment = 0; segment < segments; segment++) {
                int length = automaton.u31((int) at);
                automaton.check((int) at + 4, length);
                at += 4 + length;
            }
            if (at - start > Walk.MAX_FALLBACK_BYTES) {
                throw automaton.damaged(start, "at most " + Walk.MAX_FALLBACK_BYTES + " bytes of fallback patterns", "more");
            }
        }
    }
}
