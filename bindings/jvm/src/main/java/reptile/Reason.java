package reptile;

/** What a verdict rests on. */
public enum Reason {
    /** A rule matches, and decides. */
    RULE,
    /** There are rules for the crawler, and none of them matches; the verdict is {@link Verdict#ALLOW}. */
    NO_RULE_MATCHES,
    /** No group of the robots.txt is for the crawler, or the crawler obeys no robots.txt; the verdict is {@link Verdict#ALLOW}. */
    NO_GROUP,
    /** The answer to the request for the robots.txt had a status that decides for all URLs; {@link Explanation#number()} is the status. */
    STATUS,
    /** There were too many redirects on the way to the robots.txt. */
    TOO_MANY_REDIRECTS,
    /** The robots.txt could not be fetched because of the network. */
    NETWORK_ERROR,
    /** The answer was not a text file. */
    NOT_TEXT,
    /** The robots.txt was too large. */
    TOO_LARGE,
    /** The origin was out of reach for longer than {@link Explanation#number()} days. */
    UNREACHABLE,
    /**
     * The response had a 5xx status and a page that says "not found", which counts as 404. {@link Explanation#number()} is the status.
     */
    NOT_FOUND_PAGE,
    /**
     * The response was a challenge page, a browser test instead of the robots.txt. {@link Explanation#number()} is the product, as listed
     * in {@code engine/FORMAT.md}.
     */
    CHALLENGE_PAGE,
    /** The policy says that everything is allowed, or everything disallowed, without a cause. */
    NO_CAUSE,
    /** The set has no robots.txt for the origin; the verdict is {@link Verdict#UNKNOWN}. */
    NO_ROBOTS_TXT,
    /** The text is not a URL with one unambiguous host; the verdict is {@link Verdict#INVALID}. */
    NOT_A_URL;

    private static final Reason[] CAUSES =
            {NO_CAUSE, STATUS, TOO_MANY_REDIRECTS, NETWORK_ERROR, NOT_TEXT, TOO_LARGE, UNREACHABLE, NOT_FOUND_PAGE, CHALLENGE_PAGE};

    static Reason ofCause(int cause) {
        return CAUSES[cause];
    }
}
