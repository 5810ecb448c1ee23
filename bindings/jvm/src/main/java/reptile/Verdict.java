package reptile;

/** A compiled set's verdict for a URL and a crawler. */
public enum Verdict {
    /** The crawler may fetch the URL. */
    ALLOW,
    /** The crawler may not fetch the URL. */
    DISALLOW,
    /** The set has no robots.txt for the URL's origin; what to do is the caller's choice. */
    UNKNOWN,
    /** The text is not an http, https or ftp URL, or clients would read different hosts in it. */
    INVALID
}
