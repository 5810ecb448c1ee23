package reptile;

import java.util.Optional;

/** A verdict with its reasons. */
public final class Explanation {
    private final Verdict verdict;
    private final Reason reason;
    private final int number;
    private final boolean isFromLastGoodCopy;
    private final Rule rule;
    private final Rule allow;
    private final Rule disallow;
    /** The origin that decided instead of the URL's own, or null. */
    private final String standIn;

    Explanation(Verdict verdict, Reason reason) {
        this(verdict, reason, 0, false, null, null, null);
    }

    Explanation(Verdict verdict, Reason reason, int number, boolean isFromLastGoodCopy, Rule rule, Rule allow, Rule disallow) {
        this(verdict, reason, number, isFromLastGoodCopy, rule, allow, disallow, null);
    }

    private Explanation(
            Verdict verdict,
            Reason reason,
            int number,
            boolean isFromLastGoodCopy,
            Rule rule,
            Rule allow,
            Rule disallow,
            String standIn) {
        this.verdict = verdict;
        this.reason = reason;
        this.number = number;
        this.isFromLastGoodCopy = isFromLastGoodCopy;
        this.rule = rule;
        this.allow = allow;
        this.disallow = disallow;
        this.standIn = standIn;
    }

    /** Returns the explanation for a URL that another origin decided. */
    Explanation by(String origin) {
        return new Explanation(verdict, reason, number, isFromLastGoodCopy, rule, allow, disallow, origin);
    }

    /**
     * Returns the verdict.
     *
     * @return the same as {@link Agent#decide(String)} returns
     */
    public Verdict verdict() {
        return verdict;
    }

    /**
     * Returns the reason for the verdict.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Returns the reason's number.
     *
     * @return the status for {@link Reason#STATUS} and {@link Reason#NOT_FOUND_PAGE}, the days for
     *     {@link Reason#UNREACHABLE}, the product for {@link Reason#CHALLENGE_PAGE}; the later failure's number if
     *     {@link #isFromLastGoodCopy}; otherwise 0
     */
    public int number() {
        return number;
    }

    /**
     * Returns whether the rules come from the last copy that was fetched, because the origin now fails.
     *
     * @return true if so
     */
    public boolean isFromLastGoodCopy() {
        return isFromLastGoodCopy;
    }

    /**
     * Returns the deciding rule.
     *
     * @return empty if no rule decided
     */
    public Optional<Rule> rule() {
        return Optional.ofNullable(rule);
    }

    /**
     * Returns the deciding rule's line.
     *
     * @return a line number starting at 1, or 0 if no rule decided or the set has no line numbers
     */
    public long line() {
        return rule == null ? 0 : rule.line();
    }

    /**
     * Returns the best matching {@code Allow}, whether or not it decided.
     *
     * @return empty if none matches
     */
    public Optional<Rule> allow() {
        return Optional.ofNullable(allow);
    }

    /**
     * Returns the best matching {@code Disallow}, whether or not it decided.
     *
     * @return empty if none matches
     */
    public Optional<Rule> disallow() {
        return Optional.ofNullable(disallow);
    }

    /**
     * Returns the origin whose robots.txt decided instead of the URL's own. Only a {@link Scope} allows this.
     *
     * @return an origin such as {@code https://www.example.com}; empty if the URL's own origin decided
     */
    public Optional<String> standIn() {
        return Optional.ofNullable(standIn);
    }

    /**
     * Returns the verdict and its reason in one line.
     *
     * @return for instance {@code DISALLOW: line 3: Disallow: /cart}, followed by {@code , of https://www.example.com}
     *     if that origin decided instead
     */
    @Override
    public String toString() {
        String cause = rule == null ? reason + (number == 0 ? "" : " " + number) : "line " + rule.line() + ": " + rule;
        return verdict + ": " + cause + (standIn == null ? "" : ", of " + standIn);
    }
}
