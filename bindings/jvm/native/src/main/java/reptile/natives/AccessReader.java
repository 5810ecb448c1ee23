package reptile.natives;

import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Reports what crawlers may fetch from the origins of a set, over all possible URLs, as {@code reptile summarize} does.
 * Safe for use by any number of threads at once.
 *
 * <pre>{@code
 * try (AccessReader reader = AccessReader.open(Path.of("web.reptile"), List.of("GPTBot", "CCBot"))) {
 *     for (Access access : reader.access("https://example.com")) {
 *         System.out.println(access);
 *     }
 * }
 * }</pre>
 */
public final class AccessReader implements AutoCloseable {
    private final long number;
    private final Cleaner.Cleanable cleanable;

    private AccessReader(long number) {
        this.number = number;
        cleanable = Library.CLEANER.register(this, () -> Library.accessFree(number));
    }

    /**
     * Maps a set file, and resolves crawlers. The file must not be changed while the reader is open; replace it by
     * renaming another file over it.
     *
     * @param path the set file
     * @param crawlers known crawlers' names, or product tokens
     * @return the reader
     * @throws NullPointerException if an argument or one of the crawlers is null
     * @throws IOException if the file cannot be read
     * @throws reptile.DamagedSetException if the file is not a set of this format version, or is incomplete
     * @throws reptile.AgentNameException if no robots.txt can contain one of the names, or it is probably misspelled
     * @throws UnsatisfiedLinkError if there is no native library for this platform
     */
    public static AccessReader open(Path path, List<String> crawlers) throws IOException {
        byte[][] names = new byte[crawlers.size()][];
        for (int place = 0; place < names.length; place++) {
            names[place] = Library.utf8(Objects.requireNonNull(crawlers.get(place), "a crawler"));
        }
        return new AccessReader(Library.accessNew(Library.utf8(path), names));
    }

    /**
     * Returns what each crawler may fetch from one origin. Time: usually some microseconds for each crawler, and at
     * most some tens of milliseconds.
     *
     * @param url a URL, whose origin counts; a host, which means its https origin; or null
     * @return the access for each crawler, in their order, or null if the URL is null
     * @throws IllegalStateException if the reader is closed
     * @throws reptile.DamagedSetException if the set is found to be damaged
     */
    public List<Access> access(String url) {
        if (url == null) {
            return null;
        }
        List<Access> found = new ArrayList<>();
        try {
            // A question mark for an unpaired surrogate: no host contains either.
            Library.accessOf(number, url.getBytes(java.nio.charset.StandardCharsets.UTF_8), found::add);
        } finally {
            Reference.reachabilityFence(this);
        }
        return found;
    }

    /**
     * Passes what each crawler may fetch from each origin of the set to a consumer, on this thread, in the order of the
     * set. Uses all processors, and examines equal rules once.
     *
     * @param consumer gets a row for each origin and crawler. An exception that it throws ends the call.
     * @throws NullPointerException if the consumer is null
     * @throws IllegalStateException if the reader is closed
     * @throws reptile.DamagedSetException if the set is found to be damaged
     */
    public void forEach(Consumer<Access> consumer) {
        try {
            Library.accessOfAll(number, Objects.requireNonNull(consumer, "the consumer"));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes the set file. Calls on other threads finish first. Closing again does nothing. */
    @Override
    public void close() {
        cleanable.clean();
    }
}
