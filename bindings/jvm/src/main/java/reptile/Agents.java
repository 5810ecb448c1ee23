package reptile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Several crawlers, resolved against one set, with a scope and a purpose. A URL is split and its origin looked up once
 * for all of them. Immutable, and safe for use by any number of threads at once.
 *
 * <pre>{@code
 * Agents agents = set.agents("GPTBot", "@ai-training").in(Scope.WWW);
 * Verdicts verdicts = agents.decide("https://example.com/private/1");
 * List<String> refused = verdicts.refused().orElse(null);
 * }</pre>
 *
 * <p>A null URL is a missing value: every answer is null.
 */
public final class Agents {
    private final CompiledSet set;
    private final List<Agent> agents;
    private final List<String> names;
    private final Scope scope;
    /** Null if only the fetch counts. */
    private final Purpose purpose;
    /** Whether these represent a row that names no crawler. The only agent then separates invalid URLs from others. */
    private final boolean isNobody;

    private Agents(CompiledSet set, List<Agent> agents, List<String> names, Scope scope, Purpose purpose, boolean isNobody) {
        this.set = set;
        this.agents = agents;
        this.names = names;
        this.scope = scope;
        this.purpose = purpose;
        this.isNobody = isNobody;
    }

    static Agents of(CompiledSet set, List<Agent> agents) {
        List<String> names = agents.stream().map(Agent::name).collect(Collectors.toList());
        return new Agents(
                set, Collections.unmodifiableList(agents), Collections.unmodifiableList(names), Scope.ORIGIN, null, false);
    }

    /** Returns the agents for a row that names no crawler. */
    static Agents nobody(CompiledSet set) {
        return new Agents(
                set, Collections.singletonList(set.agentExactly("*")), Collections.singletonList(""), Scope.ORIGIN, null, true);
    }

    /**
     * Returns the same crawlers in a scope.
     *
     * @param scope the origins that may decide a URL
     * @return the crawlers
     * @throws NullPointerException if the scope is null
     */
    public Agents in(Scope scope) {
        return new Agents(set, agents, names, Objects.requireNonNull(scope, "the scope"), purpose, isNobody);
    }

    /**
     * Returns the same crawlers for a purpose: {@link Verdicts#refused}, {@link Verdicts#mask} and
     * {@link Verdicts#forPurpose} then follow the single verdict for the fetch and the use.
     *
     * @param purpose the purpose
     * @return the crawlers
     * @throws NullPointerException if the purpose is null
     */
    public Agents forPurpose(Purpose purpose) {
        return new Agents(set, agents, names, scope, Objects.requireNonNull(purpose, "the purpose"), isNobody);
    }

    /** Returns these crawlers with the scope and the purpose of {@code others}. */
    Agents like(Agents others) {
        return new Agents(set, agents, names, others.scope, others.purpose, isNobody);
    }

    /**
     * Returns the crawlers.
     *
     * @return an unmodifiable list; empty for a row that names no crawler ({@link RowAgents})
     */
    public List<Agent> toList() {
        return isNobody ? Collections.emptyList() : agents;
    }

    /**
     * Returns the crawlers' names, as given or as in their group.
     *
     * @return an unmodifiable list, with an empty name for a row that names no crawler ({@link RowAgents})
     */
    public List<String> names() {
        return names;
    }

    /**
     * Returns the verdicts for one URL.
     *
     * <p>Time: one pass over the URL, one origin lookup, and a walk over the path for each crawler.
     *
     * @param url an absolute URL, or null
     * @return a verdict for each crawler, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdicts decide(String url) {
        return url == null ? null : decide(site(url, null));
    }

    /**
     * Returns the verdicts for many URLs, in the same order.
     *
     * @param urls the URLs; any of them may be null
     * @return the verdicts for each URL; null for a null URL
     * @throws NullPointerException if the list is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Verdicts> decideAll(List<String> urls) {
        List<Verdicts> verdicts = new ArrayList<>(urls.size());
        for (String url : urls) {
            verdicts.add(decide(url));
        }
        return verdicts;
    }

    /**
     * Returns the verdicts for one URL by the rules that were active at a time.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return a verdict for each crawler, or null if the URL is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdicts decideAt(String url, long time) {
        set.checkTimes();
        return url == null ? null : decide(site(url, time));
    }

    /**
     * Returns the verdicts for one URL with their reasons. A purpose changes nothing here.
     *
     * @param url an absolute URL, or null
     * @return an explanation for each crawler, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Explanation> explain(String url) {
        return url == null ? null : explain(site(url, null));
    }

    /**
     * Returns the verdicts for one URL by the rules that were active at a time, with their reasons.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return an explanation for each crawler, or null if the URL is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Explanation> explainAt(String url, long time) {
        set.checkTimes();
        return url == null ? null : explain(site(url, time));
    }

    /**
     * Returns what the website permits for a page.
     *
     * @param url an absolute URL, or null
     * @param uses the uses
     * @return for each crawler, one preference per use; null if the URL is null
     * @throws NullPointerException if the uses are null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<List<Preference>> usage(String url, Uses uses) {
        Objects.requireNonNull(uses, "the uses");
        return url == null ? null : usage(site(url, null), uses);
    }

    /**
     * Returns what the website permitted for a page at a time, by the robots.txt that applied then.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @param uses the uses
     * @return for each crawler, one preference per use; null if the URL is null
     * @throws NullPointerException if the uses are null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<List<Preference>> usageAt(String url, long time, Uses uses) {
        Objects.requireNonNull(uses, "the uses");
        set.checkTimes();
        return url == null ? null : usage(site(url, time), uses);
    }

    private Site site(String url, Long time) {
        return Site.find(set, scope, url, time);
    }

    private Verdicts decide(Site site) {
        Verdict[] fetch = new Verdict[agents.size()];
        Verdict[] single = purpose == null ? fetch : new Verdict[fetch.length];
        for (int place = 0; place < fetch.length; place++) {
            Agent agent = agents.get(place);
            Verdict verdict = site.verdict(agent);
            fetch[place] = isNobody && verdict != Verdict.INVALID ? Verdict.UNKNOWN : verdict;
            if (purpose != null) {
                single[place] = purpose.verdict(site, agent, fetch[place]);
            }
        }
        return new Verdicts(names, fetch, single);
    }

    private List<Explanation> explain(Site site) {
        return each(agent -> {
            Explanation explained = site.explain(agent);
            return isNobody && explained.verdict() != Verdict.INVALID ? Explanation.NO_CRAWLER : explained;
        });
    }

    private List<List<Preference>> usage(Site site, Uses uses) {
        return each(agent -> Arrays.asList(isNobody ? uses.unknown() : site.usage(agent, uses)));
    }

    private <T> List<T> each(Function<Agent, T> answer) {
        return agents.stream().map(answer).collect(Collectors.toList());
    }

    /** Returns the crawlers' names, separated by commas, and the scope and the purpose if there are any. */
    @Override
    public String toString() {
        return String.join(", ", names) + (scope == Scope.ORIGIN ? "" : ", in the scope " + scope)
                + (purpose == null ? "" : ", for " + purpose);
    }
}
