package reptile;

import java.nio.ByteBuffer;

/** The hash table of origins: the sections {@code buckets} and {@code origins}. */
final class Origins {
    /** Maximum number of slots that a lookup reads. */
    static final int MAX_SLOTS_READ = 128;

    private static final int HEADER_BYTES = 64;
    private static final int SLOTS_PER_BUCKET = 8;
    private static final int UNIT = 8;
    /** Bytes of a record before the host. */
    static final int RECORD_BYTES = 16;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
    private static final long FINAL_MULTIPLIER = 0xD6E8FEB86659FD93L;

    private final Section slots;
    private final Section records;
    private final long count;
    private final long buckets;
    private final long seed;
    private final long slotCount;

    Origins(Section slots, Section records) {
        this.slots = slots;
        this.records = records;
        if (slots.length == 0) {
            count = 0;
            buckets = 0;
            seed = 0;
            slotCount = 0;
            return;
        }
        slots.check(0, HEADER_BYTES, "a header");
        count = slots.u63(0, "a number of origins");
        buckets = slots.u63(8, "a number of buckets");
        seed = slots.i64(16);
        slotCount = (slots.length - HEADER_BYTES) / 8;
        if (buckets > slotCount / SLOTS_PER_BUCKET) {
            throw slots.damaged(8, "at most " + slotCount / SLOTS_PER_BUCKET + " buckets", buckets);
        }
    }

    long count() {
        return count;
    }

    /** Hashes an origin with a seed. */
    static long hash(byte[] host, int from, int to, int scheme, int port, long seed) {
        long where = ((long) port << 8 | scheme) + 1;
        return (XxHash3.hash(host, from, to - from, seed) + where * MULTIPLIER) * FINAL_MULTIPLIER;
    }

    /**
     * Returns the offset of an origin's record in the section {@code origins}, or -1 if the set does not contain it.
     */
    long find(byte[] host, int from, int to, int scheme, int port) {
        if (buckets == 0) {
            return -1;
        }
        long hash = hash(host, from, to, scheme, port, seed);
        long slot = XxHash3.unsignedHigh(hash, buckets) * SLOTS_PER_BUCKET;
        for (int read = 0; read < MAX_SLOTS_READ; read++, slot++) {
            if (slot >= slotCount) {
                return -1;
            }
            long entry = slots.i64(HEADER_BYTES + slot * 8);
            if (entry == 0) {
                return -1;
            }
            if (entry >>> 40 == (hash & 0xFF_FFFF)) {
                long at = recordOf(entry, slot);
                if (isAt(at, host, from, to, scheme, port)) {
                    return at;
                }
            }
        }
        throw slots.damaged(HEADER_BYTES + slot * 8, "an empty slot after " + MAX_SLOTS_READ, "another one");
    }

    private long recordOf(long entry, long slot) {
        long address = (entry & 0xFF_FFFF_FFFFL) - 1;
        if (address < 0) {
            throw slots.damaged(HEADER_BYTES + slot * 8, "an address", "0");
        }
        return address * UNIT;
    }

    private boolean isAt(long at, byte[] host, int from, int to, int scheme, int port) {
        records.check(at, RECORD_BYTES, "an origin's record");
        ByteBuffer buffer = records.buffer(at);
        int index = records.index(at);
        int length = buffer.get(index + 15) & 0xFF;
        if ((buffer.getShort(index + 12) & 0xFFFF) != port || buffer.get(index + 14) != scheme || length != to - from) {
            return false;
        }
        records.check(at + RECORD_BYTES, length, "a host");
        for (int place = 0; place < length; place++) {
            if (buffer.get(index + RECORD_BYTES + place) != host[from + place]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the address of a record's policy. */
    long policy(long record) {
        return records.u32(record);
    }

    /** Returns the address of a record's captures, or {@link Section#NONE} if it has none. */
    long captures(long record) {
        return records.u32(record + 4);
    }

    /** Returns the address of a record's other directives, or {@link Section#NONE} if it has none. */
    long other(long record) {
        return records.u32(record + 8);
    }

    /** Checks that no lookup reads too many slots, and that there are as many slots as origins. */
    void checkRuns(long expected) {
        long run = 0;
        long used = 0;
        for (long slot = slotCount - 1; slot >= 0; slot--) {
            boolean isUsed = slots.i64(HEADER_BYTES + slot * 8) != 0;
            run = isUsed ? run + 1 : 0;
            used += isUsed ? 1 : 0;
            if (run >= MAX_SLOTS_READ && slot % SLOTS_PER_BUCKET == 0 && slot < buckets * SLOTS_PER_BUCKET) {
                throw slots.damaged(HEADER_BYTES + slot * 8, "fewer than " + MAX_SLOTS_READ + " consecutive used slots", run);
            }
        }
        if (used != expected) {
            throw slots.damaged(0, "a slot for each of " + expected + " origins", used);
        }
    }
}
