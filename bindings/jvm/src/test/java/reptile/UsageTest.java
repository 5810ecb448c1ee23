package reptile;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Compares preferences with {@code corpora/usage/cases.toml}, and random rules with {@code reptile classify --usage}. */
final class UsageTest {
    private static final int CASES = 42 + 18;

    private UsageTest() {}

    static void run(Path folder) throws Exception {
        List<String[]> cases = Check.rows(folder.resolve("cases.tsv"));
        Check.equal(CASES, cases.size(), "the number of cases");
        CompiledSet set = CompiledSet.open(folder.resolve("cases.reptile"));
        CompiledSet timed = CompiledSet.open(folder.resolve("timed.reptile"));
        for (String[] row : cases) {
            Uses uses = row[0].equals("usage") ? Uses.usage("train-ai", "search") : Uses.signals("train-ai", "search");
            List<Preference> expected = Arrays.asList(preference(row[4]), preference(row[5]));
            if (row[0].equals("tokens")) {
                // The fifth cell is the preference if the groups for `*` count, too.
                String url = new String(Check.bytes(row[3]), java.nio.charset.StandardCharsets.UTF_8);
                Uses withDefault = Uses.reading("usage,default-group", "train-ai");
                Check.equal(expected.subList(0, 1), set.agent(row[2]).usage(url, Uses.of("train-ai")), row[1]);
                Check.equal(expected.subList(0, 1), set.agent(row[2]).usage(url, Uses.all("train-ai")), row[1]);
                Check.equal(expected.subList(1, 2), set.agent(row[2]).usage(url, withDefault), row[1]);
                Check.equal(expected.subList(0, 1), timed.agent(row[2]).usageAt(url, 1000, Uses.of("train-ai")), row[1]);
                continue;
            }
            String url = new String(Check.bytes(row[3]), java.nio.charset.StandardCharsets.UTF_8);
            Check.equal(expected, set.agent(row[2]).usage(url, uses), row[1]);
            Check.equal(expected, timed.agent(row[2]).usageAt(url, 1000, uses), row[1] + " at a time");
            Check.equal(Collections.nCopies(2, Preference.UNKNOWN), timed.agent(row[2]).usageAt(url, 1, uses), row[1] + " before");
        }
        Agent agent = set.agent("Bot");
        List<String[]> rows = Check.rows(folder.resolve("random.tsv"));
        Check.that(rows.size() > 1000, "random rows");
        Uses both = Uses.all("train-ai", "search").and("ai-use", Arrays.asList("ai-use"), Arrays.asList("ai-input"));
        for (String[] row : rows) {
            List<Preference> expected = Arrays.asList(preference(row[1]), preference(row[2]), preference(row[3]));
            Check.equal(expected, agent.usage(row[0], both), row[0]);
        }
        Check.equal(null, agent.usage(null, both), "null");
        Check.equal(Collections.nCopies(3, Preference.UNKNOWN), agent.usage("nonsense", both), "not a URL");
        Check.equal(Arrays.asList("train-ai", "search", "ai-use"), both.names(), "names");
        Check.refused(IllegalArgumentException.class, () -> Uses.usage("training"), "a use that does not exist");
        Check.refused(IllegalArgumentException.class, () -> Uses.reading("tokens", "search"), "a use without a token");
        Check.refused(IllegalArgumentException.class, () -> Uses.reading("both", "search"), "statements that do not exist");
        Check.refused(IllegalStateException.class, () -> agent.usageAt("http://a.example/", 1, both), "a set without times");
    }

    static Preference preference(String word) {
        return Preference.valueOf(word.toUpperCase(java.util.Locale.ROOT).replace('-', '_'));
    }
}
