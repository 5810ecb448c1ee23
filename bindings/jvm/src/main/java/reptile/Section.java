package reptile;

import java.nio.ByteBuffer;

/**
 * The bytes of one section. Every access is bounds-checked and throws {@link DamagedSetException} if it is out of
 * range.
 */
final class Section {
    /** A four-byte number with all bits set. */
    static final long NONE = 0xFFFF_FFFFL;

    /**
     * Maximum size in bytes of a text that is copied. No robots.txt of 16 MB contains a longer one, even when escaped.
     */
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

    /** Checks that the section contains {@code count} bytes at an offset, and that they are contiguous. */
    void check(long at, long count, String what) {
        if (at < 0 || count < 0 || at > length || count > length - at) {
            throw damaged(at, what + " of " + count + " bytes", "a section of " + length + " bytes");
        }
        if (count > bytes.stride()) {
            throw damaged(at, what + " of at most " + bytes.stride() + " bytes, this reader's limit", count);
        }
    }

    /** Returns the buffer that contains an offset, at {@link #index}. */
    ByteBuffer buffer(long at) {
        return bytes.part(start + at);
    }

    /** Returns the index of an offset in {@link #buffer}. */
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

    /** Reads eight bytes as a signed number. */
    long i64(long at) {
        check(at, 8, "a number");
        return buffer(at).getLong(index(at));
    }

    /** Reads an eight-byte count or offset, which must not be negative. */
    long u63(long at, String what) {
        long number = i64(at);
        if (number < 0) {
            throw damaged(at, what, Long.toUnsignedString(number));
        }
        return number;
    }

    /** Copies a range of bytes. */
    byte[] copy(long at, int count) {
        check(at, count, "a text");
        if (count > MAX_TEXT_BYTES) {
            throw damaged(at, "a text of at most " + MAX_TEXT_BYTES + " bytes, this reader's limit", count);
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

    /** Returns the hash of the whole section. */
    long hash() {
        return XxHash3.hash(bytes, start, length);
    }
}
