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
        CompiledSet set = CompiledSet.open(golden.resolve("google.set"));
        Agent agent = set.agent("GPTBot");
        Verdict known = agent.decide(URL);
        Check.that(known != null, "a verdict");
        batches(agent, known);
        Check.equal(null, agent.decide(NO_URL), "decide");
        Check.equal(null, agent.decide(NO_BYTES), "decide bytes");
        Check.equal(null, agent.explain(NO_URL), "explain");
        Check.equal(null, agent.explain(NO_BYTES), "explain bytes");
        Agents agents = set.agents("GPTBot", "*");
        Check.equal(null, agents.decide(NO_URL), "several crawlers");
        Check.equal(Arrays.asList(known, known), agents.decide(URL).toList(), "several crawlers");
        Check.equal(null, agents.decideAll(Arrays.asList(URL, null)).get(1), "several crawlers and URLs");
        Check.equal(null, agents.explain(null), "several explanations");
        Check.equal(null, agents.usage(null, Uses.usage("search")), "several crawlers' uses");
        Check.equal(null, set.rowAgents().agents(null).decide(null), "a row without a crawler and a URL");
        Check.equal("[UNKNOWN]", set.rowAgents().agents(null).decide(URL).toList().toString(), "a row without a crawler");
        Check.equal(Optional.empty(), set.agentOfHeader(null), "a request without a User-Agent");
        Agent byTime = CompiledSet.open(data.resolve("time/years.reptile")).agent("GPTBot");
        Check.equal(null, byTime.decideAt(null, 0), "decide at a time");
        Check.equal(null, byTime.explainAt(NO_URL, 0), "explain at a time");
        Agents byTimes = CompiledSet.open(data.resolve("time/years.reptile")).agents("GPTBot");
        Check.equal(null, byTimes.decideAt(null, 0), "several crawlers at a time");
        Check.equal(null, byTimes.explainAt(null, 0), "several explanations at a time");
        Check.equal(null, byTimes.usageAt(null, 0, Uses.usage("search")), "several crawlers' uses at a time");
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
        Check.refused(NullPointerException.class, () -> set.agents("GPTBot", null), "a null name");
        Check.refused(NullPointerException.class, () -> agents.in(null), "a null scope");
        Check.refused(NullPointerException.class, () -> agents.forPurpose(null), "a null purpose");
        Check.refused(NullPointerException.class, () -> agents.usage(null, null), "null uses");
        Check.refused(NullPointerException.class, () -> Purpose.of(Uses.usage("search"), null), "a null meaning");
        Check.refused(NullPointerException.class, () -> CompiledSet.shared(null), "a null path");
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
