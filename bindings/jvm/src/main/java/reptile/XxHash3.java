package reptile;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The 64-bit variant of XXH3, as specified for xxHash 0.8. */
final class XxHash3 {
    private static final long P32_1 = 0x9E3779B1L;
    private static final long P32_2 = 0x85EBCA77L;
    private static final long P32_3 = 0xC2B2AE3DL;
    private static final long P64_1 = 0x9E3779B185EBCA87L;
    private static final long P64_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long P64_3 = 0x165667B19E3779F9L;
    private static final long P64_4 = 0x85EBCA77C2B2AE63L;
    private static final long P64_5 = 0x27D4EB2F165667C5L;
    private static final long MIX_1 = 0x165667919E3779F9L;
    private static final long MIX_2 = 0x9FB21C651E98DF25L;

    private static final int STRIPE = 64;
    private static final int STRIPES_PER_BLOCK = 16;
    private static final int BLOCK = STRIPE * STRIPES_PER_BLOCK;
    /** Inputs up to this length are hashed without blocks. */
    private static final int MAX_SHORT = 240;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** The specification's default secret. */
    private static final byte[] SECRET = hex(
            "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
                    + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
                    + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
                    + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
                    + "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
                    + "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

    private XxHash3() {}

    private static byte[] hex(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) Integer.parseInt(digits.substring(2 * at, 2 * at + 2), 16);
        }
        return bytes;
    }

    /** Hashes a part of an array with a seed. */
    static long hash(byte[] in, int from, int len, long seed) {
        if (len <= 16) {
            return short16(in, from, len, seed);
        }
        if (len <= 128) {
            return short128(in, from, len, seed);
        }
        if (len <= MAX_SHORT) {
            return short240(in, from, len, seed);
        }
        ByteBuffer buffer = ByteBuffer.wrap(in, from, len).slice().order(ByteOrder.LITTLE_ENDIAN);
        byte[] secret = secretOf(seed);
        Long64 state = new Long64(secret);
        state.consume(buffer, 0, len - 1);
        return state.finish(buffer, len - STRIPE, len);
    }

    /** Hashes a part of a set with the seed 0. Linear, at several bytes per cycle. */
    static long hash(Bytes bytes, long start, long length) {
        if (length <= MAX_SHORT) {
            byte[] small = new byte[(int) length];
            for (int at = 0; at < small.length; at++) {
                small[at] = bytes.part(start + at).get(bytes.index(start + at));
            }
            return hash(small, 0, small.length, 0);
        }
        Long64 state = new Long64(SECRET);
        // Consume all but the last byte in blocks. A block of 1,024 bytes lies in one part.
        long blocks = (length - 1) / BLOCK;
        for (long block = 0; block < blocks; block++) {
            long at = start + block * BLOCK;
            state.consume(bytes.part(at), bytes.index(at), BLOCK);
        }
        long at = start + blocks * BLOCK;
        state.consume(bytes.part(at), bytes.index(at), (int) (length - 1 - blocks * BLOCK));
        long last = start + length - STRIPE;
        return state.finish(bytes.part(last), bytes.index(last), length);
    }

    private static byte[] secretOf(long seed) {
        if (seed == 0) {
            return SECRET;
        }
        byte[] secret = new byte[SECRET.length];
        for (int at = 0; at < secret.length; at += 16) {
            LONG.set(secret, at, key(at) + seed);
            LONG.set(secret, at + 8, key(at + 8) - seed);
        }
        return secret;
    }

    private static long key(int at) {
        return (long) LONG.get(SECRET, at);
    }

    private static long short16(byte[] in, int from, int len, long seed) {
        if (len > 8) {
            long low = (long) LONG.get(in, from) ^ ((key(24) ^ key(32)) + seed);
            long high = (long) LONG.get(in, from + len - 8) ^ ((key(40) ^ key(48)) - seed);
            return avalanche(len + Long.reverseBytes(low) + high + fold(low, high));
        }
        if (len >= 4) {
            long seeded = seed ^ (Integer.reverseBytes((int) seed) & 0xFFFF_FFFFL) << 32;
            long first = (int) INT.get(in, from);
            long last = (int) INT.get(in, from + len - 4) & 0xFFFF_FFFFL;
            long hash = (last + (first << 32)) ^ ((key(8) ^ key(16)) - seeded);
            hash ^= Long.rotateLeft(hash, 49) ^ Long.rotateLeft(hash, 24);
            hash *= MIX_2;
            hash ^= (hash >>> 35) + len;
            hash *= MIX_2;
            return hash ^ hash >>> 28;
        }
        if (len > 0) {
            int first = in[from] & 0xFF;
            int middle = in[from + (len >> 1)] & 0xFF;
            int last = in[from + len - 1] & 0xFF;
            long all = (long) first << 16 | (long) middle << 24 | last | (long) len << 8;
            long flip = ((key(0) ^ key(0) >>> 32) & 0xFFFF_FFFFL) + seed;
            return avalanche64(all ^ flip);
        }
        return avalanche64(seed ^ key(56) ^ key(64));
    }

    private static long short128(byte[] in, int from, int len, long seed) {
        long sum = len * P64_1;
        int end = from + len;
        for (int pair = (len - 1) / 32; pair >= 0; pair--) {
            sum += mix(in, from + 16 * pair, 32 * pair, seed);
            sum += mix(in, end - 16 * (pair + 1), 32 * pair + 16, seed);
        }
        return avalanche(sum);
    }

    private static long short240(byte[] in, int from, int len, long seed) {
        long sum = len * P64_1;
        for (int round = 0; round < 8; round++) {
            sum += mix(in, from + 16 * round, 16 * round, seed);
        }
        sum = avalanche(sum);
        for (int round = 8; round < len / 16; round++) {
            sum += mix(in, from + 16 * round, 16 * (round - 8) + 3, seed);
        }
        return avalanche(sum + mix(in, from + len - 16, 136 - 17, seed));
    }

    private static long mix(byte[] in, int at, int secret, long seed) {
        long low = (long) LONG.get(in, at) ^ (key(secret) + seed);
        long high = (long) LONG.get(in, at + 8) ^ (key(secret + 8) - seed);
        return fold(low, high);
    }

    /** Returns the exclusive or of the two halves of a 128-bit product. */
    private static long fold(long a, long b) {
        return a * b ^ unsignedHigh(a, b);
    }

    /** Returns the upper half of the product of two unsigned numbers. */
    static long unsignedHigh(long a, long b) {
        return Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
    }

    private static long avalanche(long hash) {
        hash = (hash ^ hash >>> 37) * MIX_1;
        return hash ^ hash >>> 32;
    }

    private static long avalanche64(long hash) {
        hash = (hash ^ hash >>> 33) * P64_2;
        hash = (hash ^ hash >>> 29) * P64_3;
        return hash ^ hash >>> 32;
    }

    /** The eight accumulators for a long input. */
    private static final class Long64 {
        private final byte[] secret;
        private final long[] sums = {P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1};

        Long64(byte[] secret) {
            this.secret = secret;
        }

        /** Adds the whole stripes of {@code count} bytes, and scrambles after each whole block. */
        void consume(ByteBuffer buffer, int at, int count) {
            int stripes = count / STRIPE;
            for (int stripe = 0; stripe < stripes; stripe++) {
                add(buffer, at + stripe * STRIPE, stripe % STRIPES_PER_BLOCK * 8);
                if (stripe % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1) {
                    scramble();
                }
            }
        }

        private void add(ByteBuffer buffer, int at, int key) {
            for (int lane = 0; lane < 8; lane++) {
                long data = buffer.getLong(at + 8 * lane);
                long keyed = data ^ (long) LONG.get(secret, key + 8 * lane);
                sums[lane ^ 1] += data;
                sums[lane] += (keyed & 0xFFFF_FFFFL) * (keyed >>> 32);
            }
        }

        private void scramble() {
            for (int lane = 0; lane < 8; lane++) {
                long sum = sums[lane];
                sums[lane] = (sum ^ sum >>> 47 ^ (long) LONG.get(secret, 128 + 8 * lane)) * P32_1;
            }
        }

        /** Adds the last stripe, and merges the accumulators. */
        long finish(ByteBuffer buffer, int lastStripe, long length) {
            add(buffer, lastStripe, secret.length - STRIPE - 7);
            long sum = length * P64_1;
            for (int pair = 0; pair < 4; pair++) {
                long low = sums[2 * pair] ^ (long) LONG.get(secret, 11 + 16 * pair);
                long high = sums[2 * pair + 1] ^ (long) LONG.get(secret, 19 + 16 * pair);
                sum += fold(low, high);
            }
            return avalanche(sum);
        }
    }
}
