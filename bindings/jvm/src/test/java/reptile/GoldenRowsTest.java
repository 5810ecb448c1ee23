package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The verdicts and lines of Google's library for real files, if they are present. */
final class GoldenRowsTest {
    private static final int ROWS = 239_100;

    private GoldenRowsTest() {}

    static void run(Path folder) throws Exception {
        Path rows = folder.resolve("golden.tsv");
        if (!Files.exists(rows)) {
            System.out.println("golden rows: skipped, because the real files are missing");
            return;
        }
        CompiledSet set = CompiledSet.open(folder.resolve("google-lib.reptile"));
        set.verify();
        Map<String, Agent> agents = new HashMap<>();
        int count = 0;
        for (String[] row : Check.rows(rows)) {
            Agent agent = agents.computeIfAbsent(row[1], name -> set.agentUnchecked(Check.bytes(name)));
            String origin = "http://" + row[0] + "/";
            byte[] url = Check.bytes(row[2]);
            Explanation explained = agent.explainPath(origin, url);
            String where = String.join(" ", row);
            Check.equal(Check.verdict(row[3]), explained.verdict(), where);
            Check.equal(Check.verdict(row[3]), agent.decidePath(origin, url), where);
            Check.equal(row[4], String.valueOf(explained.line()), "line of " + where);
            count++;
        }
        Check.equal(ROWS, count, "rows");
    }
}
