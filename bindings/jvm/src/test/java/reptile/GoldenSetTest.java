package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The set of this format version that the engine's own tests use, and what it answered. */
final class GoldenSetTest {
    private GoldenSetTest() {}

    static void run(Path golden) throws Exception {
        Path file = golden.resolve("v3.set");
        byte[] bytes = Files.readAllBytes(file);
        // In parts of 4,096 bytes, the set lies across a border.
        List<CompiledSet> sets = Arrays.asList(CompiledSet.open(file), CompiledSet.read(file), CompiledSet.of(bytes, 12));
        for (CompiledSet set : sets) {
            set.verify();
            answers(set, golden.resolve("v3.tsv"));
        }
        for (int version = 1; version <= 2; version++) {
            Path old = golden.resolve("v" + version + ".set");
            Check.refused(DamagedSetException.class, () -> CompiledSet.open(old), "format version " + version);
        }
        CompiledSet set = sets.get(0);
        Check.equal("google", set.dialect(), "the dialect");
        Agent agent = set.agent("GPTBot");
        Verdict[] verdicts = set.decide(Arrays.asList(agent, set.agent("*")), "https://shop.example.com/cart");
        Check.equal(Arrays.asList(Verdict.DISALLOW, Verdict.DISALLOW), Arrays.asList(verdicts), "two agents");
        Check.refused(IllegalArgumentException.class, () -> sets.get(1).decide(Arrays.asList(agent), "http://a/"), "another set's agent");
        Check.refused(IllegalStateException.class, () -> agent.decideAt("https://shop.example.com/", 0), "a set without times");
        Check.equal(Arrays.asList(Verdict.DISALLOW, Verdict.INVALID, Verdict.INVALID, Verdict.UNKNOWN),
                agent.decideAll(Arrays.asList("https://shop.example.com/cart", "shop.example.com", "https://h/\ud800", "https://h/")), "many");
    }

    private static void answers(CompiledSet set, Path file) throws Exception {
        List<String[]> rows = Check.rows(file);
        Check.equal(96, rows.size(), "rows");
        for (String[] row : rows) {
            Agent agent = set.agent(row[0]);
            Explanation explained = agent.explain(Check.bytes(row[1]));
            String where = String.join(" ", row);
            Check.equal(Check.verdict(row[2]), explained.verdict(), where);
            Check.equal(row[3], String.valueOf(explained.line()), where);
            Check.equal(row[4], explained.rule().map(Rule::toString).orElse(""), where);
            Check.equal(explained.verdict(), agent.decide(Check.bytes(row[1])), where);
            boolean isRule = row[5].startsWith("rule");
            Check.equal(isRule, explained.reason() == Reason.RULE, where + " " + explained.reason());
        }
    }
}
