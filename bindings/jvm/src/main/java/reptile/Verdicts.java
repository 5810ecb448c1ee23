package reptile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Several crawlers' verdicts for one URL, from {@link Agents#decide}. Immutable. */
public final class Verdicts {
    /** Maximum number of crawlers in a mask, which has a bit for each. */
    static final int MAX_MASKED_AGENTS = Long.SIZE;

    private final List<String> names;
    private final Verdict[] fetch;
    /** The verdicts for the fetch and the purpose; without a purpose, the same array. */
    private final Verdict[] purpose;

    Verdicts(List<String> names, Verdict[] fetch, Verdict[] purpose) {
        this.names = names;
        this.fetch = fetch;
        this.purpose = purpose;
    }

    /**
     * Returns the number of crawlers.
     *
     * @return the number
     */
    public int size() {
        return fetch.length;
    }

    /**
     * Returns one crawler's verdict for the fetch.
     *
     * @param place the crawler's place, starting at 0
     * @return the verdict
     * @throws IndexOutOfBoundsException if there is no such crawler
     */
    public Verdict get(int place) {
        return fetch[place];
    }

    /**
     * Returns the verdicts for the fetch.
     *
     * @return a verdict for each crawler, in their order; unmodifiable
     */
    public List<Verdict> toList() {
        return Collections.unmodifiableList(Arrays.asList(fetch));
    }

    /**
     * Returns the verdicts for the fetch and the purpose ({@link Agents#forPurpose}).
     *
     * @return a verdict for each crawler, in their order; the same as {@link #toList} if there is no purpose;
     *     unmodifiable
     */
    public List<Verdict> forPurpose() {
        return Collections.unmodifiableList(Arrays.asList(purpose));
    }

    /**
     * Returns the crawlers that may not fetch the URL, or not for the purpose if there is one.
     *
     * @return their names; empty if any verdict is {@link Verdict#UNKNOWN} or {@link Verdict#INVALID}, so that such a
     *     URL does not look like an allowed one
     */
    public Optional<List<String>> refused() {
        if (!isDecided()) {
            return Optional.empty();
        }
        List<String> refused = new ArrayList<>();
        for (int place = 0; place < purpose.length; place++) {
            if (purpose[place] == Verdict.DISALLOW) {
                refused.add(names.get(place));
            }
        }
        return Optional.of(refused);
    }

    /**
     * Returns the refused crawlers as bits: 1 for the first crawler, 2 for the second, 4 for the third, and so on.
     *
     * @return the mask; empty if {@link #refused} is
     * @throws IllegalStateException if there are more than 64 crawlers
     */
    public OptionalLong mask() {
        if (purpose.length > MAX_MASKED_AGENTS) {
            throw new IllegalStateException("a mask has a bit for each of up to " + MAX_MASKED_AGENTS + " crawlers, found "
                    + purpose.length + "; use refused instead");
        }
        if (!isDecided()) {
            return OptionalLong.empty();
        }
        long mask = 0;
        for (int place = 0; place < purpose.length; place++) {
            mask |= purpose[place] == Verdict.DISALLOW ? 1L << place : 0;
        }
        return OptionalLong.of(mask);
    }

    private boolean isDecided() {
        for (Verdict verdict : purpose) {
            if (verdict == Verdict.UNKNOWN || verdict == Verdict.INVALID) {
                return false;
            }
        }
        return true;
    }

    /** Returns the verdicts for the purpose, or else for the fetch, such as {@code GPTBot DISALLOW, CCBot ALLOW}. */
    @Override
    public String toString() {
        List<String> verdicts = new ArrayList<>();
        for (int place = 0; place < purpose.length; place++) {
            verdicts.add(names.get(place) + " " + purpose[place]);
        }
        return String.join(", ", verdicts);
    }
}
