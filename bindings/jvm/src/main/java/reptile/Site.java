package reptile;

/** A URL with the policy that decides it: its origin's, or another origin's in a {@link Scope}. */
final class Site {
    private final CompiledSet set;
    /** The URL that is decided, or null if the text is invalid. */
    private final Url url;
    /** The origin's policy, or null if the set has none. */
    private final Policy policy;
    /** The origin that decides instead of the URL's own, or null. */
    private final String standIn;
    /** The explanation of a verdict without a policy. */
    private final Explanation undecided;

    private Site(CompiledSet set, Url url, Policy policy, String standIn, Explanation undecided) {
        this.set = set;
        this.url = url;
        this.policy = policy;
        this.standIn = standIn;
        this.undecided = undecided;
    }

    /** Returns the site that decides a URL in a scope at a time, or at the set's own time if {@code time} is null. */
    static Site find(CompiledSet set, Scope scope, String text, Long time) {
        Url url = Url.split(text);
        return url == null ? invalid(set, Url.isLong(text)) : find(set, scope, url, time);
    }

    /** Returns the site that decides a URL given as bytes. */
    static Site find(CompiledSet set, byte[] text) {
        Url url = Url.split(text);
        return url == null ? invalid(set, text.length > Url.MAX_URL_BYTES) : find(set, Scope.ORIGIN, url, null);
    }

    private static Site invalid(CompiledSet set, boolean isLong) {
        return new Site(set, null, null, null, isLong ? Explanation.LONG_URL : Explanation.NOT_A_URL);
    }

    private static Site find(CompiledSet set, Scope scope, Url url, Long time) {
        Policy own = set.policy(url, time);
        if (own != null || scope == Scope.ORIGIN) {
            return new Site(set, url, own, null, Explanation.NO_ROBOTS_TXT);
        }
        for (Scope.StandIn other : scope.standIns(url)) {
            // Adding `www.` may make a host or a URL too long.
            Url replaced = Url.split(other.url);
            Policy policy = replaced == null ? null : set.policy(replaced, time);
            if (policy != null) {
                return new Site(set, replaced, policy, other.origin, null);
            }
        }
        return new Site(set, url, null, null, Explanation.NO_ROBOTS_TXT);
    }

    Verdict verdict(Agent agent) {
        return policy == null ? undecided.verdict() : set.verdict(agent, policy, url);
    }

    Explanation explain(Agent agent) {
        if (policy == null) {
            return undecided;
        }
        Explanation explained = set.explain(agent, policy, url);
        return standIn == null ? explained : explained.by(standIn);
    }

    Preference[] usage(Agent agent, Uses uses) {
        return usage(agent, uses, verdict(agent));
    }

    /** Returns the preferences for an agent whose verdict for the fetch is known. */
    Preference[] usage(Agent agent, Uses uses, Verdict fetch) {
        return policy == null ? uses.unknown() : set.usage(agent, policy, url, uses, fetch);
    }
}
