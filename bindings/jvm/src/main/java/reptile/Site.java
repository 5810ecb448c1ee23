package reptile;

/** A URL with the policy that decides it: its origin's, or another origin's in a {@link Scope}. */
final class Site {
    private final CompiledSet set;
    /** The URL that is decided, or null if the text is not a URL. */
    private final Url url;
    /** The origin's policy, or null if the set has none. */
    private final Policy policy;
    /** The origin that decides instead of the URL's own, or null. */
    private final String standIn;

    private Site(CompiledSet set, Url url, Policy policy, String standIn) {
        this.set = set;
        this.url = url;
        this.policy = policy;
        this.standIn = standIn;
    }

    /** Returns the site that decides a split URL, which may be null, at a time, or at the set's own if that is null. */
    static Site find(CompiledSet set, Scope scope, Url url, Long time) {
        if (time != null) {
            set.checkTimes();
        }
        Policy own = url == null ? null : set.policy(url, time);
        if (url == null || own != null || scope == Scope.ORIGIN) {
            return new Site(set, url, own, null);
        }
        for (Scope.StandIn other : scope.standIns(url)) {
            // Adding `www.` may make a host or a URL too long.
            Url replaced = Url.split(other.url);
            Policy policy = replaced == null ? null : set.policy(replaced, time);
            if (policy != null) {
                return new Site(set, replaced, policy, other.origin);
            }
        }
        return new Site(set, url, null, null);
    }

    Verdict verdict(Agent agent) {
        if (policy == null) {
            return url == null ? Verdict.INVALID : Verdict.UNKNOWN;
        }
        return set.verdict(agent, policy, url);
    }

    Explanation explain(Agent agent) {
        if (policy == null) {
            return url == null ? Explanation.NOT_A_URL : Explanation.NO_ROBOTS_TXT;
        }
        Explanation explained = set.explain(agent, policy, url);
        return standIn == null ? explained : explained.by(standIn);
    }

    Preference[] usage(Agent agent, Uses uses) {
        return policy == null ? uses.unknown() : set.usage(agent, policy, url, uses);
    }
}
