package reptile;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A null URL is a missing value: null in, null out, everywhere. */
final class NullTest {
    private static final String URL = "https://shop.example.com/cart?item=17";
    private static final String NO_URL = null;
    private static final byte[] NO_BYTES = null;

    private NullTest() {}

    static void run(Path golden, Path data) throws Exception {
        CompiledSet set = CompiledSet.open(golden.resolve("v3/google.set"));
        Agent agent = set.agent("GPTBot");
        Verdict known = agent.decide(URL);
        Check.that(known != null, "a verdict");
        batches(agent, known);
        Check.equal(null, agent.decide(NO_URL), "decide");
        Check.equal(null, agent.decide(NO_BYTES), "decide bytes");
        Check.equal(null, agent.explain(NO_URL), "explain");
        Check.equal(null, agent.explain(NO_BYTES), "explain bytes");
        Check.equal(Arrays.asList(null, null), Arrays.asList(set.decide(Arrays.asList(agent, agent), NO_URL)), "several crawlers");
        Check.equal(Arrays.asList(known, known), Arrays.asList(set.decide(Arrays.asList(agent, agent), URL)), "several crawlers");
        Check.equal(0, set.decide(Collections.emptyList(), NO_URL).length, "no crawler");
        Check.equal(Optional.empty(), set.agentOfHeader(null), "a request without a User-Agent");
        Agent byTime = CompiledSet.open(data.resolve("time/years.reptile")).agent("GPTBot");
        Check.equal(null, byTime.decideAt(null, 0), "decide at a time");
        Check.equal(null, byTime.explainAt(NO_URL, 0), "explain at a time");
        for (Scope scope : Arrays.asList(Scope.ORIGIN, Scope.SCHEME, Scope.WWW, Scope.domain(host -> host))) {
            Check.equal(null, scope.decide(agent, null), scope + ": decide");
            Check.equal(null, scope.explain(agent, null), scope + ": explain");
            Check.equal(Arrays.asList(null, known, null), scope.decideAll(agent, Arrays.asList(null, URL, null)), scope + ": decideAll");
            Check.equal(null, scope.decideAt(byTime, null, 0), scope + ": decide at a time");
            Check.equal(null, scope.explainAt(byTime, null, 0), scope + ": explain at a time");
        }
        // Arguments that are not data must not be null.
        Check.refused(NullPointerException.class, () -> set.agent(null), "a null name");
        Check.refused(NullPointerException.class, () -> set.agentExactly(null), "a null name");
        Check.refused(NullPointerException.class, () -> set.agentOfTokens(Arrays.asList("A", null), true), "a null token");
        Check.refused(NullPointerException.class, () -> agent.decideAll(null), "a null list");
        Check.refused(NullPointerException.class, () -> Scope.domain(null), "a null function");
        Check.refused(NullPointerException.class, () -> set.decide(Arrays.asList(agent, null), URL), "a null crawler");
    }

    private static void batches(Agent agent, Verdict known) {
        Object[][] table = {
            {Collections.emptyList(), Collections.emptyList()},
            {Collections.nCopies(1000, NO_URL), Collections.nCopies(1000, null)},
            {Arrays.asList(NO_URL, URL, NO_URL, URL), Arrays.asList(null, known, null, known)},
            {Arrays.asList(URL, "", NO_URL), Arrays.asList(known, Verdict.INVALID, null)},
        };
        // The function of README.md for Spark: `Option(Rules.agent.decide(url)).map(_.name).orNull`.
        Function<String, String> udf = url -> Optional.ofNullable(agent.decide(url)).map(Verdict::name).orElse(null);
        for (Object[] row : table) {
            @SuppressWarnings("unchecked")
            List<String> urls = (List<String>) row[0];
            List<Verdict> verdicts = agent.decideAll(urls);
            Check.equal(row[1], verdicts, urls.size() + " URLs");
            List<String> names = verdicts.stream().map(verdict -> verdict == null ? null : verdict.name()).collect(Collectors.toList());
            Check.equal(names, urls.stream().map(udf).collect(Collectors.toList()), "the function for Spark");
        }
    }
}
