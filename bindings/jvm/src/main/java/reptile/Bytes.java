package reptile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * The bytes of a set, which may be more than a {@link ByteBuffer} can hold.
 *
 * <p>A buffer has at most 2^31 - 1 bytes. So there is a part for each {@code stride} of the file, and each part reaches over the
 * next one too: whatever begins in the first stride of a part and is no longer than a stride lies in that part as a whole. No record is
 * put together from two parts. The parts of a mapped file overlap in addresses and not in memory.
 */
final class Bytes {
    /** The stride of a part is 2^30 bytes; a test takes less. */
    static final int STRIDE_BITS = 30;

    private final ByteBuffer[] parts;
    private final int strideBits;
    private final long length;

    private Bytes(ByteBuffer[] parts, int strideBits, long length) {
        this.parts = parts;
        this.strideBits = strideBits;
        this.length = length;
    }

    /** Maps a file that is open. The mapping stays when the channel is closed, until the garbage collector drops it. */
    static Bytes map(FileChannel channel, int strideBits) throws IOException {
        long length = channel.size();
        ByteBuffer[] parts = new ByteBuffer[partCount(length, strideBits)];
        for (int part = 0; part < parts.length; part++) {
            long start = (long) part << strideBits;
            parts[part] = order(channel.map(FileChannel.MapMode.READ_ONLY, start, partLength(length, start, strideBits)));
        }
        return new Bytes(parts, strideBits, length);
    }

    /** Wraps bytes in memory, in parts of this stride. */
    static Bytes of(byte[] bytes, int strideBits) {
        ByteBuffer[] parts = new ByteBuffer[partCount(bytes.length, strideBits)];
        for (int part = 0; part < parts.length; part++) {
            int start = part << strideBits;
            int size = (int) partLength(bytes.length, start, strideBits);
            parts[part] = order(ByteBuffer.wrap(bytes, start, size).slice());
        }
        return new Bytes(parts, strideBits, bytes.length);
    }

    private static int partCount(long length, int strideBits) {
        return (int) ((length + (1L << strideBits) - 1) >>> strideBits);
    }

    private static long partLength(long length, long start, int strideBits) {
        return Math.min((2L << strideBits) - 1, length - start);
    }

    private static ByteBuffer order(ByteBuffer buffer) {
        return buffer.order(ByteOrder.LITTLE_ENDIAN);
    }

    long length() {
        return length;
    }

    /** The most bytes that surely lie in one part, wherever they begin. */
    int stride() {
        return 1 << strideBits;
    }

    /** The part in which what begins at an offset lies. The offset must be less than the length. */
    ByteBuffer part(long at) {
        return parts[(int) (at >>> strideBits)];
    }

    /** The index in {@link #part} of an offset. */
    int index(long at) {
        return (int) (at & ((1L << strideBits) - 1));
    }
}
