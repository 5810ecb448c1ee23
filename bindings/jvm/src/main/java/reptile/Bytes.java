package reptile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * The bytes of a set, which may be more than a {@link ByteBuffer} can hold.
 *
 * <p>A buffer has at most 2^31 - 1 bytes, so the file is divided into overlapping parts. Each part begins at a multiple
 * of {@code stride} and covers two strides. Data of up to one stride is therefore contiguous in the part in which it
 * begins. The parts of a mapped file overlap in address space, not in memory.
 */
final class Bytes {
    /** The stride is 2^30 bytes; a test uses a smaller one. */
    static final int STRIDE_BITS = 30;

    private final ByteBuffer[] parts;
    private final int strideBits;
    private final long length;

    private Bytes(ByteBuffer[] parts, int strideBits, long length) {
        this.parts = parts;
        this.strideBits = strideBits;
        this.length = length;
    }

    /** Maps an open file. The mapping outlives the channel, until the garbage collector drops it. */
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

    /** Returns the maximum number of bytes that are contiguous from any offset. */
    int stride() {
        return 1 << strideBits;
    }

    /** Returns the part that contains the data at an offset, which must be less than the length. */
    ByteBuffer part(long at) {
        return parts[(int) (at >>> strideBits)];
    }

    /** Returns the index of an offset in {@link #part}. */
    int index(long at) {
        return (int) (at & ((1L << strideBits) - 1));
    }
}
