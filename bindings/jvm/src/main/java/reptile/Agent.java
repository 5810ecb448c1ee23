package reptile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A crawler, resolved against one set. Immutable, and safe for use by any number of threads at once.
 *
 * <p>{@link CompiledSet#agent} creates agents. All queries go through an agent, so a crawler cannot be used with a set
 * that did not resolve it.
 *
 * <p>A null URL is a missing value, as in a table: its verdict and its explanation are null, and no exception is
 * thrown. {@link Scope} decides URLs by related origins if the set has no robots.txt for their own.
 */
public final class Agent {
    private final CompiledSet set;
    private final String name;
    private final List<String> tokens;
    /** Numbers of the product tokens that the set's files name, in chain order. */
    private final long[][] steps;
    private final boolean honorsDefaultGroup;

    Agent(CompiledSet set, String name, List<String> tokens, long[][] steps, boolean honorsDefaultGroup) {
        this.set = set;
        this.name = name;
        this.tokens = Collections.unmodifiableList(tokens);
        this.steps = steps;
        this.honorsDefaultGroup = honorsDefaultGroup;
    }

    /**
     * Returns the verdict for one URL. A malformed URL is not an error; it yields {@link Verdict#INVALID}.
     *
     * <p>Time: one pass over the URL, one origin lookup, one walk over the path.
     *
     * @param url an absolute URL, or null
     * @return the verdict, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdict decide(String url) {
        return url == null ? null : decide(Url.split(url));
    }

    /**
     * Returns the verdict for one URL given as bytes.
     *
     * @param url an absolute URL in UTF-8, or null
     * @return the verdict, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdict decide(byte[] url) {
        return url == null ? null : decide(Url.split(url));
    }

    private Verdict decide(Url url) {
        if (url == null) {
            return Verdict.INVALID;
        }
        long record = set.find(url);
        return record < 0 ? Verdict.UNKNOWN : set.verdict(this, set.policyOf(record), url);
    }

    /**
     * Returns the verdicts for many URLs, in the same order.
     *
     * @param urls the URLs; any of them may be null
     * @return one verdict per URL; null for a null URL
     * @throws NullPointerException if the list is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Verdict> decideAll(List<String> urls) {
        List<Verdict> verdicts = new ArrayList<>(urls.size());
        for (String url : urls) {
            verdicts.add(decide(url));
        }
        return verdicts;
    }

    /**
     * Returns the verdict for one URL by the rules that were active at a time. The verdict is {@link Verdict#UNKNOWN}
     * before the first capture of the origin.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return the verdict, or null if the URL is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdict decideAt(String url, long time) {
        set.checkTimes();
        return url == null ? null : site(Scope.ORIGIN, url, time).verdict(this);
    }

    /**
     * Returns the verdict for one URL with its reasons, including the deciding rule and its line.
     *
     * @param url an absolute URL, or null
     * @return the explanation, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Explanation explain(String url) {
        return url == null ? null : site(Scope.ORIGIN, url, null).explain(this);
    }

    /**
     * Returns the verdict for one URL given as bytes, with its reasons.
     *
     * @param url an absolute URL in UTF-8, or null
     * @return the explanation, or null if the URL is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Explanation explain(byte[] url) {
        return url == null ? null : Site.find(set, url).explain(this);
    }

    /**
     * Returns the verdict for one URL by the rules that were active at a time, with its reasons.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return the explanation, or null if the URL is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Explanation explainAt(String url, long time) {
        set.checkTimes();
        return url == null ? null : site(Scope.ORIGIN, url, time).explain(this);
    }

    /**
     * Returns what the website permits for a page. A use is {@link Preference#NOT_APPLICABLE} if the page must not be
     * fetched, and {@link Preference#UNKNOWN} if the set has no robots.txt for the URL or the text is not a URL.
     *
     * <p>Time: {@link #decide(String)}, and a second walk over the path if the group has usage rules with paths.
     *
     * @param url an absolute URL, or null
     * @param uses the uses
     * @return one preference per use, or null if the URL is null
     * @throws NullPointerException if the uses are null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Preference> usage(String url, Uses uses) {
        Objects.requireNonNull(uses, "the uses");
        return url == null ? null : Arrays.asList(site(Scope.ORIGIN, url, null).usage(this, uses));
    }

    /**
     * Returns what the website permitted for a page at a time, by the robots.txt that applied then.
     *
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @param uses the uses
     * @return one preference per use, or null if the URL is null
     * @throws NullPointerException if the uses are null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Preference> usageAt(String url, long time, Uses uses) {
        Objects.requireNonNull(uses, "the uses");
        set.checkTimes();
        return url == null ? null : Arrays.asList(site(Scope.ORIGIN, url, time).usage(this, uses));
    }

    /** Decides a path by an origin's robots.txt, whatever host the text names. For conformance tests. */
    Explanation explainPath(String origin, byte[] text) {
        long record = set.find(Url.split(origin));
        return record < 0 ? Explanation.NO_ROBOTS_TXT : set.explain(this, set.policyOf(record), Url.pathOf(text));
    }

    /** Like {@link #explainPath}, without naming a rule. */
    Verdict decidePath(String origin, byte[] text) {
        long record = set.find(Url.split(origin));
        return record < 0 ? Verdict.UNKNOWN : set.verdict(this, set.policyOf(record), Url.pathOf(text));
    }

    /**
     * Returns the name that the agent was created with.
     *
     * @return the name as given
     */
    public String name() {
        return name;
    }

    /**
     * Returns the product tokens that the crawler obeys, the most specific first.
     *
     * @return an unmodifiable list
     */
    public List<String> tokens() {
        return tokens;
    }

    /**
     * Returns whether the crawler obeys the default group ({@code *}) where no group names it.
     *
     * @return true if so
     */
    public boolean honorsDefaultGroup() {
        return honorsDefaultGroup;
    }

    /**
     * Returns whether any robots.txt in the set names the crawler.
     *
     * @return true if so
     */
    public boolean isNamed() {
        return steps.length > 0;
    }

    /**
     * Returns the probable mistake in the name: no robots.txt in the set contains it, and it differs by one letter from
     * a known crawler, such as {@code Googelbot}, or is the name of an operator or a product, such as {@code ChatGPT}.
     *
     * @return the end of a sentence, such as {@code which is nearly the crawler "Googlebot": write that}; empty if the
     *     name is probably right
     */
    public Optional<String> mistake() {
        return isNamed() ? Optional.empty() : Optional.ofNullable(set.mistake(name));
    }

    /** Returns whether the crawler obeys no robots.txt at all. */
    boolean isFree() {
        return tokens.isEmpty() && !honorsDefaultGroup;
    }

    /** Returns the site that decides a URL in a scope at a time, or at the set's own time if {@code time} is null. */
    Site site(Scope scope, String url, Long time) {
        return Site.find(set, scope, url, time);
    }

    void checkTimes() {
        set.checkTimes();
    }

    int[] groups(Policy policy, boolean matchesContained) {
        return Group.choose(policy, steps, honorsDefaultGroup, matchesContained);
    }

    /** Returns the name and the product tokens, such as {@code Googlebot-Image (Googlebot-Image>Googlebot>*)}. */
    @Override
    public String toString() {
        List<String> chain = new ArrayList<>(tokens);
        if (honorsDefaultGroup) {
            chain.add("*");
        }
        return name + " (" + String.join(">", chain) + ")";
    }
}
