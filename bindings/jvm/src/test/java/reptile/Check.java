package reptile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Test helpers: comparing, counting, and reading tables. */
final class Check {
    private static final int MAX_SHOWN = 20;
    private static long passed;
    private static long failed;

    private Check() {}

    /** Work that may throw. */
    interface Work {
        void run() throws Exception;
    }

    static void equal(Object expected, Object found, Object where) {
        if (Objects.equals(expected, found)) {
            passed++;
        } else {
            fail(where + ": expected " + expected + ", found " + found);
        }
    }

    static void that(boolean holds, Object where) {
        equal(true, holds, where);
    }

    static void fail(String message) {
        if (failed++ < MAX_SHOWN) {
            System.out.println("FAILED " + message);
        }
    }

    /** Checks that work throws this exception. */
    static void refused(Class<? extends Exception> expected, Work work, Object where) {
        try {
            work.run();
            fail(where + ": expected " + expected.getSimpleName() + ", found no exception");
        } catch (Exception error) {
            equal(expected, error.getClass(), where + ": " + error);
        }
    }

    /** Runs a group of tests, and prints how long they took. */
    static void section(String name, Work work) {
        long before = passed;
        long start = System.nanoTime();
        try {
            work.run();
        } catch (Exception | StackOverflowError error) {
            error.printStackTrace(System.out);
            fail(name + ": " + error);
        }
        System.out.printf("%s: %d checks, %.1f s%n", name, passed - before, (System.nanoTime() - start) / 1e9);
    }

    /** Prints how many checks passed, and ends the program. */
    static void finish() {
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    /** Reads a file's rows as cells with one character per byte. Splits on line feeds and tabs only. */
    static List<String[]> rows(Path file) throws IOException {
        List<String[]> rows = new ArrayList<>();
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        if (text.endsWith("\n")) {
            text = text.substring(0, text.length() - 1);
        }
        for (String line : text.split("\n", -1)) {
            rows.add(line.split("\t", -1));
        }
        return rows;
    }

    static byte[] bytes(String cell) {
        return cell.getBytes(StandardCharsets.ISO_8859_1);
    }

    static Verdict verdict(String word) {
        return Arrays.stream(Verdict.values()).filter(verdict -> verdict.name().equalsIgnoreCase(word)).findAny().orElseThrow();
    }
}
