package reptile;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Compares scopes with {@code reptile classify --scope}, row by row. */
final class ScopeTest {
    /** The part of the Public Suffix List that the test's hosts need. */
    private static final List<String> SUFFIXES = Arrays.asList("com", "uk", "co.uk", "io", "github.io", "example");

    private ScopeTest() {}

    static void run(Path folder) throws Exception {
        Check.equal(Optional.of(Scope.WWW), Scope.fromName("www"), "a name");
        Check.equal(Optional.empty(), Scope.fromName("domain"), "a scope that needs a function");
        Agent agent = CompiledSet.open(folder.resolve("scope.reptile")).agent("GPTBot");
        functions(agent);
        List<String> urls = Check.rows(folder.resolve("scope.urls")).stream().map(row -> row[0]).collect(Collectors.toList());
        Map<String, Long> decided = new LinkedHashMap<>();
        for (Scope scope : Arrays.asList(Scope.ORIGIN, Scope.SCHEME, Scope.WWW, Scope.domain(ScopeTest::registered))) {
            List<String[]> expected = Check.rows(folder.resolve(scope + ".tsv"));
            Check.equal(urls.size(), expected.size(), "rows of " + scope);
            List<Verdict> verdicts = scope.decideAll(agent, urls);
            for (int row = 0; row < urls.size(); row++) {
                Explanation explained = scope.explain(agent, urls.get(row));
                String[] cells = expected.get(row);
                int of = cells[2].indexOf(", of ");
                Object wanted = Arrays.asList(
                        Check.verdict(cells[0]), Check.verdict(cells[0]), cells[1], of < 0 ? null : cells[2].substring(of + 5));
                Object found = Arrays.asList(
                        verdicts.get(row), explained.verdict(), String.valueOf(explained.line()), explained.standIn().orElse(null));
                Check.equal(wanted, found, scope + " " + urls.get(row));
                Check.equal(explained.standIn().isPresent(), explained.toString().contains(", of "), "the text of " + explained);
            }
            decided.put(scope.name(), verdicts.stream().filter(verdict -> verdict != Verdict.UNKNOWN && verdict != Verdict.INVALID).count());
        }
        System.out.println("verdicts by scope for " + urls.size() + " URLs: " + decided);
        Check.equal(4L, decided.values().stream().distinct().count(), "each scope decides more URLs than the one before it");
    }

    /** Checks the hosts that a registered-domain function receives, and which of its results count. */
    private static void functions(Agent agent) {
        Map<String, String> seen = new HashMap<>();
        // The set has http://example.com, which answered with 503, and http://www.plain.com.
        String[] results = {null, "", "com", "plain.com", "ample.com", "EXAMPLE.com", "a.example.com", "example.com"};
        for (String result : results) {
            UnaryOperator<String> function = host -> {
                seen.put(host, result);
                return result;
            };
            boolean counts = "example.com".equals(result);
            Verdict expected = counts ? Verdict.DISALLOW : Verdict.UNKNOWN;
            Check.equal(expected, Scope.domain(function).decide(agent, "http://A.Example.com./"), "a domain " + result);
        }
        Check.equal("[a.example.com]", seen.keySet().toString(), "hosts that the function gets");
        UnaryOperator<String> fails = host -> {
            throw new IllegalArgumentException(host);
        };
        Check.refused(IllegalArgumentException.class, () -> Scope.domain(fails).decide(agent, "http://a.example/"), "a failing function");
        for (String url : new String[] {"http://5.6.7.8/", "http://[::1]/", "ftp://a.example/", "http://a.example:8080/", "mailto:a"}) {
            Check.equal(url.startsWith("mailto") ? Verdict.INVALID : Verdict.UNKNOWN, Scope.domain(fails).decide(agent, url), url);
        }
    }

    /** Returns the longest suffix of a host with the label before it, or null if there is no such label. */
    static String registered(String host) {
        String found = null;
        for (String suffix : SUFFIXES) {
            if (host.equals(suffix)) {
                return null;
            }
            if (host.endsWith("." + suffix) && (found == null || suffix.length() > found.length())) {
                found = suffix;
            }
        }
        if (found == null) {
            return null;
        }
        int label = host.lastIndexOf('.', host.length() - found.length() - 2);
        return host.substring(label + 1);
    }
}
