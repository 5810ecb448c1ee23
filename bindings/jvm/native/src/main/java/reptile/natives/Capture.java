package reptile.natives;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * One fetch of a robots.txt: its URL, and the known facts about the response. Immutable: each {@code with} method
 * returns a changed copy, which shares the body.
 *
 * <pre>{@code
 * Capture found = Capture.of("https://example.com/robots.txt").withStatus(200).withBody(body);
 * Capture gone = Capture.of("https://example.org/robots.txt").withError("connection refused");
 * }</pre>
 */
public final class Capture {
    private static final byte[] NOTHING = {};
    private static final List<String> REASONS = List.of("length", "time", "disconnect", "unspecified");

    final byte[] url;
    byte[] body;
    int status;
    boolean hasTime;
    long time;
    int redirects;
    byte[] truncated;
    String error = "";
    byte[] headers = NOTHING;

    private Capture(byte[] url) {
        this.url = url;
    }

    private Capture copy() {
        Capture copy = new Capture(url);
        copy.body = body;
        copy.status = status;
        copy.hasTime = hasTime;
        copy.time = time;
        copy.redirects = redirects;
        copy.truncated = truncated;
        copy.error = error;
        copy.headers = headers;
        return copy;
    }

    /**
     * Returns the capture of a response about which nothing is known.
     *
     * @param url the robots.txt URL that was requested first, such as {@code https://example.com/robots.txt}.
     *     {@link SetCompiler#add} checks it.
     * @return the capture
     * @throws NullPointerException if the URL is null
     * @throws IllegalArgumentException if the URL has an unpaired surrogate
     */
    public static Capture of(String url) {
        return new Capture(Library.utf8(Objects.requireNonNull(url, "the URL of a capture")));
    }

    /**
     * Returns the capture with a body.
     *
     * @param body the last response's body, decoded as {@code Content-Encoding} says, or null if there is none. It must
     *     not be changed afterwards.
     * @return a changed copy
     */
    public Capture withBody(byte[] body) {
        Capture copy = copy();
        copy.body = body;
        return copy;
    }

    /**
     * Returns the capture with a status. Without one, the status is 200.
     *
     * @param status the last response's status, after all followed redirects
     * @return a changed copy
     * @throws IllegalArgumentException if it is not from 100 to 999
     */
    public Capture withStatus(int status) {
        if (status < 100 || status > 999) {
            throw new IllegalArgumentException("expected a status from 100 to 999, found " + status);
        }
        Capture copy = copy();
        copy.status = status;
        return copy;
    }

    /**
     * Returns the capture with a time. If an origin has several captures, the fetch profile chooses by their times.
     *
     * @param time seconds since 1970 (UTC)
     * @return a changed copy
     */
    public Capture withTime(long time) {
        Capture copy = copy();
        copy.hasTime = true;
        copy.time = time;
        return copy;
    }

    /**
     * Returns the capture with a number of redirects. Without it, the number is 0.
     *
     * @param redirects the number of redirects that were followed
     * @return a changed copy
     * @throws IllegalArgumentException if it is negative
     */
    public Capture withRedirects(int redirects) {
        if (redirects < 0) {
            throw new IllegalArgumentException("expected a number of redirects from 0, found " + redirects);
        }
        Capture copy = copy();
        copy.redirects = redirects;
        return copy;
    }

    /**
     * Returns the capture with a truncated body.
     *
     * @param reason {@code length}, {@code time}, {@code disconnect} or {@code unspecified}
     * @return a changed copy
     * @throws NullPointerException if the reason is null
     * @throws IllegalArgumentException if the reason is any other text
     */
    public Capture withTruncated(String reason) {
        Objects.requireNonNull(reason, "the reason");
        if (!REASONS.contains(reason)) {
            throw new IllegalArgumentException("expected length, time, disconnect or unspecified, found " + reason);
        }
        Capture copy = copy();
        copy.truncated = Library.utf8(reason);
        return copy;
    }

    /**
     * Returns the capture with an error: there was no valid response, for instance because the host is unknown or the
     * connection timed out.
     *
     * @param error what happened; null or an empty text means that there was a response
     * @return a changed copy
     */
    public Capture withError(String error) {
        Capture copy = copy();
        copy.error = error == null ? "" : error;
        return copy;
    }

    /**
     * Returns the capture with one more header of the last response. {@code Cache-Control} and {@code Content-Type}
     * count, and so do headers that mark a challenge page, such as {@code Cf-Mitigated}. Other headers are ignored.
     *
     * @param name the header's name, in any letter case
     * @param value its value
     * @return a changed copy
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if the name or the value contains a line break or an unpaired surrogate, or the
     *     name a colon
     */
    public Capture withHeader(String name, String value) {
        Objects.requireNonNull(value, "the value of a header");
        if (name.indexOf(':') >= 0 || (name + value).chars().anyMatch(letter -> letter == '\r' || letter == '\n')) {
            String expected = "expected a header without line breaks, and a name without colons, found ";
            throw new IllegalArgumentException(expected + "\"" + name + ": " + value + "\"");
        }
        byte[] line = Library.utf8(name + ":" + value + "\n");
        Capture copy = copy();
        copy.headers = Arrays.copyOf(headers, headers.length + line.length);
        System.arraycopy(line, 0, copy.headers, headers.length, line.length);
        return copy;
    }
}
