package reptile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The golden sets from the engine's tests, with their recorded answers. */
final class GoldenSetTest {
    private static final int SETS = 7;

    private GoldenSetTest() {}

    static void run(Path golden, Path data) throws Exception {
        Path file = golden.resolve("google.set");
        byte[] bytes = Files.readAllBytes(file);
        // With parts of 4,096 bytes, the set crosses a boundary.
        List<CompiledSet> sets = Arrays.asList(CompiledSet.open(file), CompiledSet.read(file), CompiledSet.of(bytes, 12));
        for (CompiledSet set : sets) {
            set.verify();
            answers(set, golden.resolve("google.tsv"));
        }
        List<Path> files;
        try (Stream<Path> found = Files.list(golden)) {
            files = found.filter(path -> path.toString().endsWith(".set")).sorted().collect(Collectors.toList());
        }
        Check.equal(SETS, files.size(), "golden sets");
        for (Path other : files) {
            CompiledSet set = CompiledSet.open(other);
            set.verify();
            String name = other.toString().replaceAll("set$", "");
            answers(set, Path.of(name + "tsv"));
            DirectivesTest.compare(set, Path.of(name + "fields"));
        }
        for (int version = 1; version < Container.VERSION; version++) {
            Path old = golden.resolveSibling("v" + version + ".set");
            Check.refused(DamagedSetException.class, () -> CompiledSet.open(old), "format version " + version);
        }
        large(golden, data.resolve("large.reptile"));
        worked(bytes, Files.readString(golden.resolve("../../../FORMAT.md")));
        CompiledSet set = sets.get(0);
        Check.equal("google", set.dialect(), "the dialect");
        Agent agent = set.agent("GPTBot");
        Verdicts verdicts = set.agents("GPTBot", "*").decide("https://shop.example.com/cart");
        Check.equal(Arrays.asList(Verdict.DISALLOW, Verdict.DISALLOW), verdicts.toList(), "two agents");
        Check.refused(IllegalStateException.class, () -> agent.decideAt("https://shop.example.com/", 0), "a set without times");
        Check.equal(Arrays.asList(Verdict.DISALLOW, Verdict.INVALID, Verdict.INVALID, Verdict.UNKNOWN),
                agent.decideAll(Arrays.asList("https://shop.example.com/cart", "shop.example.com", "https://h/\ud800", "https://h/")), "many");
    }

    /**
     * Pads the set's captures, which decisions do not read, with so many zeros that later sections lie beyond 3 GiB and
     * the policies cross a boundary between parts. The file is sparse.
     */
    private static void large(Path golden, Path file) throws Exception {
        ByteBuffer old = ByteBuffer.wrap(Files.readAllBytes(golden.resolve("google.set"))).order(ByteOrder.LITTLE_ENDIAN);
        int count = old.getInt(20);
        byte[] head = Arrays.copyOf(old.array(), 64 + 32 * count);
        ByteBuffer table = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
        long end = head.length;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            for (int entry = 64; entry < head.length; entry += 32) {
                String name = new String(head, entry, 8, StandardCharsets.US_ASCII).trim();
                long start = (end + 63) / 64 * 64;
                long length = old.getLong(entry + 16);
                if (name.equals("captures")) {
                    length = (3L << 30) - 256 - start;
                } else {
                    channel.write(ByteBuffer.wrap(old.array(), (int) old.getLong(entry + 8), (int) length), start);
                }
                table.putLong(entry + 8, start).putLong(entry + 16, length);
                end = start + length;
            }
            table.putLong(24, end).putLong(56, 0).putLong(56, XxHash3.hash(head, 0, head.length, 0));
            channel.write(ByteBuffer.wrap(head), 0);
        }
        Check.that(Files.size(file) > 3L << 30, "a file of more than 3 GiB");
        answers(CompiledSet.open(file), golden.resolve("google.tsv"));
        Files.delete(file);
    }

    /** Checks that the lookup that FORMAT.md follows byte by byte uses this set's values. */
    private static void worked(byte[] bytes, String page) {
        Container container = new Container(Bytes.of(bytes, Bytes.STRIDE_BITS));
        Section buckets = container.section("buckets");
        byte[] host = "shop.example.com".getBytes(StandardCharsets.US_ASCII);
        long hash = Origins.hash(host, 0, host.length, 1, 443, buckets.i64(16));
        long bucket = XxHash3.unsignedHigh(hash, buckets.i64(8));
        Origins origins = new Origins(buckets, container.section("origins"));
        long record = origins.find(host, 0, host.length, 1, 443);
        Policy policy = new Policy(container.section("policies"), origins.policy(record));
        int group = policy.defaultGroup();
        long lines = policy.lines(group);
        String[] parts = {
            String.format("%d origins in %d buckets under the seed %X.", buckets.i64(0), buckets.i64(8), buckets.i64(16)),
            String.format("hash %X, bucket %d\n", hash, bucket),
            String.format("%06X%010X\n", hash & 0xFF_FFFF, record / 8 + 1),
            String.format("`origins` at %d ", record),
            String.format("`policies` at %d x 8 ", origins.policy(record)),
            String.format("ruleset %d, lines %d\n", policy.ruleset(group), lines),
            String.format("`lines` at %d x 4 ", lines),
        };
        for (String part : parts) {
            Check.that(page.contains(part), "FORMAT.md does not contain: " + part);
        }
    }

    /** Compares a set with its answers: agent, time, URL, verdict, line, rule, reason, and preferences. */
    private static void answers(CompiledSet set, Path file) throws Exception {
        List<String[]> rows = Check.rows(file);
        Check.that(rows.size() > 100, "rows");
        List<Uses> questions = Arrays.asList(Uses.usage("train-ai", "search"), Uses.signals("train-ai", "search"));
        for (String[] row : rows) {
            Agent agent = set.agentUnchecked(Check.bytes(row[0]));
            boolean isByTime = set.isByTime();
            long time = isByTime ? Long.parseLong(row[1]) : 0;
            String url = text(row[2]);
            Explanation explained = isByTime ? agent.explainAt(url, time) : agent.explain(Check.bytes(row[2]));
            String where = file.getFileName() + ": " + String.join(" ", row);
            Check.equal(Check.verdict(row[3]), explained.verdict(), where);
            Check.equal(row[4], String.valueOf(explained.line()), where);
            Check.equal(text(row[5]), explained.rule().map(Rule::toString).orElse(""), where);
            Check.equal(explained.verdict(), isByTime ? agent.decideAt(url, time) : agent.decide(Check.bytes(row[2])), where);
            boolean isRule = row[6].startsWith("rule");
            Check.equal(isRule, explained.reason() == Reason.RULE, where + " " + explained.reason());
            for (int question = 0; question < questions.size(); question++) {
                Uses uses = questions.get(question);
                int column = 7 + 2 * question;
                List<Preference> preferences = Arrays.asList(UsageTest.preference(row[column]), UsageTest.preference(row[column + 1]));
                Check.equal(preferences, isByTime ? agent.usageAt(url, time, uses) : agent.usage(url, uses), where);
            }
        }
    }

    private static String text(String cell) {
        return new String(Check.bytes(cell), StandardCharsets.UTF_8);
    }
}
