package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares verdicts, lines and rules with {@code reptile classify}, row by row. */
final class CompareTest {
    private CompareTest() {}

    /** Runs a folder with {@code NAME.reptile}, {@code NAME.urls}, and {@code NAME@AGENT.tsv} with a row per URL. */
    static void run(Path folder) throws Exception {
        List<Path> tables;
        try (Stream<Path> files = Files.list(folder)) {
            tables = files.filter(file -> file.toString().endsWith(".tsv")).sorted().collect(Collectors.toList());
        }
        Check.that(!tables.isEmpty(), "tables to compare with");
        for (Path table : tables) {
            String[] name = table.getFileName().toString().replace(".tsv", "").split("@");
            if (name[0].equals("unicode") && !UrlTest.hasTables()) {
                System.out.println("hosts beyond ASCII: skipped, because ICU4J is not on the class path");
                continue;
            }
            CompiledSet set = CompiledSet.open(folder.resolve(name[0] + ".reptile"));
            Agent agent = set.agent(name[1]);
            List<String[]> expected = Check.rows(table);
            List<String[]> urls = Check.rows(folder.resolve(name[0] + ".urls"));
            Check.equal(urls.size(), expected.size(), "rows of " + table);
            for (int row = 0; row < expected.size(); row++) {
                byte[] url = Check.bytes(String.join("\t", urls.get(row)));
                Explanation explained = agent.explain(url);
                Rule rule = explained.rule().orElse(null);
                String[] cells = expected.get(row);
                // The command escapes controls and invalid UTF-8.
                boolean isPlain = cells[2].chars().allMatch(letter -> letter >= ' ' && letter < 0x7F);
                List<Object> wanted = Arrays.asList(Check.verdict(cells[0]), Check.verdict(cells[0]), cells[1], isPlain ? cells[2] : "");
                String shown = isPlain && rule != null ? rule.toString() : "";
                List<Object> found = Arrays.asList(explained.verdict(), agent.decide(url), String.valueOf(explained.line()), shown);
                Check.equal(wanted, found, found.equals(wanted) ? "" : name[0] + " " + name[1] + " " + Utf8.shown(url));
            }
        }
    }
}
