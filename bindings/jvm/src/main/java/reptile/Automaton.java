package reptile;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** The bytes of one ruleset, in the format that FORMAT.md describes. {@link Walk} matches paths with it. */
final class Automaton {
    /** The absence of a rule; greater than any rank. */
    static final int NO_RANK = Integer.MAX_VALUE;

    /** State flags. */
    static final int ALLOW = 1;
    static final int DISALLOW = 2;
    static final int ALLOW_AT_END = 4;
    static final int DISALLOW_AT_END = 8;
    static final int DISALLOWS = 16;
    static final int DISALLOWS_AT_END = 32;
    static final int BEGINS_WILDCARDS = 64;
    static final int SETTLED = 128;

    /** Maximum number of transitions stored as a list; larger numbers are stored as a table. */
    static final int MAX_LISTED = 7;

    /** Bytes of a state before its transitions. */
    static final int STATE_BYTES = 3;

    /** Indexes of the header's fields. */
    private static final int RULES = 0;
    private static final int TRIE = 1;
    private static final int FALLBACKS = 2;
    private static final int TEXTS = 3;
    private static final int JOINT_RANKS = 4;
    private static final int FINGERPRINTS = 5;
    private static final int OTHERWISE = 6;
    private static final int WILDCARDS = 7;

    private final ByteBuffer buffer;
    private final int base;
    private final int length;
    private final long number;
    /** The width of ranks, offsets and counts in bytes: 2 or 4. */
    final int width;

    /** Creates an automaton from a whole buffer. */
    Automaton(ByteBuffer buffer, int base, long number) {
        this(buffer, base, buffer.limit() - base, number);
    }

    /** Creates an automaton from a part of a buffer. The ruleset's number is for messages. */
    Automaton(ByteBuffer buffer, int base, int length, long number) {
        this.buffer = buffer;
        this.base = base;
        this.length = length;
        this.number = number;
        width = u8(0);
        if (width != 2 && width != 4) {
            throw damaged(0, "numbers of 2 or 4 bytes", width);
        }
    }

    DamagedSetException damaged(int at, String expected, Object found) {
        return new DamagedSetException("rulesets", at, expected + " (the offset is in ruleset " + number + ")", String.valueOf(found));
    }

    private DamagedSetException beyond(int at, int count) {
        return damaged(at, count + " bytes", "a ruleset of " + length + " bytes");
    }

    /** Checks that the ruleset contains {@code count} bytes at an offset. */
    void check(int at, int count) {
        if (at < 0 || count < 0 || at > length - count) {
            throw beyond(at, count);
        }
    }

    int u8(int at) {
        if (at < 0 || at >= length) {
            throw beyond(at, 1);
        }
        return buffer.get(base + at) & 0xFF;
    }

    /** Returns the byte at an offset that {@link #check} has checked. */
    byte checkedByte(int at) {
        return buffer.get(base + at);
    }

    /** Reads a count or an offset. */
    int number(int at) {
        check(at, width);
        if (width == 2) {
            return buffer.getShort(base + at) & 0xFFFF;
        }
        int number = buffer.getInt(base + at);
        if (number < 0) {
            throw damaged(at, "a number below 2^31", Integer.toUnsignedString(number));
        }
        return number;
    }

    /** Reads a rank, or {@link #NO_RANK} if there is none. */
    int rank(int at) {
        check(at, width);
        if (width == 2) {
            int rank = buffer.getShort(base + at) & 0xFFFF;
            return rank == 0xFFFF ? NO_RANK : rank;
        }
        int rank = buffer.getInt(base + at);
        if (rank < -1) {
            throw damaged(at, "a rank below 2^31", Integer.toUnsignedString(rank));
        }
        return rank == -1 ? NO_RANK : rank;
    }

    /** Reads a number of four bytes, regardless of the width. */
    int u31(int at) {
        check(at, 4);
        int number = buffer.getInt(base + at);
        if (number < 0) {
            throw damaged(at, "a number below 2^31", Integer.toUnsignedString(number));
        }
        return number;
    }

    /** Reads an unrestricted number of four bytes. */
    long u32(long at) {
        if (at > length) {
            throw beyond(length, 4);
        }
        check((int) at, 4);
        return buffer.getInt(base + (int) at) & 0xFFFF_FFFFL;
    }

    private int field(int place) {
        return number(1 + place * width);
    }

    int rules() {
        return field(RULES);
    }

    /** Returns the offset of the trie's root, or 0 if there is no trie. */
    int trie() {
        return field(TRIE);
    }

    int fallbacks() {
        return field(FALLBACKS);
    }

    /** Returns the rank of a rule with an empty pattern. */
    int otherwise() {
        return rank(1 + OTHERWISE * width);
    }

    int wildcards() {
        return field(WILDCARDS);
    }

    /** Returns the offset at which all data except the fingerprints ends. */
    int end() {
        int end = field(FINGERPRINTS);
        if (end > length) {
            throw damaged(1 + FINGERPRINTS * width, "an end up to " + length, end);
        }
        return end;
    }

    /** Returns the size of a state's transitions in bytes. */
    int transitionBytes(int children) {
        return children <= MAX_LISTED ? children * (width + 1) : 1 + (children + 1) * width;
    }

    /** Returns the offset of the state that a byte leads to, or 0 if there is none. */
    int transition(int at, int children, int letter) {
        if (children > MAX_LISTED) {
            int place = letter - u8(at);
            return place < 0 || place > children ? 0 : number(at + 1 + place * width);
        }
        int letters = at + children * width;
        check(letters, children);
        for (int child = 0; child < children; child++) {
            if ((buffer.get(base + letters + child) & 0xFF) == letter) {
                return number(at + child * width);
            }
        }
        return 0;
    }

    /** Returns all transitions: the bytes in order, and their target states. */
    int[][] transitions(int at, int children) {
        boolean isTable = children > MAX_LISTED;
        int count = isTable ? children + 1 : children;
        int first = isTable ? at + 1 : at;
        int[] letters = new int[count];
        int[] targets = new int[count];
        int len = 0;
        int end = end();
        for (int child = 0; child < count; child++) {
            int target = number(first + child * width);
            letters[len] = isTable ? u8(at) + child : u8(at + children * width + child);
            targets[len] = target;
            boolean isOrdered = len == 0 || letters[len - 1] < letters[len];
            // A table may extend past the byte FF, if those entries are empty.
            if (target >= end || target == 0 && !isTable || target != 0 && (!isOrdered || letters[len] > 0xFF)) {
                throw damaged(first + child * width, "the offset of a state before " + end + ", by bytes in order", target);
            }
            len += target != 0 ? 1 : 0;
        }
        return new int[][] {Arrays.copyOf(letters, len), Arrays.copyOf(targets, len)};
    }

    /** Returns the offset of a state's label. */
    int labelAt(int state) {
        return state + STATE_BYTES + transitionBytes(u8(state + 2));
    }

    /** Returns a state's end, where its ranks end. */
    int stateEnd(int state) {
        return labelAt(state) + u8(state) + width * Integer.bitCount(u8(state + 1) & 15);
    }

    /** Returns a state's ranks for an allow and a disallow, either only at the end of the path or anywhere. */
    int[] ranks(int state, boolean isAtEnd) {
        int flags = u8(state + 1);
        int at = labelAt(state) + u8(state) + (isAtEnd ? width * Integer.bitCount(flags & (ALLOW | DISALLOW)) : 0);
        flags = isAtEnd ? flags >> 2 : flags;
        int[] ranks = {NO_RANK, NO_RANK};
        for (int kind = 0; kind < 2; kind++) {
            if ((flags >> kind & 1) != 0) {
                ranks[kind] = rank(at);
                at += width;
            }
        }
        return ranks;
    }

    /** Returns the wildcard automata that begin in a state, each as its number and its root. */
    int[][] wildcards(int state) {
        int[][] entries = new int[(u8(state + 1) & BEGINS_WILDCARDS) == 0 ? 0 : u8(state - 1)][];
        for (int place = 0; place < entries.length; place++) {
            int entry = state - 1 - (entries.length - place) * (1 + width);
            entries[place] = new int[] {u8(entry), number(entry + 1)};
        }
        return entries;
    }

    /** Returns a rank's joint rank among the rulesets that decide together, or -1 if the ruleset decides alone. */
    long jointRank(int rank) {
        int at = jointRanks();
        if (at == 0) {
            return -1;
        }
        long place = at + 4L * (rank >> 1);
        if (place > length) {
            throw beyond(at, 4);
        }
        check((int) place, 4);
        return buffer.getInt(base + (int) place) & 0xFFFF_FFFFL;
    }

    /** Returns the offset of the texts, or 0 if there are none. */
    int texts() {
        return field(TEXTS);
    }

    /** Returns the end of the texts. */
    int textsEnd() {
        int at = texts();
        checkTexts(at);
        int count = number(at);
        int texts = at + width + 2 * count * width;
        return count == 0 ? texts : texts + number(texts - width);
    }

    /** Returns the offset of the joint ranks, or 0 if the ruleset decides alone. */
    int jointRanks() {
        return field(JOINT_RANKS);
    }

    /**
     * Returns the pattern of a rank, or null if it must be read off the trie. Time: logarithmic in the number of texts.
     */
    byte[] text(int rank) {
        int at = texts();
        int low = 0;
        int high = at == 0 ? 0 : number(at);
        while (low < high) {
            int middle = low + high >>> 1;
            int found = textRank(at, middle);
            if (found == rank) {
                return text(at, middle);
            }
            if (found < rank) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return null;
    }

    /** Returns the rank of a text, without the two highest bits, which describe the pattern. */
    int textRank(int at, int text) {
        checkTexts(at);
        int place = base + at + width + text * width;
        return width == 2 ? buffer.getShort(place) & 0x3FFF : buffer.getInt(place) & 0x3FFF_FFFF;
    }

    /** Returns whether a text's rule opens the directory of the index page in it. */
    boolean opensDirectory(int at, int text) {
        checkTexts(at);
        int place = base + at + width + text * width;
        return (width == 2 ? buffer.getShort(place) & 0x8000 : buffer.getInt(place) & 0x8000_0000) != 0;
    }

    private void checkTexts(int at) {
        int count = number(at);
        if (at + width + 2L * count * width > length) {
            throw damaged(at, "a number of texts that fits", count);
        }
    }

    /** Returns a text by its index. */
    byte[] text(int at, int text) {
        checkTexts(at);
        int count = number(at);
        int ends = at + width + count * width;
        int texts = ends + count * width;
        int start = text == 0 ? 0 : number(ends + (text - 1) * width);
        int end = number(ends + text * width);
        if (start > end || end > length - texts) {
            throw damaged(ends + text * width, "an end from " + start + " to " + (length - texts), end);
        }
        return copy(texts + start, end - start);
    }

    /** Returns whether four bytes are all ones, which ends the list of fallback patterns. */
    boolean isNone(int at) {
        check(at, 4);
        return buffer.getInt(base + at) == -1;
    }

    byte[] copy(int at, int count) {
        check(at, count);
        if (count > Section.MAX_TEXT_BYTES) {
            throw damaged(at, "a text of at most " + Section.MAX_TEXT_BYTES + " bytes", count);
        }
        byte[] copy = new byte[count];
        for (int place = 0; place < count; place++) {
            copy[place] = buffer.get(base + at + place);
        }
        return copy;
    }

    /** Returns whether a part of a path begins with the bytes at an offset. */
    boolean matches(int at, int count, byte[] path, int from, int to) {
        if (count > to - from) {
            return false;
        }
        check(at, count);
        for (int place = 0; place < count; place++) {
            if (buffer.get(base + at + place) != path[from + place]) {
                return false;
            }
        }
        return true;
    }
}
