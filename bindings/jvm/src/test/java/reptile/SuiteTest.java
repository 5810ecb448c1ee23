package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs every check of the conformance suite, with one set per dialect. */
final class SuiteTest {
    private SuiteTest() {}

    static void run(Path folder) throws Exception {
        List<Path> tables;
        try (Stream<Path> files = Files.list(folder)) {
            tables = files.filter(file -> file.toString().endsWith(".tsv")).sorted().collect(Collectors.toList());
        }
        Check.equal(9, tables.size(), "dialects");
        int checks = 0;
        for (Path table : tables) {
            String dialect = table.getFileName().toString().replace(".tsv", "");
            CompiledSet set = CompiledSet.open(folder.resolve(dialect + ".reptile"));
            set.verify();
            for (String[] row : Check.rows(table)) {
                byte[] url = Base64.getDecoder().decode(row[2]);
                Agent agent = set.agentUnchecked(Base64.getDecoder().decode(row[1]));
                Explanation explained = agent.explainPath(row[0], url);
                String where = dialect + ": " + row[5] + ", " + agent.name() + ", " + Utf8.shown(url);
                Check.equal(Check.verdict(row[3]), explained.verdict(), where);
                Check.equal(Check.verdict(row[3]), agent.decidePath(row[0], url), where);
                if (!row[4].equals("-")) {
                    Check.equal(row[4], String.valueOf(explained.line()), "line of " + where);
                }
                checks++;
            }
        }
        System.out.println("the suite: " + checks + " questions");
    }
}
