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
     * Which kind of rule it is.
     *
     * @return true for an {@code Allow}, false for a {@code Disallow}
     */
    public boolean allows() {
        return allows;
    }

    /**
     * The line of the rule in its robots.txt.
     *
     * @return a number from 1 on; 0 if the set was compiled without line numbers
     */
    public long line() {
        return line;
    }

    /**
     * The pattern in the set's normal form: escapes may be written otherwise than in the file.
     *
     * @return the pattern, with the replacement character for bytes that are not UTF-8
     */
    public String pattern() {
        return Utf8.shown(pattern);
    }

    /**
     * The rule as a line of a robots.txt, without the line's number.
     *
     * @return for instance {@code Disallow: /cart}
     */
    @Override
    public String toString() {
        return (allows ? "Allow: " : "Disallow: ") + pattern();
    }
}
