package reptile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Every limit of the reader, except those of URLs and hosts, at one less, at the limit, and at one more. */
final class LimitsTest {
    private LimitsTest() {}

    static void run() {
        for (int over = -1; over <= 1; over++) {
            int by = over;
            holds(by, () -> walk(lists(Walk.MAX_PASSES - 1 + by)), "passes");
            holds(by, () -> walk(nested(Walk.MAX_DEPTH + by)), "depth");
            holds(by, () -> verify(nested(Walk.MAX_DEPTH + by)), "depth, verified");
            holds(by, () -> walk(fallback(Walk.MAX_FALLBACK_BYTES + by)), "bytes of fallback patterns");
            holds(by, () -> patched(Rulesets.MAX_PATCHED_BYTES + by), "bytes of a patched ruleset");
            holds(by, () -> section("lines", new byte[32], 4).copy(0, 16 + by), "bytes of a record in one part of a file");
            int text = Section.MAX_TEXT_BYTES + by;
            holds(by, () -> section("tokens", new byte[text], 30).copy(0, text), "bytes of a text");
            holds(by, () -> new Crawlers(section("crawlers", crawlers(Crawlers.MAX_BYTES + by), 30)), "bytes of crawlers");
            holds(by, () -> groups(Walk.MAX_PASSES + by), "groups of a token");
            holds(by, () -> directives(0, Directives.MAX_LINES + by, 1, 0), "lines of other directives");
            holds(by, () -> directives(0, 1, 0, Directives.MAX_TEXT_BYTES + by), "bytes of a value");
            holds(by, () -> directives(0, 2, Directives.MAX_TEXT_BYTES - 1, 1 + by), "bytes of a value that shares others");
            // 16 values: the first has the shared bytes, and each other one also the added bytes.
            int added = -by & 15;
            int shared = (Directives.MAX_RECORD_BYTES + by - 15 * added) / 16;
            holds(by, () -> directives(0, 16, shared, added), "bytes of a record's values");
            holds(by, () -> directives(Directives.MAX_PAIRS + by, 0, 0, 0), "pairs of a group and a part");
            // A lookup fails after reading this many used slots.
            holds(by + 1, () -> lookUp(Origins.MAX_SLOTS_READ + by), "slots");
        }
        circle();
    }

    private static void holds(int over, Check.Work work, String what) {
        String where = what + ", limit and " + over;
        if (over > 0) {
            Check.refused(DamagedSetException.class, work, where);
            return;
        }
        try {
            work.run();
            Check.that(true, where);
        } catch (Exception refused) {
            Check.fail(where + ": " + refused);
        }
    }

    private static void walk(Automaton automaton) {
        byte[] path = new byte[40];
        Arrays.fill(path, (byte) 'a');
        path[0] = '/';
        Walk.disallows(automaton, path, 0, path.length);
    }

    /** Verifies an automaton with fingerprints that accept every position. */
    private static void verify(Automaton automaton) {
        byte[] prints = new byte[80];
        Arrays.fill(prints, (byte) -1);
        new AutomatonVerifier(automaton, section("prints", prints, 30)).verify();
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Automaton automaton(ByteBuffer bytes) {
        int end = bytes.position();
        int width = bytes.get(0);
        if (width == 2) {
            bytes.putShort(1 + 5 * width, (short) end);
        } else {
            bytes.putInt(1 + 5 * width, end);
        }
        return new Automaton(ByteBuffer.wrap(Arrays.copyOf(bytes.array(), end)).order(ByteOrder.LITTLE_ENDIAN), 0, 0);
    }

    /** Returns a header: two-byte numbers, one rule, a trie, no empty pattern, {@code wildcards} wildcard automata. */
    private static ByteBuffer header(int trie, int wildcards) {
        ByteBuffer bytes = buffer(60_000).put((byte) 2).putShort((short) 1).putShort((short) trie);
        bytes.putShort((short) 0).putShort((short) 0).putShort((short) 0).putShort((short) 0).putShort((short) -1);
        return bytes.putShort((short) wildcards);
    }

    /** Writes the root of a wildcard automaton that leads to an allow and a disallow, so that no walk skips it. */
    private static void root(ByteBuffer bytes, int children, int next, int deciding) {
        bytes.put((byte) children).putShort((short) 0).putShort((short) 1).putShort((short) 1);
        bytes.putShort((short) next).putShort((short) deciding).putShort((short) 0);
    }

    /** Writes the 11-byte trie of {@code /} with the list of wildcard automata at an offset. */
    private static void trie(ByteBuffer bytes, int list) {
        bytes.put((byte) 0).putShort((short) list).put((byte) 0).putShort((short) list).put((byte) 2);
        bytes.put((byte) 1).put((byte) Automaton.BEGINS_WILDCARDS).put((byte) 0).put((byte) '/');
    }

    /** Returns a list of {@code count} wildcard automata, each of which needs a pass. */
    private static Automaton lists(int count) {
        ByteBuffer bytes = header(17 + 7, count);
        trie(bytes, 28);
        for (int at = 0; at < count; at++) {
            int here = 28 + 13 * at;
            root(bytes, 0, at == count - 1 ? 0 : here + 13, here);
        }
        return automaton(bytes);
    }

    /** Returns {@code depth} nested wildcard automata. Each begins after an {@code a}, and the innermost has a disallow. */
    private static Automaton nested(int depth) {
        ByteBuffer bytes = header(0, depth);
        int inner = 0;
        for (int at = 0; at < depth; at++) {
            int root = bytes.position();
            boolean isLast = at == depth - 1;
            bytes.put((byte) 1).putShort((short) -1).putShort((short) 1).putShort((short) (isLast ? 1 : 0)).putShort((short) 0);
            bytes.putShort((short) (isLast ? root : 0)).putShort((short) 0);
            bytes.putShort((short) (root + 16 + (at == 0 ? 0 : 4))).put((byte) 'a');
            if (at == 0) {
                bytes.put((byte) 0).put((byte) Automaton.DISALLOW).put((byte) 0).putShort((short) 1);
            } else {
                bytes.put((byte) 0).putShort((short) inner).put((byte) 1);
                bytes.put((byte) 0).put((byte) Automaton.BEGINS_WILDCARDS).put((byte) 0);
            }
            inner = root;
        }
        bytes.putShort(3, (short) (bytes.position() + 7));
        trie(bytes, inner);
        bytes.putShort(7, (short) bytes.position());
        bytes.putShort((short) 1).putShort((short) 1).putShort((short) 1).put((byte) '*');
        // The index of the fingerprints follows the end.
        Automaton automaton = automaton(bytes);
        int end = bytes.position();
        ByteBuffer stored = ByteBuffer.wrap(Arrays.copyOf(bytes.array(), end + 4)).order(ByteOrder.LITTLE_ENDIAN);
        Check.equal(automaton.end(), end, "the end of an automaton");
        return new Automaton(stored, 0, 0);
    }

    /** Returns an automaton with numbers of four bytes and one fallback pattern of {@code count} bytes. */
    private static Automaton fallback(int count) {
        ByteBuffer bytes = buffer(count + 100).put((byte) 4).putInt(1).putInt(0).putInt(33).putInt(0).putInt(0).putInt(0).putInt(-1).putInt(0);
        bytes.putInt(1).putInt(0).putInt(1).putInt(count - 20).putInt(count - 20);
        bytes.position(33 + count);
        return automaton(bytes.putInt(-1));
    }

    /** Reads a ruleset stored as an empty list of patches to a ruleset of {@code count} bytes. */
    private static void patched(int count) {
        ByteBuffer index = buffer(16).putLong(count).putLong(1L << 48 | count + 4);
        byte[] rulesets = new byte[count + 4];
        rulesets[0] = 2;
        new Rulesets(section("index", index.array(), 30), section("rulesets", rulesets, 30)).get(1);
    }

    /** Reads a record with this many pairs and lines. Each line shares up to this many bytes and adds this many. */
    private static void directives(int pairs, int lines, int shared, int added) {
        ByteBuffer record = buffer(2 * pairs + lines * (shared + added + 16) + 64);
        number(number(record.put((byte) 0), pairs).position(record.position() + 2 * pairs), lines);
        for (int line = 0; line < lines; line++) {
            // A sitemap in no part, on the next line. The first value has the bytes that the others share.
            record.put((byte) 0).put((byte) 0).put((byte) 1);
            int before = line == 0 ? 0 : shared;
            int length = line == 0 && lines > 1 ? shared : added;
            number(number(record, before), length).position(record.position() + length);
        }
        int found = new Directives(section("other", record.array(), 30)).lines(0).size();
        Check.equal(lines, found, "lines");
    }

    private static ByteBuffer number(ByteBuffer out, int number) {
        while (number >= 0x80) {
            out.put((byte) (number | 0x80));
            number >>>= 7;
        }
        return out.put((byte) number);
    }

    private static Section section(String name, byte[] bytes, int strideBits) {
        return new Section(name, Bytes.of(bytes, strideBits), 0, bytes.length);
    }

    /** Returns a table of crawlers without names, filled with product tokens up to {@code bytes}. */
    private static byte[] crawlers(int bytes) {
        int most = 4 + 255 * 256;
        int count = (bytes - 8) / (most + 4) + 1;
        ByteBuffer table = buffer(bytes).putInt(0).putInt(count);
        int left = bytes - 8 - 4 * count;
        table.position(8 + 4 * count);
        for (int place = 0; place < count; place++) {
            int size = Math.min(most, left - 5 * (count - 1 - place));
            int tokens = (size - 4 + 255) / 256;
            table.put((byte) 0).put((byte) 0).put((byte) tokens).put((byte) 0);
            for (int token = 0; token < tokens; token++) {
                int length = Math.min(256, size - 4 - 256 * token) - 1;
                table.put((byte) length).position(table.position() + length);
            }
            left -= size;
            table.putInt(8 + 4 * place, table.position() - 8 - 4 * count);
        }
        return table.array();
    }

    /** Reads the groups of a policy in which one token has {@code count} groups. */
    private static void groups(int count) {
        ByteBuffer policy = buffer(16 + 8 * count + 8).putInt(0).putInt(-1).putInt(count).putInt(1);
        Group.choose(new Policy(section("policies", policy.array(), 30), 0), new long[][] {{0}}, false, false);
    }

    /** Looks up an origin among {@code slots} used slots. */
    private static void lookUp(int slots) {
        ByteBuffer buckets = buffer(64 + 8 * slots).putLong(1).putLong(1);
        byte[] host = {'h'};
        long other = ~Origins.hash(host, 0, 1, 0, 80, 0) & 0xFF_FFFF;
        for (int slot = 0; slot < slots; slot++) {
            buckets.putLong(64 + 8 * slot, other << 40 | 1);
        }
        new Origins(section("buckets", buckets.array(), 30), section("origins", new byte[24], 30)).find(host, 0, 1, 0, 80);
    }

    /** Checks that a cyclic list is an error. */
    private static void circle() {
        ByteBuffer bytes = header(17 + 7, 2);
        trie(bytes, 28);
        root(bytes, 0, 28, 28);
        Automaton circle = automaton(bytes);
        Check.refused(DamagedSetException.class, () -> walk(circle), "a cyclic list");
        Check.refused(DamagedSetException.class, () -> verify(circle), "a cyclic list, verified");
    }
}
