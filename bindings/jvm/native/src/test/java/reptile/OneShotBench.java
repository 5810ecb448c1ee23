package reptile;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reptile.natives.OneShot;

/**
 * Measures one-shot verdicts on one thread: {@code java -cp ... reptile.OneShotBench FOLDER AGENT [PASSES]}. FOLDER has a
 * robots.txt file for each host, under any name. Not a test.
 */
final class OneShotBench {
    private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();
    private static final String[] PATHS = {"/", "/products/shoes?sort=price&page=2", "/2024/05/an-article-about-robots.html", "/wp-admin/admin-ajax.php"};

    private OneShotBench() {}

    public static void main(String[] arguments) throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(Path.of(arguments[0]))) {
            files = all.filter(Files::isRegularFile).sorted().collect(Collectors.toList());
        }
        List<byte[]> bodies = new ArrayList<>();
        long bytes = 0;
        for (Path file : files) {
            bodies.add(Files.readAllBytes(file));
            bytes += bodies.get(bodies.size() - 1).length;
        }
        OneShot oneShot = new OneShot(arguments[1], "google");
        int passes = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 20;
        double best = Double.MAX_VALUE;
        long disallowed = 0;
        for (int pass = 0; pass < passes; pass++) {
            disallowed = 0;
            long start = THREAD.getCurrentThreadCpuTime();
            for (String path : PATHS) {
                for (byte[] body : bodies) {
                    disallowed += oneShot.decide(body, path).verdict() == Verdict.DISALLOW ? 1 : 0;
                }
            }
            best = Math.min(best, (THREAD.getCurrentThreadCpuTime() - start) / 1000.0 / bodies.size() / PATHS.length);
        }
        System.out.printf("%d files of %d bytes on average: best of %d passes %.2f us of processor time per verdict, %d of %d disallow%n",
                bodies.size(), bytes / bodies.size(), passes, best, disallowed, bodies.size() * PATHS.length);
        byte[] small = "user-agent: *\ndisallow: /cart\n".getBytes(StandardCharsets.UTF_8);
        best = Double.MAX_VALUE;
        for (int pass = 0; pass < passes; pass++) {
            long start = THREAD.getCurrentThreadCpuTime();
            for (int turn = 0; turn < 100_000; turn++) {
                disallowed += oneShot.decide(small, "/cart").line();
            }
            best = Math.min(best, (THREAD.getCurrentThreadCpuTime() - start) / 1000.0 / 100_000);
        }
        System.out.printf("a file of %d bytes: %.2f us%n", small.length, best);
    }
}
