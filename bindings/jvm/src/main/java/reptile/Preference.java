package reptile;

/** A website's preference about a use of its pages. */
public enum Preference {
    /** The website permits the use. */
    ALLOWED,
    /** The website does not permit the use. */
    DISALLOWED,
    /** The website says nothing about the use, or its statement cannot be read. */
    UNKNOWN,
    /** The page must not be fetched, so preferences do not apply to it. */
    NOT_APPLICABLE;

    /** Returns the more restrictive of two statements. */
    Preference combinedWith(Preference other) {
        if (this == DISALLOWED || other == DISALLOWED) {
            return DISALLOWED;
        }
        return this == ALLOWED || other == ALLOWED ? ALLOWED : UNKNOWN;
    }
}
