package reptile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A crawler, resolved by the set that it asks. Immutable, and safe to use by any number of threads at once.
 *
 * <p>{@link CompiledSet#agent} makes one. Every question goes through the agent, so no crawler can be used with a set that did not
 * resolve it.
 */
public final class Agent {
    private final CompiledSet set;
    private final String name;
    private final List<String> tokens;
    /** The numbers of the product tokens that files of the set name, in the order of the chain. */
    private final long[][] steps;
    private final boolean honoursDefaultGroup;

    Agent(CompiledSet set, String name, List<String> tokens, long[][] steps, boolean honoursDefaultGroup) {
        this.set = set;
        this.name = name;
        this.tokens = Collections.unmodifiableList(tokens);
        this.steps = steps;
        this.honoursDefaultGroup = honoursDefaultGroup;
    }

    /**
     * The verdict for one URL. A malformed URL is not an error; it yields {@link Verdict#INVALID}.
     *
     * <p>Time: one pass over the URL, one look-up of its origin, one walk over its path.
     *
     * @param url the URL, absolute
     * @return the verdict
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Verdict decide(String url) {
        return decide(Url.split(url));
    }

    /**
     * The verdict for one URL that is given as bytes.
     *
     * @param url the URL, absolute, in UTF-8 where it is not ASCII
     * @return the verdict
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Verdict decide(byte[] url) {
        return decide(Url.split(url));
    }

    private Verdict decide(Url url) {
        if (url == null) {
            return Verdict.INVALID;
        }
        long record = set.find(url);
        return record < 0 ? Verdict.UNKNOWN : set.verdict(this, set.policyOf(record), url);
    }

    /**
     * The verdicts for many URLs, in their order.
     *
     * @param urls the URLs
     * @return as many verdicts as URLs
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public List<Verdict> decideAll(List<String> urls) {
        List<Verdict> verdicts = new ArrayList<>(urls.size());
        for (String url : urls) {
            verdicts.add(decide(url));
        }
        return verdicts;
    }

    /**
     * The verdict for one URL by the rules that were in force at a time: {@link Verdict#UNKNOWN} before the first capture of its
     * origin.
     *
     * @param url the URL, absolute
     * @param time seconds since 1970
     * @return the verdict
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Verdict decideAt(String url, long time) {
        return explainAt(url, time).verdict();
    }

    /**
     * The verdict for one URL with its reasons: the rule that decided, and its line.
     *
     * @param url the URL, absolute
     * @return the explanation
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Explanation explain(String url) {
        return explain(Url.split(url));
    }

    /**
     * The verdict for one URL that is given as bytes, with its reasons.
     *
     * @param url the URL, absolute, in UTF-8 where it is not ASCII
     * @return the explanation
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Explanation explain(byte[] url) {
        return explain(Url.split(url));
    }

    private Explanation explain(Url url) {
        if (url == null) {
            return new Explanation(Verdict.INVALID, Reason.NOT_A_URL);
        }
        long record = set.find(url);
        return record < 0 ? unknown() : set.explain(this, set.policyOf(record), url);
    }

    /**
     * The verdict for one URL by the rules that were in force at a time, with its reasons.
     *
     * @param url the URL, absolute
     * @param time seconds since 1970
     * @return the explanation
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Explanation explainAt(String url, long time) {
        if (!set.isByTime()) {
            throw new IllegalStateException("the set was not compiled by time (reptile compile --by-time)");
        }
        Url split = Url.split(url);
        if (split == null) {
            return new Explanation(Verdict.INVALID, Reason.NOT_A_URL);
        }
        long record = set.find(split);
        Policy policy = record < 0 ? null : set.policyAt(record, time);
        return policy == null ? unknown() : set.explain(this, policy, split);
    }

    /** Decides the path of any text by the robots.txt of an origin, whatever host the text names: for conformance tests. */
    Explanation explainPath(String origin, byte[] text) {
        long record = set.find(Url.split(origin));
        return record < 0 ? unknown() : set.explain(this, set.policyOf(record), Url.pathOf(text));
    }

    /** Does the work of {@link #explainPath} without naming a rule. */
    Verdict decidePath(String origin, byte[] text) {
        long record = set.find(Url.split(origin));
        return record < 0 ? Verdict.UNKNOWN : set.verdict(this, set.policyOf(record), Url.pathOf(text));
    }

    private static Explanation unknown() {
        return new Explanation(Verdict.UNKNOWN, Reason.NO_ROBOTS_TXT);
    }

    /**
     * The name that the agent was asked for.
     *
     * @return the name as given
     */
    public String name() {
        return name;
    }

    /**
     * The product tokens that the crawler obeys, the most specific first.
     *
     * @return an unmodifiable list
     */
    public List<String> tokens() {
        return tokens;
    }

    /**
     * Whether the crawler obeys the default group ({@code *}) where no group names it.
     *
     * @return true if so
     */
    public boolean honoursDefaultGroup() {
        return honoursDefaultGroup;
    }

    /**
     * Whether any robots.txt of the set names the crawler.
     *
     * @return true if so
     */
    public boolean isNamed() {
        return steps.length > 0;
    }

    /** Whether the crawler obeys no robots.txt at all. */
    boolean isFree() {
        return tokens.isEmpty() && !honoursDefaultGroup;
    }

    boolean isOf(CompiledSet other) {
        return set == other;
    }

    int[] groups(Policy policy, boolean matchesContained) {
        return Group.choose(policy, steps, honoursDefaultGroup, matchesContained);
    }
}
