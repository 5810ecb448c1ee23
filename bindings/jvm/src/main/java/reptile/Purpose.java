package reptile;

import java.util.Objects;

/**
 * A use of pages, for a single verdict: a page may be fetched for the use only if both the fetch and the use are
 * allowed, as with {@code reptile classify --purpose}. Immutable.
 *
 * <pre>{@code
 * Purpose training = Purpose.of(Uses.usage("train-ai"), Verdict.DISALLOW);
 * Verdicts verdicts = set.agents("GPTBot").forPurpose(training).decide("https://example.com/private/1");
 * }</pre>
 */
public final class Purpose {
    private final Uses use;
    private final Verdict unknownUsage;

    private Purpose(Uses use, Verdict unknownUsage) {
        this.use = use;
        this.unknownUsage = unknownUsage;
    }

    /**
     * Creates a purpose.
     *
     * @param use one use, such as {@code Uses.usage("train-ai")}
     * @param unknownUsage the verdict for a page that may be fetched, if the website's preference is unknown:
     *     {@link Verdict#ALLOW}, {@link Verdict#DISALLOW} or {@link Verdict#UNKNOWN}. The drafts leave this open, so
     *     there is no default.
     * @return the purpose
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if there is not exactly one use, or the verdict is {@link Verdict#INVALID}
     */
    public static Purpose of(Uses use, Verdict unknownUsage) {
        if (use.count() != 1) {
            throw new IllegalArgumentException("a purpose is one use, found " + use);
        }
        if (Objects.requireNonNull(unknownUsage, "the verdict for an unknown preference") == Verdict.INVALID) {
            throw new IllegalArgumentException("an unknown preference is ALLOW, DISALLOW or UNKNOWN, not INVALID");
        }
        return new Purpose(use, unknownUsage);
    }

    /**
     * Returns the single verdict for a fetch and the use.
     *
     * @param fetch the verdict for the fetch, or null
     * @param preference the website's preference for the use, as in {@link Agent#usage}
     * @return the verdict, or null if the fetch's is null
     * @throws NullPointerException if the fetch is allowed and the preference is null
     */
    public Verdict verdict(Verdict fetch, Preference preference) {
        if (fetch != Verdict.ALLOW) {
            return fetch;
        }
        switch (preference) {
            case ALLOWED:
                return Verdict.ALLOW;
            case UNKNOWN:
                return unknownUsage;
            default:
                return Verdict.DISALLOW;
        }
    }

    /** Returns an agent's single verdict for the fetch and the use. */
    Verdict verdict(Site site, Agent agent, Verdict fetch) {
        return fetch == Verdict.ALLOW ? verdict(fetch, site.usage(agent, use, fetch)[0]) : fetch;
    }

    /** Returns the use and the meaning of an unknown preference, such as {@code train-ai, unknown is DISALLOW}. */
    @Override
    public String toString() {
        return use.names().get(0) + ", unknown is " + unknownUsage;
    }
}
