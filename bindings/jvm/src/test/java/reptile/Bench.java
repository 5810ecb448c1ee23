package reptile;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Measures decisions on one thread: {@code java -cp ... reptile.Bench SET URLS AGENT [PASSES]}. Not a test. */
final class Bench {
    /** Measures processor time, which is less sensitive to other programs than wall-clock time. */
    private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        CompiledSet set = CompiledSet.open(Path.of(arguments[0]));
        List<String> urls = Files.readAllLines(Path.of(arguments[1]));
        Agent agent = set.agentExactly(arguments[2]);
        int passes = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 20;
        double best = Double.MAX_VALUE;
        long[] counts = new long[Verdict.values().length];
        for (int pass = 0; pass < passes; pass++) {
            counts = new long[counts.length];
            long start = THREAD.getCurrentThreadCpuTime();
            for (String url : urls) {
                counts[agent.decide(url).ordinal()]++;
            }
            double nanoseconds = (double) (THREAD.getCurrentThreadCpuTime() - start) / urls.size();
            best = Math.min(best, nanoseconds);
            if (pass == 0) {
                System.out.printf("first pass: %.0f ns of processor time per decision%n", nanoseconds);
            }
        }
        System.out.printf("best of %d passes over %d URLs: %.0f ns of processor time per decision%n", passes, urls.size(), best);
        for (Verdict verdict : Verdict.values()) {
            System.out.println(verdict + " " + counts[verdict.ordinal()]);
        }
    }
}
