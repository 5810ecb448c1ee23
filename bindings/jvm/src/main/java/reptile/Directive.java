package reptile;

/** A line of a robots.txt that decides no URL: a sitemap, a delay, or a line with an unknown key. */
public final class Directive {
    private final Kind kind;
    private final State state;
    private final long line;
    private final byte[] key;
    private final byte[] value;

    /** The kind of line. The names are those of {@code reptile fields --kind}, in upper case. */
    public enum Kind {
        /** {@code Sitemap}: the URL of a sitemap. */
        SITEMAP,
        /** {@code Crawl-delay}: seconds between two requests. */
        CRAWL_DELAY,
        /** {@code Request-rate}: requests per period, possibly limited to some hours. */
        REQUEST_RATE,
        /** {@code Visit-time}: the permitted hours. */
        VISIT_TIME,
        /** {@code Host}: a site's main host. */
        HOST,
        /** {@code Clean-param}: URL parameters that do not change the page. */
        CLEAN_PARAM,
        /** {@code Content-Signal}: permitted uses of fetched content. */
        CONTENT_SIGNAL,
        /** {@code Content-Usage}: IETF usage preferences, for one path or all paths. */
        CONTENT_USAGE,
        /** {@code Noindex}: paths to leave out of an index. */
        NOINDEX,
        /** An unknown key: {@link Directive#key}. */
        OTHER,
        /** The comment that begins a vendor-managed block; its text is the value. */
        MANAGED_BEGIN,
        /** The comment that ends a vendor-managed block. */
        MANAGED_END
    }

    /** Whether a line counts under the set's dialect, and the reason if not. */
    public enum State {
        /** The line counts. */
        COUNTS,
        /** The dialect ignores such lines. Other dialects may read them. */
        NOT_READ,
        /** The dialect does not accept the value. */
        MALFORMED,
        /** The line is only valid in a group, but is outside all groups. */
        OUTSIDE,
        /** An earlier line overrides this one. */
        SUPERSEDED
    }

    Directive(Kind kind, State state, long line, byte[] key, byte[] value) {
        this.kind = kind;
        this.state = state;
        this.line = line;
        this.key = key;
        this.value = value;
    }

    /**
     * Returns the kind of line.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns whether the line counts under the set's dialect, and the reason if not.
     *
     * @return the state
     */
    public State state() {
        return state;
    }

    /**
     * Returns the line in the robots.txt.
     *
     * @return a line number starting at 1
     */
    public long line() {
        return line;
    }

    /**
     * Returns the key as written, for {@link Kind#OTHER}.
     *
     * @return the key, with invalid UTF-8 replaced; empty for other kinds
     */
    public String key() {
        return Utf8.shown(key);
    }

    /**
     * Returns the value as written, trimmed.
     *
     * @return the value, with invalid UTF-8 replaced
     */
    public String value() {
        return Utf8.shown(value);
    }

    /** Returns the value's bytes. */
    byte[] bytes() {
        return value;
    }

    /**
     * Returns the line as in a robots.txt.
     *
     * @return for instance {@code sitemap: https://example.com/sitemap.xml}
     */
    @Override
    public String toString() {
        return (key.length > 0 ? key() : Names.lower(kind.name()).replace('_', '-')) + ": " + value();
    }
}
