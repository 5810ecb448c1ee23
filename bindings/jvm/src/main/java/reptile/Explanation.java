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

    Explanation(Verdict verdict, Reason reason) {
        this(verdict, reason, 0, false, null, null, null);
    }

    Explanation(Verdict verdict, Reason reason, int number, boolean isFromLastGoodCopy, Rule rule, Rule allow, Rule disallow) {
        this.verdict = verdict;
        this.reason = reason;
        this.number = number;
        this.isFromLastGoodCopy = isFromLastGoodCopy;
        this.rule = rule;
        this.allow = allow;
        this.disallow = disallow;
    }

    /**
     * The verdict.
     *
     * @return the same as {@link Agent#decide(String)} returns
     */
    public Verdict verdict() {
        return verdict;
    }

    /**
     * What the verdict rests on.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * The number that belongs to the reason.
     *
     * @return the status for {@link Reason#STATUS} and {@link Reason#NOT_FOUND_PAGE}, the days for {@link Reason#UNREACHABLE}, the product for
     *     {@link Reason#CHALLENGE_PAGE}; with {@link #isFromLastGoodCopy} that of the failure since then; else 0
     */
    public int number() {
        return number;
    }

    /**
     * Whether the rules are those of the last copy that could be fetched, since the origin fails now.
     *
     * @return true if so
     */
    public boolean isFromLastGoodCopy() {
        return isFromLastGoodCopy;
    }

    /**
     * The rule that decided.
     *
     * @return empty if no rule did
     */
    public Optional<Rule> rule() {
        return Optional.ofNullable(rule);
    }

    /**
     * The line of the rule that decided.
     *
     * @return a number from 1 on; 0 if no rule did, or if the set was compiled without line numbers
     */
    public long line() {
        return rule == null ? 0 : rule.line();
    }

    /**
     * The best {@code Allow} that matches, whether it decided or not.
     *
     * @return empty if none matches
     */
    public Optional<Rule> allow() {
        return Optional.ofNullable(allow);
    }

    /**
     * The best {@code Disallow} that matches, whether it decided or not.
     *
     * @return empty if none matches
     */
    public Optional<Rule> disallow() {
        return Optional.ofNullable(disallow);
    }

    /**
     * The verdict and its reason in a line.
     *
     * @return for instance {@code DISALLOW: line 3: Disallow: /cart}
     */
    @Override
    public String toString() {
        return verdict + ": " + (rule == null ? reason + (number == 0 ? "" : " " + number) : "line " + rule.line() + ": " + rule);
    }
}
