package reptile.natives;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Loads the native library, and declares its methods. Texts are UTF-8. A number belongs to one object, and causes an
 * {@link IllegalStateException} after that object was freed.
 */
final class Library {
    /** The property with the path of the native library. By default the library in the jar is used. */
    static final String PROPERTY = "reptile.natives.library";

    static final Cleaner CLEANER = Cleaner.create();

    private static final String NAME = "reptile_jni";
    private static final String NO_LIBRARY = "the jar of reptile.natives has no library for this platform: ";

    static {
        load();
    }

    private Library() {}

    static native long oneShotNew(byte[] crawler, byte[] dialect);

    static native long oneShotDecide(long number, byte[] body, byte[] url);

    static native void oneShotFree(long number);

    static native long compilerNew(
            byte[] dialect,
            byte[] profile,
            boolean hasTime,
            long time,
            boolean isByTime,
            boolean keepsLines,
            boolean keepsOther,
            long memory,
            byte[] folder);

    static native void compilerAdd(
            long number,
            byte[] url,
            byte[] body,
            int status,
            boolean hasTime,
            long time,
            int redirects,
            byte[] truncated,
            boolean hasFailed,
            byte[] headers);

    static native void compilerFinish(long number, byte[] path, boolean replace) throws IOException;

    static native void compilerFree(long number);

    static native long accessNew(byte[] path, byte[][] crawlers) throws IOException;

    static native void accessOf(long number, byte[] url, Consumer<Access> consumer);

    static native void accessOfAll(long number, Consumer<Access> consumer);

    static native void accessFree(long number);

    static native void panic();

    /** Returns a text in UTF-8, or null if it contains an unpaired surrogate. */
    static byte[] utf8OrNull(String text) {
        try {
            ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        } catch (CharacterCodingException malformed) {
            return null;
        }
    }

    /** Returns a text in UTF-8. */
    static byte[] utf8(String text) {
        byte[] bytes = utf8OrNull(text);
        if (bytes == null) {
            throw new IllegalArgumentException("expected a text without unpaired surrogates, found \"" + text + "\"");
        }
        return bytes;
    }

    /** Returns a path's text, as the native library opens it. */
    static byte[] utf8(Path path) {
        return utf8(path.toAbsolutePath().toString());
    }

    private static void load() {
        String given = System.getProperty(PROPERTY);
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
        String file = System.mapLibraryName(NAME);
        String resource = platform + "/" + file;
        try (InputStream in = Library.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new UnsatisfiedLinkError(NO_LIBRARY + "expected reptile/natives/" + resource
                        + ". Build it with cargo, and set the property " + PROPERTY + " to its path");
            }
            Path folder = Files.createTempDirectory("reptile-natives");
            Path copy = folder.resolve(file);
            try {
                Files.copy(in, copy);
                System.load(copy.toString());
            } finally {
                // A loaded library needs no file, except on Windows.
                if (!copy.toFile().delete() || !folder.toFile().delete()) {
                    folder.toFile().deleteOnExit();
                    copy.toFile().deleteOnExit();
                }
            }
        } catch (IOException | UnsatisfiedLinkError failed) {
            if (failed instanceof UnsatisfiedLinkError && failed.getMessage().startsWith(NO_LIBRARY)) {
                throw (UnsatisfiedLinkError) failed;
            }
            UnsatisfiedLinkError error = new UnsatisfiedLinkError("cannot load " + file + " from a folder in "
                    + System.getProperty("java.io.tmpdir") + ": " + failed.getMessage() + ". Set the property java.io.tmpdir to"
                    + " a folder in which programs may run, or " + PROPERTY + " to the path of a library");
            error.initCause(failed);
            throw error;
        }
    }

    /** Returns the name of a platform's folder in the jar, such as {@code linux-x86_64}. */
    static String platform(String system, String processor) {
        String name = system.toLowerCase(Locale.ROOT);
        String plain = name.replaceAll("[^a-z0-9]", "");
        String os = name.startsWith("windows") ? "windows" : name.startsWith("mac") ? "macos" : plain;
        String arch = processor.toLowerCase(Locale.ROOT);
        return os + "-" + (arch.equals("amd64") ? "x86_64" : arch.equals("arm64") ? "aarch64" : arch);
    }
}
