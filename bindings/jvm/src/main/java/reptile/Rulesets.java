package reptile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** The set's automata by number: the sections {@code index} and {@code rulesets}. */
final class Rulesets {
    /** Maximum size in bytes of a patched ruleset, and of its patches. */
    static final int MAX_PATCHED_BYTES = 2048;

    private static final int WHOLE = 0;
    private static final int PATCHES = 1;

    private final Section index;
    private final Section bytes;
    private final long count;

    Rulesets(Section index, Section bytes) {
        this.index = index;
        this.bytes = bytes;
        count = index.length / 8;
    }

    long count() {
        return count;
    }

    private long entry(long number) {
        if (number >= count) {
            throw index.damaged(8 * number, "one of " + count + " rulesets", number);
        }
        return index.i64(8 * number);
    }

    private static long end(long entry) {
        return entry & 0xFFFF_FFFF_FFFFL;
    }

    /** Checks a ruleset's bounds and returns its start. */
    private long start(long number) {
        long start = number == 0 ? 0 : end(entry(number - 1));
        long end = end(entry(number));
        if (start >= end || end > bytes.length) {
            throw index.damaged(8 * number, "an end after " + start + " and up to " + bytes.length, end);
        }
        bytes.check(start, end - start, "a ruleset");
        return start;
    }

    /** Returns the automaton with a number. If it is stored as patches, a copy is made. */
    Automaton get(long number) {
        long entry = entry(number);
        long start = start(number);
        int length = (int) (end(entry) - start);
        switch ((int) (entry >>> 48)) {
            case WHOLE:
                return new Automaton(bytes.buffer(start), bytes.index(start), length, number);
            case PATCHES:
                return new Automaton(patched(number, start, length), 0, number);
            default:
                throw index.damaged(8 * number, "a known payload, 0 or 1", entry >>> 48);
        }
    }

    private ByteBuffer patched(long number, long start, int length) {
        long base = length < 4 ? number : bytes.u32(start);
        if (base >= number || entry(base) >>> 48 != WHOLE) {
            throw bytes.damaged(start, "a complete ruleset before " + number, base);
        }
        long from = start(base);
        long size = end(entry(base)) - from;
        if (size > MAX_PATCHED_BYTES) {
            throw bytes.damaged(start, "a patched ruleset of at most " + MAX_PATCHED_BYTES + " bytes", size);
        }
        if (length > MAX_PATCHED_BYTES) {
            throw bytes.damaged(start, "patches of at most " + MAX_PATCHED_BYTES + " bytes", length);
        }
        byte[] copy = bytes.copy(from, (int) size);
        byte[] patches = bytes.copy(start, length);
        int at = 4;
        while (at < length) {
            int offset = at + 3 > length ? copy.length : patches[at] & 0xFF | (patches[at + 1] & 0xFF) << 8;
            int count = at + 3 > length ? 1 : patches[at + 2] & 0xFF;
            if (count == 0 || offset + count > copy.length || at + 3 + count > length) {
                throw bytes.damaged(start + at, "a patch within " + copy.length + " bytes", Arrays.toString(
                        Arrays.copyOfRange(patches, at, Math.min(at + 3, length))));
            }
            System.arraycopy(patches, at + 3, copy, offset, count);
            at += 3 + count;
        }
        return ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
    }
}
