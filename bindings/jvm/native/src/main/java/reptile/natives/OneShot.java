package reptile.natives;

import java.lang.ref.Reference;
import java.util.Objects;
import reptile.Verdict;

/**
 * Decides URLs directly from a robots.txt's bytes, for one crawler. Intended for crawlers that have just fetched a
 * robots.txt and ask about a few URLs. Immutable, and safe for use by any number of threads at once.
 *
 * <pre>{@code
 * OneShot oneShot = new OneShot("GPTBot", "google");
 * Decision decision = oneShot.decide(body, "https://example.com/private/1");
 * }</pre>
 *
 * <p>Creating an object takes some microseconds. A decision takes one pass over the file, usually a few microseconds,
 * and keeps nothing. The garbage collector frees the native memory, less than a kilobyte.
 */
public final class OneShot {
    private static final Verdict[] VERDICTS = Verdict.values();
    private static final int VERDICT_BITS = 2;

    private final long number;

    /**
     * Resolves a crawler.
     *
     * @param crawler a known crawler's name, or a product token; {@code *} is a crawler that no group names
     * @param dialect the dialect: {@code google}, {@code google-lib}, {@code rfc9309}, {@code rfc9309-strict},
     *     {@code yandex}, {@code yandex-2017}, {@code bing}, {@code koster-1994} or {@code koster-1996}
     * @throws NullPointerException if an argument is null
     * @throws reptile.AgentNameException if no robots.txt can contain the name. Misspelled names are not detected.
     * @throws IllegalArgumentException if the dialect is unknown
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public OneShot(String crawler, String dialect) {
        Objects.requireNonNull(crawler, "the crawler");
        Objects.requireNonNull(dialect, "the dialect");
        long created = Library.oneShotNew(Library.utf8(crawler), Library.utf8(dialect));
        number = created;
        Library.CLEANER.register(this, () -> Library.oneShotFree(created));
    }

    /**
     * Returns a robots.txt's verdict for a URL or a path. The URL's origin is not compared with anything: the caller
     * knows whose robots.txt this is.
     *
     * @param body the robots.txt as it was fetched
     * @param url a URL or a path such as {@code /private/1}, or null; any other text is {@link Verdict#INVALID}
     * @return the verdict and the line, or null if the URL is null
     * @throws NullPointerException if the body is null
     * @throws IllegalArgumentException if the body is itself a URL, a path or a file's name
     * @throws CompileException if the body is larger than 16 MiB, or its rules would take too long to decide the URL
     */
    public Decision decide(byte[] body, String url) {
        Objects.requireNonNull(body, "the body");
        if (url == null) {
            return null;
        }
        byte[] bytes = Library.utf8OrNull(url);
        if (bytes == null) {
            return new Decision(Verdict.INVALID, 0);
        }
        try {
            long found = Library.oneShotDecide(number, body, bytes);
            return new Decision(VERDICTS[(int) (found & (1 << VERDICT_BITS) - 1)], found >> VERDICT_BITS);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
