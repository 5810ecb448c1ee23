package reptile;

/** What a compiled set says about a URL and a crawler. */
public enum Verdict {
    /** The crawler may fetch the URL. */
    ALLOW,
    /** The crawler may not fetch the URL. */
    DISALLOW,
    /** The set has no robots.txt for the origin of the URL; what to do then is the caller's choice. */
    UNKNOWN,
    /** The text is not an http, https or ftp URL, or clients would read different hosts in it. */
    INVALID
}
