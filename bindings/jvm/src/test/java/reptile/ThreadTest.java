package reptile;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One agent used by many threads at once. */
final class ThreadTest {
    private ThreadTest() {}

    static void run(Path golden) throws Exception {
        Agent agent = CompiledSet.open(golden.resolve("google.set")).agent("GPTBot");
        List<String> urls = Check.rows(golden.resolve("google.tsv")).stream().map(row -> row[2]).collect(Collectors.toList());
        List<Verdict> expected = agent.decideAll(urls);
        List<List<Verdict>> found =
                IntStream.range(0, 500).parallel().mapToObj(turn -> agent.decideAll(urls)).collect(Collectors.toList());
        for (List<Verdict> verdicts : found) {
            Check.equal(expected, verdicts, "verdicts of a thread");
        }
    }
}
