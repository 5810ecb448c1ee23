package reptile;

import java.util.Locale;

/** The reason for a verdict. */
public enum Reason {
    /** A matching rule decided. */
    RULE,
    /** The crawler has rules, but none matches; the verdict is {@link Verdict#ALLOW}. */
    NO_RULE_MATCHES,
    /** No group applies to the crawler, or the crawler obeys no robots.txt; the verdict is {@link Verdict#ALLOW}. */
    NO_GROUP,
    /** The response had a status that decides for all URLs; {@link Explanation#number()} is the status. */
    STATUS,
    /** There were too many redirects. */
    TOO_MANY_REDIRECTS,
    /** The robots.txt could not be fetched because of a network error. */
    NETWORK_ERROR,
    /** The response was not a text file. */
    NOT_TEXT,
    /** The robots.txt was too large. */
    TOO_LARGE,
    /** The origin was unreachable for more than {@link Explanation#number()} days. */
    UNREACHABLE,
    /**
     * The response had a 5xx status and a page that says "not found", which counts as 404. {@link Explanation#number()}
     * is the status.
     */
    NOT_FOUND_PAGE,
    /**
     * The response was a challenge page (a browser test) instead of the robots.txt. {@link Explanation#number()} is the
     * product, as listed in {@code engine/FORMAT.md}.
     */
    CHALLENGE_PAGE,
    /** The policy allows or disallows everything without a recorded cause. */
    NO_CAUSE,
    /** The set has no robots.txt for the origin; the verdict is {@link Verdict#UNKNOWN}. */
    NO_ROBOTS_TXT,
    /** The row names no crawler ({@link RowAgents}); the verdict is {@link Verdict#UNKNOWN}. */
    NO_CRAWLER,
    /** The text is not a URL with one unambiguous host; the verdict is {@link Verdict#INVALID}. */
    NOT_A_URL,
    /** The text has more than 64 KiB; the verdict is {@link Verdict#INVALID}. */
    LONG_URL;

    private static final Reason[] CAUSES =
            {NO_CAUSE, STATUS, TOO_MANY_REDIRECTS, NETWORK_ERROR, NOT_TEXT, TOO_LARGE, UNREACHABLE, NOT_FOUND_PAGE, CHALLENGE_PAGE};

    private static final String[] CHALLENGERS =
            {"Anubis", "Cloudflare", "AWS WAF", "DataDome", "Imperva", "Sucuri", "go-away", "SiteGround", "Vercel"};

    static Reason ofCause(int cause) {
        return CAUSES[cause];
    }

    /** Returns the words of {@code reptile classify} for a reason other than rules, with its number. */
    String words(int number) {
        switch (this) {
            case STATUS:
                return String.valueOf(number);
            case NETWORK_ERROR:
                return "network error";
            case NOT_TEXT:
                return "not a text file";
            case UNREACHABLE:
                return "unreachable for more than " + number + " days";
            case NOT_FOUND_PAGE:
                return number + ", whose page says \"not found\"";
            case CHALLENGE_PAGE:
                boolean isKnown = number > 0 && number <= CHALLENGERS.length;
                return "challenge page" + (isKnown ? " of " + CHALLENGERS[number - 1] : "");
            case NO_ROBOTS_TXT:
                return "no robots.txt is known";
            case NOT_A_URL:
                return "no URL";
            case LONG_URL:
                return "URL over 64 KiB";
            default:
                return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }
}
