package reptile.natives;

import reptile.Verdict;

/** A verdict, and the line of the rule that decided. */
public final class Decision {
    private final Verdict verdict;
    private final long line;

    Decision(Verdict verdict, long line) {
        this.verdict = verdict;
        this.line = line;
    }

    /**
     * Returns the verdict.
     *
     * @return {@link Verdict#ALLOW} or {@link Verdict#DISALLOW}; {@link Verdict#INVALID} for a text with unpaired
     *     surrogates
     */
    public Verdict verdict() {
        return verdict;
    }

    /**
     * Returns the deciding rule's line in the robots.txt.
     *
     * @return a line number starting at 1, or 0 if no rule decided
     */
    public long line() {
        return line;
    }

    /** Returns whether the other object is an equal decision. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Decision && ((Decision) other).verdict == verdict && ((Decision) other).line == line;
    }

    /** Returns a hash of the verdict and the line. */
    @Override
    public int hashCode() {
        return verdict.hashCode() * 31 + Long.hashCode(line);
    }

    /**
     * Returns the verdict and the line.
     *
     * @return for instance {@code DISALLOW: line 3}
     */
    @Override
    public String toString() {
        return verdict + (line == 0 ? "" : ": line " + line);
    }
}
