package reptile;

/** A rule of a robots.txt that matches a URL. */
public final class Rule {
    private final boolean allows;
    private final long line;
    private final byte[] pattern;

    Rule(boolean allows, long line, byte[] pattern) {
        this.allows = allows;
        this.line = line;
        this.pattern = pattern;
    }

    /**
     * Returns the kind of rule.
     *
     * @return true for an {@code Allow}, false for a {@code Disallow}
     */
    public boolean allows() {
        return allows;
    }

    /**
     * Returns the rule's line in its robots.txt.
     *
     * @return a line number starting at 1, or 0 if the set has no line numbers
     */
    public long line() {
        return line;
    }

    /**
     * Returns the pattern in the set's normal form, in which escapes may differ from the file.
     *
     * @return the pattern, with invalid UTF-8 replaced
     */
    public String pattern() {
        return Utf8.shown(pattern);
    }

    /**
     * Returns the rule as a robots.txt line, without the line number.
     *
     * @return for instance {@code Disallow: /cart}
     */
    @Override
    public String toString() {
        return (allows ? "Allow: " : "Disallow: ") + pattern();
    }
}
