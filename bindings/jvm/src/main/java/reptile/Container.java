package reptile;

import java.util.Arrays;

/** A set file's header, section table and sections. Opening checks everything except the section hashes. */
final class Container {
    /** The format version that this library reads. */
    static final int VERSION = 4;

    private static final String HEADER = "header";
    private static final int HEADER_BYTES = 64;
    private static final int ENTRY_BYTES = 32;
    private static final int ALIGNMENT = 64;
    private static final byte[] LABEL = {(byte) 0x89, 'R', 'P', 'T', 'L', '\r', '\n', 0x1A};
    private static final int BYTE_ORDER = 0x01020304;

    /** The names of the sections, in file order. */
    static final String[] NAMES = {
        "reading", "crawlers", "tokens", "buckets", "origins", "captures", "policies", "index", "rulesets", "prints", "lines", "other", "usages"
    };

    final NormalForm normalForm;
    /** Whether a file's product token matches if it contains the crawler's token, not only if they are equal. */
    final boolean matchesContained;
    private final Section[] sections = new Section[NAMES.length];
    private final long[] hashes = new long[NAMES.length];

    /** Reads the header and the section table. */
    Container(Bytes bytes) {
        Section all = new Section(HEADER, bytes, 0, bytes.length());
        if (bytes.length() < HEADER_BYTES || !Arrays.equals(all.copy(0, LABEL.length), LABEL)) {
            throw all.damaged(0, "a compiled set's label", "a file of " + bytes.length() + " bytes that does not begin with it");
        }
        expect(all, 8, "format version " + VERSION + ", the only one supported", VERSION);
        expect(all, 12, "the byte order mark", BYTE_ORDER);
        normalForm = NormalForm.of(all, all.u32(16));
        long count = all.u32(20);
        if (count > NAMES.length) {
            throw all.damaged(20, "at most " + NAMES.length + " sections", count);
        }
        if (all.i64(24) != bytes.length()) {
            throw all.damaged(24, "the file's length, " + bytes.length(), Long.toUnsignedString(all.i64(24)));
        }
        long matching = all.u32(32);
        if (matching > 1) {
            throw all.damaged(32, "a known way to match names, 0 or 1", matching);
        }
        matchesContained = matching == 1;
        for (int at = 40; at < 56; at++) {
            if (all.u8(at) != 0) {
                throw all.damaged(at, "0", all.u8(at));
            }
        }
        int tableEnd = HEADER_BYTES + (int) count * ENTRY_BYTES;
        byte[] hashed = all.copy(0, tableEnd);
        Arrays.fill(hashed, 56, 64, (byte) 0);
        long hash = XxHash3.hash(hashed, 0, tableEnd, 0);
        if (all.i64(56) != hash) {
            throw all.damaged(56, "the hash of the header and section table, " + Long.toHexString(hash), Long.toHexString(all.i64(56)));
        }
        readTable(all, bytes, (int) count, tableEnd);
    }

    private static void expect(Section all, long at, String what, long expected) {
        if (all.u32(at) != expected) {
            throw all.damaged(at, what, all.u32(at));
        }
    }

    private void readTable(Section all, Bytes bytes, int count, int tableEnd) {
        long end = tableEnd;
        int next = 0;
        for (int entry = 0; entry < count; entry++) {
            int at = HEADER_BYTES + entry * ENTRY_BYTES;
            String name = name(all, at);
            int place = Arrays.asList(NAMES).subList(next, NAMES.length).indexOf(name);
            if (place < 0) {
                throw all.damaged(at, "known sections in order, each once", '"' + name + '"');
            }
            next += place;
            long start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            long length = all.i64(at + 16);
            if (all.i64(at + 8) != start) {
                throw all.damaged(at + 8, "the start of " + name + ", " + start, Long.toUnsignedString(all.i64(at + 8)));
            }
            if (length <= 0 || start > bytes.length() || length > bytes.length() - start) {
                throw all.damaged(at + 16, "a length from 1 to " + (bytes.length() - start), Long.toUnsignedString(length));
            }
            for (long gap = end; gap < start; gap++) {
                if (all.u8(gap) != 0) {
                    throw all.damaged(gap, "0 between sections", all.u8(gap));
                }
            }
            sections[next] = new Section(name, bytes, start, length);
            hashes[next] = all.i64(at + 24);
            end = start + length;
            next++;
        }
        if (end != bytes.length()) {
            throw all.damaged(24, "the last section to end at " + end, bytes.length());
        }
        for (int place = 0; place < sections.length; place++) {
            if (sections[place] == null) {
                sections[place] = new Section(NAMES[place], bytes, 0, 0);
            }
        }
    }

    /** Returns a section's name, which is stored as eight bytes padded with zeros. */
    private static String name(Section all, int at) {
        StringBuilder name = new StringBuilder();
        boolean ended = false;
        for (byte letter : all.copy(at, 8)) {
            if (letter != 0 && (ended || letter < 'a' || letter > 'z')) {
                throw all.damaged(at, "a section name", "byte " + (letter & 0xFF));
            }
            ended |= letter == 0;
            if (!ended) {
                name.append((char) letter);
            }
        }
        return name.toString();
    }

    /** Returns a section, which is empty if the file does not contain it. */
    Section section(String name) {
        return sections[Arrays.asList(NAMES).indexOf(name)];
    }

    /** Checks the hash of every section. */
    void checkHashes() {
        for (int place = 0; place < sections.length; place++) {
            Section section = sections[place];
            if (section.length > 0 && section.hash() != hashes[place]) {
                String found = Long.toHexString(section.hash());
                throw section.damaged(0, "bytes with the hash " + Long.toHexString(hashes[place]), "bytes with the hash " + found);
            }
        }
    }
}
