package reptile;

import java.util.Optional;

/** A verdict with its reasons. */
public final class Explanation {
    static final Explanation NOT_A_URL = new Explanation(Verdict.INVALID, Reason.NOT_A_URL, null, null, null, null);
    static final Explanation LONG_URL = new Explanation(Verdict.INVALID, Reason.LONG_URL, null, null, null, null);
    static final Explanation NO_ROBOTS_TXT = new Explanation(Verdict.UNKNOWN, Reason.NO_ROBOTS_TXT, null, null, null, null);
    static final Explanation NO_CRAWLER = new Explanation(Verdict.UNKNOWN, Reason.NO_CRAWLER, null, null, null, null);

    private final Verdict verdict;
    private final Reason reason;
    /** Why the last fetch failed, as in a policy, or 0. */
    private final int cause;
    private final int number;
    private final boolean isFromLastGoodCopy;
    private final Rule rule;
    private final Rule allow;
    private final Rule disallow;
    /** The origin that decided instead of the URL's own, or null. */
    private final String standIn;

    Explanation(Verdict verdict, Reason reason, Policy policy, Rule rule, Rule allow, Rule disallow) {
        this.verdict = verdict;
        this.reason = reason;
        cause = policy == null ? 0 : policy.cause();
        number = policy == null ? 0 : policy.number();
        isFromLastGoodCopy = policy != null && policy.source() == Policy.LAST_GOOD_COPY;
        this.rule = rule;
        this.allow = allow;
        this.disallow = disallow;
        standIn = null;
    }

    private Explanation(Explanation own, String standIn) {
        verdict = own.verdict;
        reason = own.reason;
        cause = own.cause;
        number = own.number;
        isFromLastGoodCopy = own.isFromLastGoodCopy;
        rule = own.rule;
        allow = own.allow;
        disallow = own.disallow;
        this.standIn = standIn;
    }

    /** Returns the explanation for a URL that another origin decided. */
    Explanation by(String origin) {
        return new Explanation(this, origin);
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
     * Returns the reason in the words of the column {@code reason} of {@code reptile classify}, such as {@code no rule
     * matches} or {@code 404}.
     *
     * @return the words, followed by {@code , of https://www.example.com} if that origin decided instead
     */
    public String reasonText() {
        String now = isFromLastGoodCopy ? ", now " + Reason.ofCause(cause).words(number) : "";
        String words;
        switch (reason) {
            case RULE:
                words = isFromLastGoodCopy ? "rule of the last good copy" + now : "rule";
                break;
            case NO_RULE_MATCHES:
            case NO_GROUP:
                words = isFromLastGoodCopy ? "no rule of the last good copy matches" + now : "no rule matches";
                break;
            default:
                words = reason.words(number);
        }
        return words + (standIn == null ? "" : ", of " + standIn);
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
