package reptile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A set's known crawlers, and its rules for reading names. Names are strings with one character per byte. */
final class Crawlers {
    /** Which strings a user-agent line can contain. */
    static final int LETTERS = 0;
    static final int BEFORE_VERSION = 1;
    static final int WHOLE_VALUE = 2;

    /**
     * Maximum size of the section, all of which is read when a set is opened. Typical sets have a few thousand bytes.
     */
    static final int MAX_BYTES = 4 << 20;

    private static final int HEADER_BYTES = 8;
    private static final int HONORS_DEFAULT_GROUP = 1;
    private static final int IS_PREFIX = 2;
    private static final int STARTS_WITH_ITSELF = 4;

    /** A known crawler. */
    static final class Entry {
        final String name;
        final List<String> tokens = new ArrayList<>();
        final int flags;
        final int purposes;

        Entry(String name, int flags, int purposes) {
            this.name = name;
            this.flags = flags;
            this.purposes = purposes;
        }
    }

    /** A crawler's product tokens, in lookup order. */
    static final class Chain {
        final List<String> tokens;
        final boolean honorsDefaultGroup;

        Chain(List<String> tokens, boolean honorsDefaultGroup) {
            this.tokens = tokens;
            this.honorsDefaultGroup = honorsDefaultGroup;
        }
    }

    final int syntax;
    final boolean cutsVersion;
    final List<Entry> entries = new ArrayList<>();

    Crawlers(Section section) {
        if (section.length == 0) {
            throw section.damaged(0, "a crawlers section", "a file without it");
        }
        if (section.length > MAX_BYTES) {
            throw section.damaged(0, "at most " + MAX_BYTES + " bytes, this reader's limit", section.length);
        }
        syntax = section.u8(0);
        int cuts = section.u8(1);
        long count = section.u32(4);
        if (syntax > WHOLE_VALUE || cuts > 1 || section.u16(2) != 0 || count > (section.length - HEADER_BYTES) / 4) {
            String expected = "a syntax up to 2, 0 or 1, 0, and a number of crawlers that fits";
            throw section.damaged(0, expected, syntax + ", " + cuts + ", " + section.u16(2) + ", " + count);
        }
        cutsVersion = cuts == 1;
        long records = HEADER_BYTES + 4 * count;
        long start = 0;
        for (long place = 0; place < count; place++) {
            long end = section.u32(HEADER_BYTES + 4 * place);
            if (end < start || end > section.length - records) {
                throw section.damaged(HEADER_BYTES + 4 * place, "an end from " + start + " to " + (section.length - records), end);
            }
            entries.add(entry(section, records + start, records + end));
            start = end;
        }
        if (records + start != section.length) {
            throw section.damaged(HEADER_BYTES, "records that fill the section of " + section.length + " bytes", records + start);
        }
    }

    private static Entry entry(Section section, long at, long end) {
        if (end - at < 4) {
            throw section.damaged(at, "a crawler", end - at + " bytes");
        }
        int tokens = section.u8(at + 2);
        int length = section.u8(at + 3);
        Entry entry = new Entry(text(section, at + 4, length), section.u8(at), section.u8(at + 1));
        if (entry.flags > 7 || entry.purposes > 63) {
            throw section.damaged(at, "known flags and purposes", entry.flags + ", " + entry.purposes);
        }
        long next = at + 4 + length;
        for (int token = 0; token < tokens; token++) {
            length = section.u8(next);
            entry.tokens.add(text(section, next + 1, length));
            next += 1 + length;
        }
        if (next != end) {
            throw section.damaged(at, "a crawler of " + (end - at) + " bytes", next - at + " bytes");
        }
        return entry;
    }

    private static String text(Section section, long at, int length) {
        return new String(section.copy(at, length), StandardCharsets.ISO_8859_1);
    }

    /** Returns whether an entry has this name, in any letter case. */
    boolean isKnown(String name) {
        String lower = Names.lower(name);
        return entries.stream().anyMatch(entry -> Names.lower(entry.name).equals(lower));
    }

    /** Returns a chain with each token as read from a user-agent line. Tokens that read as empty are dropped. */
    Chain asRead(Chain chain) {
        List<String> read = new ArrayList<>();
        for (String token : chain.tokens) {
            String text = Names.readBack(token, syntax);
            if (!text.isEmpty()) {
                read.add(text);
            }
        }
        return new Chain(read, chain.honorsDefaultGroup);
    }

    /** Looks up a name, ignoring case. Time: one comparison per known name. */
    Chain find(String given) {
        String name = cutsVersion ? Names.withoutVersion(given) : given;
        String lower = Names.lower(name);
        Entry known = null;
        for (Entry entry : entries) {
            String candidate = Names.lower(entry.name);
            if (candidate.equals(lower)) {
                known = entry;
                break;
            }
            if ((entry.flags & IS_PREFIX) != 0 && lower.startsWith(candidate)
                    && (known == null || entry.name.length() > known.name.length())) {
                known = entry;
            }
        }
        List<String> tokens = new ArrayList<>();
        if (known == null || (known.flags & STARTS_WITH_ITSELF) != 0) {
            tokens.add(name);
        }
        if (known == null) {
            return new Chain(tokens, true);
        }
        tokens.addAll(known.tokens);
        return new Chain(tokens, (known.flags & HONORS_DEFAULT_GROUP) != 0);
    }
}
