package reptile;

import java.nio.ByteBuffer;

/** The bytes of one section. Every access is checked; one beyond the section's end is a {@link DamagedSetException}. */
final class Section {
    /** A number of four bytes of which all bits are 1. */
    static final long NONE = 0xFFFF_FFFFL;

    /** The most bytes of a text that is copied: more than any robots.txt of 16 MB can have in one, escaped. */
    static final int MAX_TEXT_BYTES = 64 << 20;

    final String name;
    final long length;
    private final Bytes bytes;
    private final long start;

    Section(String name, Bytes bytes, long start, long length) {
        this.name = name;
        this.bytes = bytes;
        this.start = start;
        this.length = length;
    }

    DamagedSetException damaged(long at, String expected, Object found) {
        return new DamagedSetException(name, at, expected, String.valueOf(found));
    }

    /** Checks that so many bytes at an offset lie in the section, and in one part. */
    void check(long at, long count, String what) {
        if (at < 0 || count < 0 || at > length || count > length - at) {
            throw damaged(at, what + " of " + count + " bytes", "a section of " + length + " bytes");
        }
        if (count > bytes.stride()) {
            throw damaged(at, what + " of at most " + bytes.stride() + " bytes, the most that this reader takes", count);
        }
    }

    /** The buffer in which what begins at an offset lies; {@link #index} says where. */
    ByteBuffer buffer(long at) {
        return bytes.part(start + at);
    }

    /** The index in {@link #buffer} of an offset. */
    int index(long at) {
        return bytes.index(start + at);
    }

    int u8(long at) {
        check(at, 1, "a number");
        return buffer(at).get(index(at)) & 0xFF;
    }

    int u16(long at) {
        check(at, 2, "a number");
        return buffer(at).getShort(index(at)) & 0xFFFF;
    }

    long u32(long at) {
        check(at, 4, "a number");
        return buffer(at).getInt(index(at)) & 0xFFFF_FFFFL;
    }

    /** Eight bytes, as a signed number. */
    long i64(long at) {
        check(at, 8, "a number");
        return buffer(at).getLong(index(at));
    }

    /** Eight bytes that count or point, which cannot be more than a file has. */
    long u63(long at, String what) {
        long number = i64(at);
        if (number < 0) {
            throw damaged(at, what, Long.toUnsignedString(number));
        }
        return number;
    }

    /** A copy of some bytes. */
    byte[] copy(long at, int count) {
        check(at, count, "a text");
        if (count > MAX_TEXT_BYTES) {
            throw damaged(at, "a text of at most " + MAX_TEXT_BYTES + " bytes, the most that this reader takes", count);
        }
        byte[] copy = new byte[count];
        if (count == 0) {
            return copy;
        }
        ByteBuffer from = buffer(at).duplicate();
        from.position(index(at));
        from.get(copy);
        return copy;
    }

    /** The hash of all bytes of the section. */
    long hash() {
        return XxHash3.hash(bytes, start, length);
    }
}
