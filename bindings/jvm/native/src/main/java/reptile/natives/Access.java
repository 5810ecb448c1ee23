package reptile.natives;

import java.util.Optional;

/** A crawler's access to an origin: a row of {@code reptile summarize}, with its columns and words. */
public final class Access {
    private final String url;
    private final String agent;
    private final String access;
    private final String group;
    private final long allowRules;
    private final long disallowRules;
    private final String reason;
    private final String allowedPath;
    private final String disallowedPath;

    Access(
            String url,
            String agent,
            String access,
            String group,
            long allowRules,
            long disallowRules,
            String reason,
            String allowedPath,
            String disallowedPath) {
        this.url = url;
        this.agent = agent;
        this.access = access;
        this.group = group;
        this.allowRules = allowRules;
        this.disallowRules = disallowRules;
        this.reason = reason;
        this.allowedPath = allowedPath;
        this.disallowedPath = disallowedPath;
    }

    /**
     * Returns the origin.
     *
     * @return its root URL, such as {@code https://example.com/}, or the given text if the access is {@code invalid}
     */
    public String url() {
        return url;
    }

    /**
     * Returns the crawler.
     *
     * @return its name, as given
     */
    public String agent() {
        return agent;
    }

    /**
     * Returns the access, over all possible URLs of the origin.
     *
     * @return {@code allowed}, {@code disallowed} (except {@code /robots.txt}), {@code partial}; {@code unproved} if
     *     the proof would take too long; {@code unknown} if the set has no robots.txt for the origin; or
     *     {@code invalid} for a text that is neither a URL nor a host
     */
    public String access() {
        return access;
    }

    /**
     * Returns why the group applies to the crawler.
     *
     * @return {@code named}, {@code default} or {@code none}
     */
    public String group() {
        return group;
    }

    /**
     * Returns the number of Allow rules in the crawler's groups.
     *
     * @return the number
     */
    public long allowRules() {
        return allowRules;
    }

    /**
     * Returns the number of Disallow rules in the crawler's groups.
     *
     * @return the number
     */
    public long disallowRules() {
        return disallowRules;
    }

    /**
     * Returns the reason, in the words of {@code reptile classify --columns reason}.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }

    /**
     * Returns a shortest allowed path, for {@code partial}.
     *
     * @return empty for other access, except that {@code unproved} may have one
     */
    public Optional<String> allowedPath() {
        return Optional.ofNullable(allowedPath);
    }

    /**
     * Returns a shortest disallowed path, for {@code partial}.
     *
     * @return empty for other access, except that {@code unproved} may have one
     */
    public Optional<String> disallowedPath() {
        return Optional.ofNullable(disallowedPath);
    }

    /**
     * Returns the origin, the crawler and the access.
     *
     * @return for instance {@code https://example.com/ GPTBot partial}
     */
    @Override
    public String toString() {
        return url + " " + agent + " " + access;
    }
}
