import com.sun.management.OperatingSystemMXBean;
import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.SimpleRobotRulesParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import reptile.Agent;
import reptile.CompiledSet;
import reptile.Verdict;
import reptile.natives.OneShot;

/**
 * Decides URLs with Reptile or with crawler-commons:
 * {@code Beside CANDIDATE TASK URLS FOLDER SET DIALECT AGENT VERDICTS}. CANDIDATE is {@code reptile},
 * {@code crawler-commons} or {@code nothing}. {@code bindings/beside} describes the tasks. Prints the seconds of the
 * wall clock and of all threads, and {@code /proc/self/status}.
 */
final class Beside {
    private static final OperatingSystemMXBean MACHINE =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final String candidate;
    private final String task;
    private final Path folder;
    private final Path set;
    private final String dialect;
    private final String agent;

    private Beside(String[] arguments) {
        candidate = arguments[0];
        task = arguments[1];
        folder = Path.of(arguments[3]);
        set = Path.of(arguments[4]);
        dialect = arguments[5];
        agent = arguments[6];
    }

    /** Returns a URL's verdict as a letter: A, D, or another one. */
    private interface Decider {
        char decide(String url);
    }

    /** Returns what is made from the robots.txt of a URL's site. The task {@code file} keeps only the last one. */
    private <T> Function<String, T> sites(Function<byte[], T> make) {
        Map<String, T> made = new HashMap<>();
        return url -> {
            int begin = url.indexOf("//") + 2;
            int end = url.indexOf('/', begin);
            String site = end < 0 ? url : url.substring(0, end);
            T found = made.get(site);
            if (found == null) {
                if (task.equals("file")) {
                    made.clear();
                }
                found = make.apply(read(folder.resolve(site.substring(begin))));
                made.put(site, found);
            }
            return found;
        };
    }

    private static byte[] read(Path path) {
        try {
            return Files.readAllBytes(path);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static char letter(Verdict verdict) {
        return verdict.name().charAt(0);
    }

    private Decider reptile() throws IOException {
        if (task.equals("set")) {
            Agent crawler = CompiledSet.open(set).agent(agent);
            return url -> letter(crawler.decide(url));
        }
        OneShot oneShot = new OneShot(agent, dialect);
        Function<String, byte[]> bodies = sites(body -> body);
        return url -> letter(oneShot.decide(bodies.apply(url), url).verdict());
    }

    /** The parser expects crawler names in lower case. It parses a file for one crawler. */
    private Decider crawlerCommons() {
        SimpleRobotRulesParser parser = new SimpleRobotRulesParser();
        List<String> agents = List.of(agent.toLowerCase(Locale.ROOT));
        Function<String, BaseRobotRules> rules =
                sites(body -> parser.parseContent("https://site.example/robots.txt", body, "text/plain", agents));
        return url -> rules.apply(url).isAllowed(url) ? 'A' : 'D';
    }

    private Decider decider() throws IOException {
        switch (candidate) {
            case "reptile":
                return reptile();
            case "crawler-commons":
                return crawlerCommons();
            default:
                return url -> 'A';
        }
    }

    private byte[] verdicts(List<String> urls) throws IOException {
        Decider decider = decider();
        byte[] verdicts = new byte[urls.size()];
        for (int at = 0; at < verdicts.length; at++) {
            verdicts[at] = (byte) decider.decide(urls.get(at));
        }
        return verdicts;
    }

    public static void main(String[] arguments) throws IOException {
        Beside beside = new Beside(arguments);
        List<String> urls = Files.readAllLines(Path.of(arguments[2]), StandardCharsets.UTF_8);
        beside.verdicts(urls);
        long cpu = MACHINE.getProcessCpuTime();
        long begin = System.nanoTime();
        byte[] verdicts = beside.verdicts(urls);
        double seconds = (System.nanoTime() - begin) / 1e9;
        double processor = (MACHINE.getProcessCpuTime() - cpu) / 1e9;
        Files.write(Path.of(arguments[7]), verdicts);
        System.out.println(seconds + " " + processor);
        System.out.println(Files.readString(Path.of("/proc/self/status")));
    }
}
