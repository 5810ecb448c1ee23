package reptile;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads every part of an automaton, follows every offset, and checks all derived data: state flags, lists of wildcard
 * automata, and best ranks. Time and memory are linear in the automaton's size.
 *
 * <p>{@link MachineVerifier} checks the wildcard automata.
 */
final class AutomatonVerifier {
    /** The owner of trie states. Any other state is owned by its wildcard automaton's root. */
    private static final Integer TRIE = 0;

    private static final int NO_RANK = Automaton.NO_RANK;
    private static final int[] NO_RANKS = {NO_RANK, NO_RANK};

    private final Automaton automaton;
    private final int width;
    private final BitSet texts = new BitSet();
    /** Ranks that are first accepted in the trie, each at one state. */
    private final BitSet inTrie = new BitSet();
    private final Map<Integer, Integer> owners = new HashMap<>();
    /** The wildcard automata by root offset. Each comes after all automata that it leads to. */
    private final TreeMap<Integer, Wildcard> wildcards = new TreeMap<>();
    private final MachineVerifier machines;
    private final int end;
    /** Bytes that belong to a part. */
    private final BitSet claimed = new BitSet();
    private int fallbacksEnd;

    AutomatonVerifier(Automaton automaton, Section prints) {
        this.automaton = automaton;
        width = automaton.width;
        end = automaton.end();
        machines = new MachineVerifier(automaton, prints);
    }

    /** A wildcard automaton, and the list that begins with it if it begins in the trie. */
    private final class Wildcard {
        final int root;
        final int[] best;
        final int from;
        final int next;
        final int deciding;
        int height = 1;
        /** Maximum number of passes over a path, including the automata that it leads to. */
        long passes = 1;
        boolean isNested;
        boolean isListed;
        /**
         * The list's best ranks over all automata and over the needed ones, its greatest start depth, and its first
         * needed automaton.
         */
        final int[] listBest = NO_RANKS.clone();
        final int[] listDecidingBest = NO_RANKS.clone();
        int listFrom;
        long listPasses;

        Wildcard(int root) {
            this.root = root;
            best = new int[] {automaton.rank(root + 1), automaton.rank(root + 1 + width)};
            from = automaton.number(root + 1 + 2 * width);
            next = automaton.number(root + 1 + 3 * width);
            deciding = automaton.number(root + 1 + 4 * width);
            if (next >= root || deciding > root) {
                throw automaton.damaged(root, "preceding automata in the list", next + " and " + deciding);
            }
        }
    }

    /** Checks everything. Returns the maximum number of passes over a path for one decision. */
    int verify() {
        claim(0, 1 + 8 * width);
        verifyTexts();
        BitSet listed = (BitSet) texts.clone();
        if (automaton.otherwise() != NO_RANK) {
            checkRank(automaton.otherwise(), 0);
            checkOnce(listed, automaton.otherwise());
        }
        if (automaton.rules() > 0) {
            automaton.jointRank(2 * (automaton.rules() - 1));
        }
        int trie = automaton.trie();
        long passes = 1;
        if (trie != 0) {
            List<Integer> states = ownAll(new int[] {trie}, TRIE);
            findWildcards(states);
            verifyWildcards();
            passes = verifyTrie(trie);
        }
        if (automaton.wildcards() != wildcards.size()) {
            throw automaton.damaged(0, "a wildcard automaton count of " + wildcards.size(), automaton.wildcards());
        }
        if (automaton.fallbacks() != 0) {
            passes += verifyFallbacks(automaton.fallbacks());
        }
        verifyParts();
        if (passes > Walk.MAX_PASSES) {
            throw automaton.damaged(0, "at most " + Walk.MAX_PASSES + " passes over a path", passes);
        }
        for (int rank = inTrie.nextSetBit(0); rank >= 0; rank = inTrie.nextSetBit(rank + 1)) {
            if (!texts.get(rank)) {
                checkOnce(listed, rank);
            }
        }
        // Each rule has exactly one rank, for an allow or a disallow.
        for (int rule = 0; rule < automaton.rules(); rule++) {
            if (listed.get(2 * rule) == listed.get(2 * rule + 1)) {
                throw automaton.damaged(0, "every rule listed exactly once", "rule " + rule);
            }
        }
        return (int) passes;
    }

    /** Claims bytes for one part. No other part may have claimed them. */
    private void claim(int from, int to) {
        int other = from < 0 ? from : claimed.nextSetBit(from);
        if (from < 0 || from > to || to > end || other >= 0 && other < to) {
            throw automaton.damaged(from, "unused bytes before\u0020" + end, "parts that overlap");
        }
        claimed.set(from, to);
    }

    /** Checks that the parts follow each other without gaps, followed by zeros. */
    private void verifyParts() {
        int states = claimed.nextClearBit(0);
        if (claimed.length() != states) {
            throw automaton.damaged(states, "states and wildcard automata without gaps", "a gap");
        }
        int at = states;
        if (automaton.fallbacks() != 0) {
            at = checkPart(automaton.fallbacks(), at, fallbacksEnd);
        }
        if (automaton.texts() != 0) {
            at = checkPart(automaton.texts(), at, automaton.textsEnd());
        }
        if (automaton.jointRanks() != 0) {
            at = checkPart(automaton.jointRanks(), at, automaton.jointRanks() + 4 * automaton.rules());
        }
        for (; at < end; at++) {
            if (automaton.u8(at) != 0) {
                throw automaton.damaged(at, "zeros before " + end, automaton.u8(at));
            }
        }
        if (at != end) {
            throw automaton.damaged(at, "all parts to end at " + end, at);
        }
    }

    private int checkPart(int start, int expected, int partEnd) {
        if (start != expected || partEnd <= start) {
            throw automaton.damaged(expected, "the next part", "one at " + start);
        }
        return partEnd;
    }

    private void checkOnce(BitSet listed, int rank) {
        if (listed.get(rank)) {
            throw automaton.damaged(0, "every rule listed exactly once", "the rank " + rank + " twice");
        }
        listed.set(rank);
    }

    private void checkRank(int rank, int at) {
        if (rank >> 1 >= automaton.rules()) {
            throw automaton.damaged(at, "the rank of one of " + automaton.rules() + " rules", rank);
        }
    }

    private void verifyTexts() {
        int at = automaton.texts();
        int last = -1;
        for (int text = 0; at != 0 && text < automaton.number(at); text++) {
            int rank = automaton.textRank(at, text);
            checkRank(rank, at);
            if (rank <= last) {
                throw automaton.damaged(at, "texts in rank order", rank + " after " + last);
            }
            byte[] pattern = automaton.text(at, text);
            boolean hasSlash = false;
            for (byte letter : pattern) {
                hasSlash |= letter == '/';
            }
            if (pattern.length == 0 || automaton.opensDirectory(at, text) && ((rank & 1) != 0 || !hasSlash)) {
                throw automaton.damaged(at, "a rule's pattern", Utf8.shown(pattern));
            }
            texts.set(rank);
            last = rank;
        }
    }

    /** Assigns all states reachable from some states to an owner, and returns them. No other owner may have them. */
    private List<Integer> ownAll(int[] first, Integer owner) {
        List<Integer> all = new ArrayList<>();
        ArrayDeque<Integer> waiting = new ArrayDeque<>();
        for (int state : first) {
            waiting.add(state);
        }
        while (!waiting.isEmpty()) {
            int state = waiting.removeLast();
            Integer known = owners.putIfAbsent(state, owner);
            if (known != null && !known.equals(owner)) {
                throw automaton.damaged(state, "one automaton's state", "a state that two automata reach");
            }
            if (known == null) {
                checkState(state);
                all.add(state);
                for (int target : automaton.transitions(state + Automaton.STATE_BYTES, automaton.u8(state + 2))[1]) {
                    waiting.add(target);
                }
            }
        }
        return all;
    }

    /** Checks that a state is within bounds, and that its ranks belong to rules of the right kind. */
    private void checkState(int state) {
        for (boolean isAtEnd : new boolean[] {false, true}) {
            int[] ranks = automaton.ranks(state, isAtEnd);
            for (int kind = 0; kind < 2; kind++) {
                if (ranks[kind] != NO_RANK) {
                    checkRank(ranks[kind], state);
                    if ((ranks[kind] & 1) != kind) {
                        throw automaton.damaged(state, "the rank of " + (kind == 0 ? "an allow" : "a disallow"), ranks[kind]);
                    }
                }
            }
        }
        int before = (automaton.u8(state + 1) & Automaton.BEGINS_WILDCARDS) == 0 ? 0 : 1 + automaton.u8(state - 1) * (1 + width);
        claim(state - before, automaton.stateEnd(state));
    }

    private boolean beginsWildcards(int state) {
        return (automaton.u8(state + 1) & Automaton.BEGINS_WILDCARDS) != 0;
    }

    /** Finds all wildcard automata that trie states lead to, directly or indirectly, and assigns their states. */
    private void findWildcards(List<Integer> trie) {
        ArrayDeque<Integer> waiting = new ArrayDeque<>();
        addWildcards(trie, waiting);
        while (!waiting.isEmpty()) {
            int root = waiting.removeLast();
            if (root == 0 || wildcards.containsKey(root)) {
                continue;
            }
            Wildcard wildcard = new Wildcard(root);
            wildcards.put(root, wildcard);
            claim(root, root + 1 + 6 * width + automaton.transitionBytes(automaton.u8(root)));
            int[] children = automaton.transitions(root + 1 + 6 * width, automaton.u8(root))[1];
            if (children.length == 0) {
                throw automaton.damaged(root, "a wildcard automaton with a segment", "no segment");
            }
            waiting.add(wildcard.next);
            waiting.add(wildcard.deciding);
            addWildcards(ownAll(children, root), waiting);
        }
    }

    private void addWildcards(List<Integer> states, ArrayDeque<Integer> waiting) {
        for (int state : states) {
            if (beginsWildcards(state)) {
                for (int[] entry : automaton.wildcards(state)) {
                    waiting.add(entry[1]);
                }
            }
        }
    }

    private void verifyWildcards() {
        Map<Integer, List<Integer>> states = new HashMap<>();
        for (Map.Entry<Integer, Integer> owned : owners.entrySet()) {
            states.computeIfAbsent(owned.getValue(), owner -> new ArrayList<>()).add(owned.getKey());
        }
        for (Wildcard wildcard : wildcards.values()) {
            verifyWildcard(wildcard, states.get(wildcard.root));
            machines.verify(wildcard.root);
            verifyList(wildcard);
        }
        for (int state : states.get(TRIE)) {
            if (beginsWildcards(state)) {
                for (int[] entry : automaton.wildcards(state)) {
                    list(entry[1]);
                }
            }
        }
        for (Wildcard wildcard : wildcards.values()) {
            list(wildcard.next);
        }
        for (Wildcard wildcard : wildcards.values()) {
            boolean isPlain = wildcard.from == 0 && wildcard.next == 0 && wildcard.deciding == 0;
            if (wildcard.isListed == wildcard.isNested || !wildcard.isListed && !isPlain) {
                throw automaton.damaged(wildcard.root, "an automaton that begins in the trie or after another", "both or neither");
            }
        }
    }

    private void list(int root) {
        if (root != 0) {
            wildcards.get(root).isListed = true;
        }
    }

    /** Checks a wildcard automaton's states and best ranks. */
    private void verifyWildcard(Wildcard wildcard, List<Integer> states) {
        int[] best = NO_RANKS.clone();
        int[] numbers = new int[64];
        for (int state : states) {
            int flags = automaton.u8(state + 1);
            if ((flags & (Automaton.DISALLOWS | Automaton.DISALLOWS_AT_END | Automaton.SETTLED)) != 0) {
                throw automaton.damaged(state, "a state without trie flags", flags);
            }
            for (boolean isAtEnd : new boolean[] {false, true}) {
                int[] ranks = automaton.ranks(state, isAtEnd);
                for (int rank : ranks) {
                    if (rank != NO_RANK && !texts.get(rank)) {
                        throw automaton.damaged(state, "a rank with a text", rank);
                    }
                }
                merge(best, ranks);
            }
            for (int[] entry : beginsWildcards(state) ? automaton.wildcards(state) : new int[0][]) {
                boolean isBefore = entry[1] != 0 && entry[1] < wildcard.root;
                if (entry[0] > 63 || !isBefore || numbers[entry[0]] != 0 && numbers[entry[0]] != entry[1]) {
                    throw automaton.damaged(state, "a wildcard automaton before this one, by one number up to 63", entry[0]);
                }
                Wildcard nested = wildcards.get(entry[1]);
                if (numbers[entry[0]] == 0) {
                    wildcard.passes = Math.min(wildcard.passes + nested.passes, Walk.MAX_PASSES + 1);
                }
                numbers[entry[0]] = entry[1];
                nested.isNested = true;
                wildcard.height = Math.max(wildcard.height, nested.height + 1);
                merge(best, nested.best);
            }
        }
        if (wildcard.height > Walk.MAX_DEPTH) {
            throw automaton.damaged(wildcard.root, "wildcard automata up to " + Walk.MAX_DEPTH + " deep", "deeper ones");
        }
        if (!Arrays.equals(best, wildcard.best)) {
            throw automaton.damaged(wildcard.root, "the best ranks of the automaton's states", "other ranks");
        }
    }

    /** Checks the list that begins with an automaton, using the list that begins with the next one. */
    private void verifyList(Wildcard wildcard) {
        Wildcard next = wildcard.next == 0 ? null : wildcards.get(wildcard.next);
        int deciding = 0;
        if (next != null) {
            merge(wildcard.listBest, next.listBest);
            merge(wildcard.listDecidingBest, next.listDecidingBest);
            wildcard.listFrom = next.listFrom;
            wildcard.listPasses = next.listPasses;
            deciding = next.deciding;
        }
        merge(wildcard.listBest, wildcard.best);
        if (wildcard.deciding == wildcard.root) {
            merge(wildcard.listDecidingBest, wildcard.best);
        } else if (wildcard.deciding != deciding) {
            throw automaton.damaged(wildcard.root, "the verdict list's first automaton", wildcard.deciding);
        }
        wildcard.listFrom = Math.max(wildcard.listFrom, wildcard.from);
        wildcard.listPasses = Math.min(wildcard.listPasses + wildcard.passes, Walk.MAX_PASSES + 1);
    }

    /** A step of a walk through the trie. */
    private static final class Way {
        final int state;
        final int depth;
        final int[] ranks;
        /** The best ranks of the started wildcard automata that a verdict needs. */
        final int[] wildcards;

        Way(int state, int depth, int[] ranks, int[] wildcards) {
            this.state = state;
            this.depth = depth;
            this.ranks = ranks;
            this.wildcards = wildcards;
        }
    }

    /** Follows every path through the trie. Returns the maximum number of passes, without fallback patterns. */
    private long verifyTrie(int trie) {
        Map<Integer, int[]> seen = new HashMap<>();
        ArrayDeque<Way> waiting = new ArrayDeque<>();
        waiting.add(new Way(trie, 0, NO_RANKS, NO_RANKS));
        long most = 0;
        while (!waiting.isEmpty()) {
            Way way = waiting.removeLast();
            int state = way.state;
            int[] accepted = automaton.ranks(state, false);
            int[] ranks = Arrays.equals(accepted, NO_RANKS) ? way.ranks : accepted;
            checkNotWorse(ranks, way.ranks, state);
            int[] before = seen.putIfAbsent(state, ranks);
            if (before != null) {
                if (!Arrays.equals(before, ranks) || !wildcards.isEmpty()) {
                    throw automaton.damaged(state, "a trie state that is reached one way", "two ways");
                }
                continue;
            }
            int[] acceptedAtEnd = automaton.ranks(state, true);
            int[] atEnd = Arrays.equals(acceptedAtEnd, NO_RANKS) ? ranks : acceptedAtEnd;
            checkNotWorse(atEnd, ranks, state);
            note(ranks, way.ranks, state);
            note(atEnd, ranks, state);
            int depth = way.depth + automaton.u8(state);
            int[] best = way.wildcards;
            if (beginsWildcards(state)) {
                Wildcard list = verifyLists(state, depth, ranks);
                most = Math.max(most, list.listPasses);
                best = automaton.wildcards(state)[0][0] == 1 ? list.listBest : list.listDecidingBest;
            }
            int flags = automaton.u8(state + 1) & (Automaton.SETTLED | Automaton.DISALLOWS | Automaton.DISALLOWS_AT_END);
            int expected = (settles(ranks, best) && settles(atEnd, best) ? Automaton.SETTLED : 0)
                    | (ranks[1] < ranks[0] ? Automaton.DISALLOWS : 0)
                    | (atEnd[1] < atEnd[0] ? Automaton.DISALLOWS_AT_END : 0);
            if (flags != expected) {
                throw automaton.damaged(state + 1, "the flags that follow from the ranks, " + expected, flags);
            }
            for (int target : automaton.transitions(state + Automaton.STATE_BYTES, automaton.u8(state + 2))[1]) {
                waiting.add(new Way(target, depth + 1, ranks, best));
            }
        }
        return 1 + most;
    }

    /** Returns whether finding {@code others}, or worse ranks, would leave the verdict of {@code ranks} unchanged. */
    private static boolean settles(int[] ranks, int[] others) {
        return ranks[1] < ranks[0] ? others[0] > ranks[1] : others[1] >= ranks[0];
    }

    private void checkNotWorse(int[] ranks, int[] than, int state) {
        if (ranks[0] > than[0] || ranks[1] > than[1]) {
            throw automaton.damaged(state, "ranks at least as good as those accepted before", "worse ranks");
        }
    }

    /** Records the ranks that a walk accepts for the first time. Each rank has only one such state. */
    private void note(int[] ranks, int[] before, int state) {
        for (int kind = 0; kind < 2; kind++) {
            if (ranks[kind] != before[kind] && ranks[kind] != NO_RANK) {
                checkOnce(inTrie, ranks[kind]);
            }
        }
    }

    /** Checks the two lists of a trie state. Returns the first automaton in the list of all. */
    private Wildcard verifyLists(int state, int depth, int[] ranks) {
        int[][] entries = automaton.wildcards(state);
        if (entries.length != 2 || entries[0][0] > 1 || entries[1][0] != 0 || entries[1][1] == 0) {
            throw automaton.damaged(state, "two lists of wildcard automata", entries.length);
        }
        boolean needsAll = entries[0][0] == 1;
        Wildcard list = wildcards.get(entries[1][1]);
        if (entries[0][1] != (needsAll ? list.root : list.deciding) || list.listFrom > depth) {
            throw automaton.damaged(state, "the verdict list, starting within " + depth + " bytes", entries[0][1]);
        }
        int[] best = needsAll ? list.listBest : list.listDecidingBest;
        for (int kind = 0; kind < 2; kind++) {
            if (Math.min(best[kind], ranks[kind]) == NO_RANK && list.listBest[kind] != NO_RANK) {
                throw automaton.damaged(state, "a verdict list with both kinds of rule", "a missing kind");
            }
        }
        return list;
    }

    /** Checks the fallback patterns. Returns the maximum number that must be searched for one path. */
    private long verifyFallbacks(int start) {
        long at = start;
        int last = -1;
        List<byte[]> firsts = new ArrayList<>();
        while (!automaton.isNone((int) at)) {
            int rank = automaton.u31((int) at);
            checkRank(rank, (int) at);
            if (!texts.get(rank) || rank <= last) {
                throw automaton.damaged((int) at, "ranks with texts, in order", rank);
            }
            last = rank;
            if (automaton.u31((int) at + 4) > 1) {
                throw automaton.damaged((int) at + 4, "0 or 1", automaton.u31((int) at + 4));
            }
            int segments = automaton.u31((int) at + 8);
            if (segments == 0) {
                throw automaton.damaged((int) at + 8, "a segment", segments);
            }
            int bytes = automaton.u31((int) at + 12);
            at += 16;
            long after = at + bytes;
            for (int segment = 0; segment < segments; segment++) {
                int length = automaton.u31((int) at);
                automaton.check((int) at + 4, length);
                if (segment == 0) {
                    firsts.add(automaton.copy((int) at + 4, length));
                }
                at += 4 + length;
            }
            if (at != after) {
                throw automaton.damaged(start, "segments of " + bytes + " bytes", at - after + " more");
            }
            if (at - start > Walk.MAX_FALLBACK_BYTES) {
                throw automaton.damaged(start, "at most " + Walk.MAX_FALLBACK_BYTES + " bytes of fallback patterns", "more");
            }
        }
        fallbacksEnd = (int) at + 4;
        return mostPrefixes(firsts);
    }

    /** Returns the maximum number of texts that one path may begin with. */
    private static long mostPrefixes(List<byte[]> texts) {
        texts.sort(Arrays::compareUnsigned);
        ArrayDeque<byte[]> prefixes = new ArrayDeque<>();
        long most = 0;
        for (byte[] text : texts) {
            while (!prefixes.isEmpty() && !startsWith(text, prefixes.getLast())) {
                prefixes.removeLast();
            }
            prefixes.add(text);
            most = Math.max(most, prefixes.size());
        }
        return most;
    }

    private static boolean startsWith(byte[] text, byte[] start) {
        return text.length >= start.length && Arrays.equals(text, 0, start.length, start, 0, start.length);
    }

    private static void merge(int[] into, int[] from) {
        into[0] = Math.min(into[0], from[0]);
        into[1] = Math.min(into[1], from[1]);
    }
}
