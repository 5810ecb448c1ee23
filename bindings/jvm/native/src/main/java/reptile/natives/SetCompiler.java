package reptile.natives;

import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.Objects;
import reptile.CompiledSet;

/**
 * Compiles captures of robots.txt files to a set, as {@code reptile compile} does. The captures' order does not matter:
 * the same captures give the same bytes.
 *
 * <pre>{@code
 * try (SetCompiler compiler = SetCompiler.of("google").create()) {
 *     compiler.add(Capture.of("https://example.com/robots.txt").withBody(body));
 *     CompiledSet set = compiler.finish(Path.of("web.reptile"), false);
 * }
 * }</pre>
 *
 * <p>Any number of threads may add captures at once; the files are parsed in parallel. Memory: about the size of the
 * finished set, outside the Java heap, or the limit set with {@link Options#memory}. {@link #close} frees it;
 * otherwise, the garbage collector does.
 */
public final class SetCompiler implements AutoCloseable {
    private final long number;
    private final Cleaner.Cleanable cleanable;

    private SetCompiler(Options options) {
        long created = Library.compilerNew(
                Library.utf8(options.dialect),
                options.profile == null ? null : Library.utf8(options.profile),
                options.hasTime,
                options.time,
                options.isByTime,
                options.keepsLines,
                options.keepsOther,
                options.memory,
                options.folder == null ? null : Library.utf8(options.folder));
        number = created;
        cleanable = Library.CLEANER.register(this, () -> Library.compilerFree(created));
    }

    /**
     * Returns the default options for a dialect.
     *
     * @param dialect the dialect: {@code google}, {@code google-lib}, {@code rfc9309}, {@code rfc9309-strict},
     *     {@code yandex}, {@code yandex-2017}, {@code bing}, {@code koster-1994} or {@code koster-1996}
     * @return options that can be changed
     * @throws NullPointerException if the dialect is null
     */
    public static Options of(String dialect) {
        return new Options(Objects.requireNonNull(dialect, "the dialect"));
    }

    /**
     * Adds a capture. Time: linear in the body.
     *
     * @param capture the capture
     * @throws NullPointerException if the capture is null
     * @throws CompileException if the URL is not a robots.txt URL, if the outcome needs a body and there is none, or if
     *     the body exceeds a limit. The compiler can be used as if the capture had never been added.
     * @throws IllegalStateException if the compiler is finished or closed
     */
    public void add(Capture capture) {
        try {
            Library.compilerAdd(
                    number,
                    capture.url,
                    capture.body,
                    capture.status,
                    capture.hasTime,
                    capture.time,
                    capture.redirects,
                    capture.truncated,
                    !capture.error.isEmpty(),
                    capture.headers);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Compiles the captures, writes the set to a file, and opens it. The file is either complete or unchanged. Uses all
     * processors. Afterwards the compiler cannot be used, unless the exception is a
     * {@link java.nio.file.FileAlreadyExistsException}.
     *
     * @param path the set file
     * @param replace whether the set may replace an existing file; readers of that file keep it
     * @return the set, as {@link CompiledSet#open} returns it
     * @throws NullPointerException if the path is null
     * @throws java.nio.file.FileAlreadyExistsException if the file exists and {@code replace} is false
     * @throws IOException if the file cannot be written
     * @throws CompileException if the captures do not fit into one set
     * @throws IllegalStateException if the compiler is finished or closed
     */
    public CompiledSet finish(Path path, boolean replace) throws IOException {
        try {
            Library.compilerFinish(number, Library.utf8(path), replace);
        } finally {
            Reference.reachabilityFence(this);
        }
        return CompiledSet.open(path);
    }

    /** Frees the memory. Calls on other threads finish first. Closing again does nothing. */
    @Override
    public void close() {
        cleanable.clean();
    }

    /** The options of a compiler. Each method changes the options and returns them. */
    public static final class Options {
        private final String dialect;
        private String profile;
        private boolean hasTime;
        private long time;
        private boolean isByTime;
        private boolean keepsLines = true;
        private boolean keepsOther = true;
        private long memory;
        private Path folder;

        private Options(String dialect) {
            this.dialect = dialect;
        }

        /**
         * Sets the fetch profile, which defines what statuses and errors mean.
         *
         * @param profile its name; null means the dialect's profile
         * @return these options
         */
        public Options profile(String profile) {
            this.profile = profile;
            return this;
        }

        /**
         * Sets the time that the set is compiled for. Later captures do not count. The default is the newest capture's
         * time.
         *
         * @param time seconds since 1970
         * @return these options
         */
        public Options time(long time) {
            hasTime = true;
            this.time = time;
            return this;
        }

        /**
         * Sets whether the set keeps all captures, for {@link reptile.Agent#decideAt}. The default is false.
         *
         * @param keep whether it does
         * @return these options
         */
        public Options byTime(boolean keep) {
            isByTime = keep;
            return this;
        }

        /**
         * Sets whether the set keeps the rules' line numbers. The default is true.
         *
         * @param keep whether it does
         * @return these options
         */
        public Options lineNumbers(boolean keep) {
            keepsLines = keep;
            return this;
        }

        /**
         * Sets whether the set keeps the lines that decide no URL, such as sitemaps. The default is true.
         *
         * @param keep whether it does
         * @return these options
         */
        public Options otherDirectives(boolean keep) {
            keepsOther = keep;
            return this;
        }

        /**
         * Limits memory. Data over the limit goes to temporary files. By default, all data stays in memory.
         *
         * @param bytes the limit
         * @param folder where the temporary files are created
         * @return these options
         * @throws NullPointerException if the folder is null
         * @throws IllegalArgumentException if the limit is negative
         */
        public Options memory(long bytes, Path folder) {
            if (bytes < 0) {
                throw new IllegalArgumentException("expected a number of bytes from 0, found " + bytes);
            }
            memory = bytes;
            this.folder = Objects.requireNonNull(folder, "the folder for temporary files");
            return this;
        }

        /**
         * Creates a compiler with these options.
         *
         * @return the compiler, which must be closed
         * @throws IllegalArgumentException if the dialect or the profile is unknown
         * @throws UnsatisfiedLinkError if there is no native library for this platform
         */
        public SetCompiler create() {
            return new SetCompiler(this);
        }
    }
}
