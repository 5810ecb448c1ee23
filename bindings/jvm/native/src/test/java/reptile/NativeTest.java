package reptile;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reptile.natives.Access;
import reptile.natives.AccessReader;
import reptile.natives.Capture;
import reptile.natives.CompileException;
import reptile.natives.Decision;
import reptile.natives.InternalException;
import reptile.natives.OneShot;
import reptile.natives.SetCompiler;

/** Tests the native classes: {@code java reptile.NativeTest DATA}. The script {@code native/test} creates the data. */
final class NativeTest {
    private static final String ROBOTS = "http://a.example/robots.txt";
    private static final byte[] BODY = bytes("user-agent: *\ndisallow: /a\nallow: /a/b\n");

    private NativeTest() {}

    public static void main(String[] arguments) {
        Path data = Path.of(arguments[0]);
        Check.section("compiled sets", () -> sets(data.resolve("native")));
        Check.section("one-shot verdicts", () -> suite(data));
        Check.section("calls about one file", () -> calls(data.resolve("native")));
        Check.section("one-shot verdicts for real files", () -> real(data));
        Check.section("access", () -> access(data.resolve("native")));
        Check.section("misuse of compilers", () -> compilers(data.resolve("native")));
        Check.section("misuse of one-shot queries", NativeTest::oneShots);
        Check.section("misuse of access readers", () -> readers(data.resolve("native")));
        Check.section("limits", () -> limits(data.resolve("native")));
        Check.section("threads", () -> threads(data.resolve("native")));
        Check.section("class loaders", () -> loaders(data.resolve("native")));
        Check.section("panics and platforms", NativeTest::library);
        Check.finish();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] decoded(String cell) {
        return Base64.getDecoder().decode(cell);
    }

    /** Returns the capture in a row: URL, body, status, time, redirects, truncated, error, headers; `-` is missing. */
    private static Capture capture(String[] row) {
        Capture capture = Capture.of(row[0]);
        capture = row[1].equals("-") ? capture : capture.withBody(decoded(row[1]));
        capture = row[2].equals("-") ? capture : capture.withStatus(Integer.parseInt(row[2]));
        capture = row[3].equals("-") ? capture : capture.withTime(Long.parseLong(row[3]));
        capture = row[4].equals("-") ? capture : capture.withRedirects(Integer.parseInt(row[4]));
        capture = row[5].equals("-") ? capture : capture.withTruncated(row[5]);
        capture = row[6].equals("-") ? capture : capture.withError(row[6]);
        for (String header : row[7].equals("-") ? new String[0] : row[7].split("\\|")) {
            capture = capture.withHeader(header.split(":", 2)[0], header.split(":", 2)[1]);
        }
        return capture;
    }

    /** Compiles the captures of each table, and compares the bytes with those of the command's set. */
    private static void sets(Path folder) throws Exception {
        List<String[]> sets = Check.rows(folder.resolve("sets.tsv"));
        for (String[] row : sets) {
            List<String[]> captures = Check.rows(folder.resolve(row[0] + ".captures"));
            for (boolean isReversed : new boolean[] {false, true}) {
                Path path = folder.resolve(row[0] + ".compiled");
                SetCompiler.Options options = SetCompiler.of(row[1]).byTime(row[2].equals("by-time"));
                options = isReversed ? options.memory(0, folder) : options;
                try (SetCompiler compiler = options.create()) {
                    if (isReversed) {
                        Collections.reverse(captures);
                    }
                    captures.forEach(cells -> compiler.add(capture(cells)));
                    CompiledSet set = compiler.finish(path, true);
                    Check.equal(row[1], set.dialect(), "the dialect of " + row[0]);
                    set.verify();
                }
                byte[] expected = Files.readAllBytes(Path.of(row[3]));
                Check.equal(-1, Arrays.mismatch(expected, Files.readAllBytes(path)), "first byte that differs in " + row[0]);
            }
            System.out.println(row[0] + ": " + captures.size() + " captures, " + Files.size(Path.of(row[3])) + " bytes, as the command");
        }
    }

    /** Runs the conformance suite's checks that have a valid name, by `OneShot` and by the set. */
    private static void suite(Path data) throws Exception {
        int checked = 0;
        int refused = 0;
        int invalid = 0;
        List<Path> tables;
        try (Stream<Path> files = Files.list(data.resolve("suite"))) {
            tables = files.filter(file -> file.toString().endsWith(".tsv")).sorted().collect(Collectors.toList());
        }
        for (Path table : tables) {
            String dialect = table.getFileName().toString().replace(".tsv", "");
            Map<String, byte[]> bodies = new HashMap<>();
            for (String[] row : Check.rows(data.resolve("native/suite-" + dialect + ".captures"))) {
                bodies.put(row[0].replace("robots.txt", ""), decoded(row[1]));
            }
            CompiledSet set = CompiledSet.open(data.resolve("suite/" + dialect + ".reptile"));
            Map<String, OneShot> byAgent = new HashMap<>();
            for (String[] row : Check.rows(table)) {
                String agent = new String(decoded(row[1]), StandardCharsets.UTF_8);
                String url = new String(decoded(row[2]), StandardCharsets.UTF_8);
                Agent resolved;
                try {
                    resolved = set.agentExactly(agent);
                } catch (AgentNameException notNamed) {
                    Check.refused(AgentNameException.class, () -> new OneShot(agent, dialect), dialect + ": " + agent);
                    refused++;
                    continue;
                }
                // A path is decided like the URL with the origin before it. Other texts are URLs where a set says so.
                boolean isPath = url.startsWith("/");
                Explanation whole = resolved.explain(isPath ? row[0].substring(0, row[0].length() - 1) + url : url);
                boolean isUrl = whole.verdict() != Verdict.INVALID;
                Explanation explained = isPath || !isUrl ? whole : resolved.explainPath(row[0], bytes(url));
                Decision decision = byAgent.computeIfAbsent(agent, name -> new OneShot(name, dialect)).decide(bodies.get(row[0]), url);
                String where = dialect + ": " + row[5] + ", " + agent + ", " + url;
                Check.equal(explained.verdict() + " " + explained.line(), decision.verdict() + " " + decision.line(), where);
                // The suite also has names that only a conformance test resolves, such as MJ12bot where it is read as MJ.
                // The reference takes the text after two slashes for a host.
                boolean isComparable = isUrl && !url.startsWith("//");
                invalid += isUrl ? 0 : 1;
                if (isComparable && set.agentUnchecked(decoded(row[1])).tokens().equals(resolved.tokens())) {
                    Check.equal(Check.verdict(row[3]), decision.verdict(), where);
                }
                checked++;
            }
        }
        Check.that(checked > 10 * refused && checked > 800, checked + " checks and " + refused + " refused names");
        Check.that(invalid > 20 && invalid < 50, invalid + " texts that are neither a URL nor a path");
        System.out.println("one-shot verdicts: " + checked + " checks of the suite, " + refused + " with a name that a set refuses too");
    }

    /** Runs the cases in {@code corpora/calls}, which every language runs. */
    private static void calls(Path folder) throws Exception {
        OneShot oneShot = new OneShot("GPTBot", "google");
        int[] counts = new int[3];
        byte[] body = new byte[0];
        for (String[] row : Check.rows(folder.resolve("calls.tsv"))) {
            String text = new String(decoded(row[1]), StandardCharsets.UTF_8);
            String shown = text.substring(0, Math.min(60, text.length()));
            switch (row[0]) {
                case "body":
                    body = bytes(text);
                    break;
                case "url":
                    Check.equal(Check.verdict(row[2]), oneShot.decide(body, text).verdict(), "the URL " + shown);
                    counts[0]++;
                    break;
                case "refused":
                    Check.refused(IllegalArgumentException.class, () -> oneShot.decide(bytes(text), "User-agent: *"), "the body " + shown);
                    counts[1]++;
                    break;
                default:
                    Check.that(oneShot.decide(bytes(text), "/x").verdict() != Verdict.INVALID, "the body " + shown);
                    counts[2]++;
            }
        }
        Check.equal("[66, 25, 36]", Arrays.toString(counts), "numbers of calls");
    }

    /** Compares one-shot verdicts for real files with a set of them, which the command compiled. */
    private static void real(Path data) throws Exception {
        Path captures = data.resolve("native/real.captures");
        if (Files.size(captures) == 0) {
            System.out.println("one-shot verdicts for real files: NOT compared, because there are no real files");
            return;
        }
        CompiledSet set = CompiledSet.open(data.resolve("real/google-lib.reptile"));
        String[] paths = {"/", "/products/shoes?sort=price&page=2", "/2024/05/an-article.html", "/wp-admin/admin-ajax.php", "/search/"};
        int[] counts = new int[2];
        for (String name : new String[] {"GPTBot", "Googlebot-Image", "*"}) {
            Agent agent = set.agent(name);
            OneShot oneShot = new OneShot(name, "google-lib");
            for (String[] row : Check.rows(captures)) {
                byte[] body = decoded(row[1]);
                for (String path : paths) {
                    String url = row[0].substring(0, row[0].length() - 1) + path;
                    Explanation explained = agent.explain(url);
                    if (explained.reason() == Reason.RULE || explained.reason() == Reason.NO_RULE_MATCHES || explained.reason() == Reason.NO_GROUP) {
                        Decision decision = oneShot.decide(body, url);
                        counts[decision.verdict().ordinal()]++;
                        String found = decision.verdict() + " " + decision.line();
                        Check.equal(explained.verdict() + " " + explained.line(), found, name + " " + url);
                    }
                }
            }
        }
        Check.that(counts[0] > 50_000 && counts[1] > 1000, "verdicts for real files");
        System.out.println("one-shot verdicts for real files: " + counts[0] + " allow, " + counts[1] + " disallow, as the command's set");
    }

    /** Compares access with {@code reptile summarize}, for a list and for whole sets. */
    private static void access(Path folder) throws Exception {
        List<String> crawlers = Arrays.asList("GPTBot", "Googlebot-Image", "*");
        Path set = Path.of(new String(Files.readAllBytes(folder.resolve("access.set")), StandardCharsets.UTF_8));
        try (AccessReader reader = AccessReader.open(set, crawlers)) {
            List<String> all = new ArrayList<>();
            reader.forEach(access -> all.add(shown(access)));
            List<String> expected = lines(folder.resolve("access.tsv"));
            Check.that(expected.size() > 100, "rows of reptile summarize");
            Check.equal(expected, all, "every origin");
            List<String> some = new ArrayList<>();
            for (String url : lines(folder.resolve("access.urls"))) {
                reader.access(url).forEach(access -> some.add(shown(access)));
            }
            Check.equal(lines(folder.resolve("access-list.tsv")), some, "a list");
            Check.equal(null, reader.access(null), "a null URL");
            Check.equal("invalid", reader.access("\ud800").get(0).access(), "an unpaired surrogate");
            System.out.println("access: " + expected.size() + " rows of every origin and " + some.size() + " of a list, as the command");
        }
    }

    private static List<String> lines(Path file) throws IOException {
        return Files.readAllLines(file);
    }

    private static String shown(Access row) {
        return String.join("\t", row.url(), row.agent(), row.access(), row.group(), String.valueOf(row.allowRules()),
                String.valueOf(row.disallowRules()), row.reason(), row.allowedPath().orElse(""), row.disallowedPath().orElse(""));
    }

    private static void compilers(Path folder) throws Exception {
        Check.refused(NullPointerException.class, () -> SetCompiler.of(null), "a null dialect");
        Check.refused(IllegalArgumentException.class, () -> SetCompiler.of("gogle").create().close(), "an unknown dialect");
        Check.refused(IllegalArgumentException.class, () -> SetCompiler.of("\ud800").create().close(), "an unpaired surrogate");
        Check.refused(IllegalArgumentException.class, () -> SetCompiler.of("google").profile("x").create().close(), "a profile");
        Check.refused(IllegalArgumentException.class, () -> SetCompiler.of("google").memory(-1, folder), "negative memory");
        Check.refused(NullPointerException.class, () -> SetCompiler.of("google").memory(1, null), "a null folder");
        Check.refused(NullPointerException.class, () -> Capture.of(null), "a null URL");
        Capture capture = Capture.of(ROBOTS);
        for (int status : new int[] {-1, 0, 99, 1000, Integer.MIN_VALUE}) {
            Check.refused(IllegalArgumentException.class, () -> capture.withStatus(status), "a status of " + status);
        }
        Check.refused(IllegalArgumentException.class, () -> capture.withRedirects(-1), "redirects");
        Check.refused(IllegalArgumentException.class, () -> capture.withTruncated("no"), "a truncation");
        Check.refused(IllegalArgumentException.class, () -> capture.withHeader("a:b", "c"), "a colon");
        Check.refused(IllegalArgumentException.class, () -> capture.withHeader("a", "c\nd"), "a line break");
        Check.refused(NullPointerException.class, () -> capture.withHeader("a", null), "a null value");
        Path path = folder.resolve("misuse.reptile");
        Files.deleteIfExists(path);
        SetCompiler compiler = SetCompiler.of("google").create();
        Check.refused(NullPointerException.class, () -> compiler.add(null), "a null capture");
        Check.refused(NullPointerException.class, () -> compiler.finish(null, true), "a null path");
        Check.refused(CompileException.class, () -> compiler.add(capture), "a capture without a body");
        String[] urls = {"", "a.example", "http://a.example/", "http://a.example/robots.txt/", "mailto:a", "\u0000"};
        for (String url : urls) {
            Check.refused(CompileException.class, () -> compiler.add(Capture.of(url).withBody(BODY)), "the URL " + url);
        }
        compiler.add(capture.withBody(BODY));
        compiler.add(Capture.of("http://b.example/robots.txt").withError("no such host"));
        Files.write(path, BODY);
        Check.refused(FileAlreadyExistsException.class, () -> compiler.finish(path, false), "an existing file");
        Check.equal(-1, Arrays.mismatch(BODY, Files.readAllBytes(path)), "the existing file is unchanged");
        CompiledSet set = compiler.finish(path, true);
        Agent agent = set.agent("GPTBot");
        Check.equal(Verdict.DISALLOW, agent.decide("http://a.example/a/1"), "a verdict of the set");
        Check.equal(Verdict.ALLOW, agent.decide("http://a.example/a/b"), "a verdict of the set");
        Check.equal(Verdict.DISALLOW, agent.decide("http://b.example/"), "a network error");
        Check.equal(2L, set.originCount(), "refused captures leave nothing");
        Check.refused(IllegalStateException.class, () -> compiler.finish(path, true), "a finished compiler");
        Check.refused(IllegalStateException.class, () -> compiler.add(capture.withBody(BODY)), "a finished compiler");
        compiler.close();
        compiler.close();
        Check.refused(IllegalStateException.class, () -> compiler.add(capture.withBody(BODY)), "a closed compiler");
        Check.refused(IllegalStateException.class, () -> compiler.finish(path, true), "a closed compiler");
        try (SetCompiler other = SetCompiler.of("google").create()) {
            Check.refused(NoSuchFileException.class, () -> other.finish(folder.resolve("none/x.reptile"), true), "no such folder");
        }
        try (SetCompiler other = SetCompiler.of("google").create()) {
            Check.refused(IOException.class, () -> other.finish(folder, true), "a folder");
            Check.equal(0L, other.finish(folder.resolve("empty.reptile"), true).originCount(), "a set without captures");
        }
    }

    private static void oneShots() throws Exception {
        Check.refused(NullPointerException.class, () -> new OneShot(null, "google"), "a null crawler");
        Check.refused(NullPointerException.class, () -> new OneShot("GPTBot", null), "a null dialect");
        Check.refused(IllegalArgumentException.class, () -> new OneShot("GPTBot", "x"), "an unknown dialect");
        for (String name : new String[] {"", "A,B", "Foo Bar/1.0", "\u00c4Bot"}) {
            Check.refused(AgentNameException.class, () -> new OneShot(name, "google"), "the crawler " + name);
        }
        OneShot oneShot = new OneShot("GPTBot", "google");
        Check.refused(NullPointerException.class, () -> oneShot.decide(null, "/"), "a null body");
        Object[][] table = {
            {"http://a.example/a/1", "DISALLOW: line 2"}, {"/a/b", "ALLOW: line 3"}, {"/", "ALLOW"}, {"", "INVALID"}, {"\ud800", "INVALID"},
            {null, "null"},
        };
        for (Object[] row : table) {
            Check.equal(row[1], String.valueOf(oneShot.decide(BODY, (String) row[0])), "one shot at " + row[0]);
        }
        Check.equal("ALLOW", oneShot.decide(new byte[0], "/a").toString(), "an empty file");
        Check.equal(oneShot.decide(BODY, "/a"), oneShot.decide(BODY, "/a/1"), "equal decisions");
        // The garbage collector frees thousands of them.
        for (int turn = 0; turn < 20_000; turn++) {
            Check.equal(2L, new OneShot("Bot", "google").decide(BODY, "/a").line(), "many values");
        }
    }

    private static void readers(Path folder) throws Exception {
        List<String> crawlers = Arrays.asList("GPTBot");
        Path path = folder.resolve("misuse.reptile");
        Check.refused(NullPointerException.class, () -> AccessReader.open(null, crawlers), "a null path");
        Check.refused(NullPointerException.class, () -> AccessReader.open(path, null), "a null list");
        Check.refused(NullPointerException.class, () -> AccessReader.open(path, Collections.singletonList(null)), "a null name");
        Check.refused(NoSuchFileException.class, () -> AccessReader.open(folder.resolve("none"), crawlers), "a missing file");
        Check.refused(AgentNameException.class, () -> AccessReader.open(path, Arrays.asList("A,B")), "a list");
        Check.refused(AgentNameException.class, () -> AccessReader.open(path, Arrays.asList("Googelbot")), "a misspelled name");
        Path cut = folder.resolve("cut.reptile");
        Files.write(cut, Arrays.copyOf(Files.readAllBytes(path), 100));
        Check.refused(DamagedSetException.class, () -> AccessReader.open(cut, crawlers), "an incomplete file");
        AccessReader reader = AccessReader.open(path, crawlers);
        Check.refused(NullPointerException.class, () -> reader.forEach(null), "a null consumer");
        AtomicInteger calls = new AtomicInteger();
        Check.refused(ArithmeticException.class, () -> reader.forEach(access -> {
            calls.incrementAndGet();
            throw new ArithmeticException("from the consumer");
        }), "a consumer that fails");
        Check.equal(1, calls.get(), "calls to a consumer that fails");
        // A consumer may use and close the reader.
        reader.forEach(access -> {
            Check.equal(access.access(), calls.get() == 2 ? "partial" : reader.access(access.url()).get(0).access(), "in a consumer");
            reader.close();
            calls.set(2);
        });
        Check.refused(IllegalStateException.class, () -> reader.access("http://a.example"), "a closed reader");
        Check.refused(IllegalStateException.class, () -> reader.forEach(access -> {}), "a closed reader");
        try (AccessReader none = AccessReader.open(path, Collections.emptyList())) {
            Check.equal(Collections.emptyList(), none.access("http://a.example"), "no crawlers");
            none.forEach(access -> Check.fail("a row without a crawler"));
        }
    }

    /** Tests bodies one byte below the limit, at the limit, and one byte above it. */
    private static void limits(Path folder) throws Exception {
        int limit = 16 << 20;
        OneShot oneShot = new OneShot("GPTBot", "rfc9309");
        for (int over = -1; over <= 1; over++) {
            byte[] body = new byte[limit + over];
            Arrays.fill(body, (byte) '\n');
            try (SetCompiler compiler = SetCompiler.of("rfc9309").create()) {
                if (over > 0) {
                    Check.refused(CompileException.class, () -> compiler.add(Capture.of(ROBOTS).withBody(body)), "a large body");
                    Check.refused(CompileException.class, () -> oneShot.decide(body, "/"), "a large body");
                } else {
                    compiler.add(Capture.of(ROBOTS).withBody(body));
                    Check.equal(Verdict.ALLOW, oneShot.decide(body, "/").verdict(), "a body of " + body.length + " bytes");
                }
                Check.equal(over > 0 ? 0L : 1L, compiler.finish(folder.resolve("limit.reptile"), true).originCount(), "origins");
            }
        }
    }

    /** Uses objects on many threads at once, while one thread closes them. */
    private static void threads(Path folder) throws Exception {
        OneShot oneShot = new OneShot("GPTBot", "google");
        List<String> found = IntStream.range(0, 20_000).parallel().mapToObj(turn -> oneShot.decide(BODY, "/a/" + (turn % 2 == 0 ? "b" : "c")).toString())
                .distinct().sorted().collect(Collectors.toList());
        Check.equal(Arrays.asList("ALLOW: line 3", "DISALLOW: line 2"), found, "verdicts of several threads");
        Path path = folder.resolve("threads.reptile");
        byte[] first = null;
        for (int turn = 0; turn < 3; turn++) {
            try (SetCompiler compiler = SetCompiler.of("google").create()) {
                IntStream.range(0, 2000).parallel().forEach(number -> compiler.add(
                        Capture.of("http://h" + number + ".example/robots.txt").withBody(bytes("user-agent: *\ndisallow: /" + number % 100))));
                Check.equal(2000L, compiler.finish(path, true).originCount(), "origins of several threads");
            }
            byte[] compiled = Files.readAllBytes(path);
            Check.that(first == null || Arrays.equals(first, compiled), "the same bytes");
            first = compiled;
        }
        for (int turn = 0; turn < 20; turn++) {
            int closing = turn * 20;
            SetCompiler compiler = SetCompiler.of("google").create();
            AccessReader reader = AccessReader.open(path, Arrays.asList("GPTBot"));
            AtomicInteger other = new AtomicInteger();
            IntStream.range(0, 500).parallel().forEach(number -> {
                try {
                    if (number == closing) {
                        compiler.close();
                        reader.close();
                    }
                    compiler.add(Capture.of("http://h" + number + ".example/robots.txt").withBody(BODY));
                    Check.that(reader.access("http://h" + number + ".example").size() == 1, "a row");
                } catch (IllegalStateException closed) {
                    other.incrementAndGet();
                }
            });
            Check.that(other.get() > 0, "calls after closing");
        }
    }

    /** Tests class loaders that each load the library, use its threads, and are dropped, as in application servers. */
    private static void loaders(Path folder) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        List<WeakReference<ClassLoader>> dropped = new ArrayList<>();
        for (int turn = 0; turn < 4; turn++) {
            ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            Method compile = loader.loadClass("reptile.NativeTest").getDeclaredMethod("compileOne", Path.class);
            compile.setAccessible(true);
            Check.equal("DISALLOW", compile.invoke(null, folder.resolve("loader.reptile")), "a verdict by another class loader");
            dropped.add(new WeakReference<>(loader));
        }
        for (int turn = 0; turn < 50 && dropped.stream().anyMatch(loader -> loader.get() != null); turn++) {
            System.gc();
            Thread.sleep(20);
        }
        long left = dropped.stream().filter(loader -> loader.get() != null).count();
        System.out.println("class loaders: " + (dropped.size() - left) + " of " + dropped.size() + " are dropped");
        Check.equal("DISALLOW", compileOne(folder.resolve("loader.reptile")), "a verdict afterwards");
    }

    /** Compiles a set, and returns a verdict by it. */
    static String compileOne(Path path) throws IOException {
        try (SetCompiler compiler = SetCompiler.of("google").create()) {
            compiler.add(Capture.of(ROBOTS).withBody(BODY));
            return compiler.finish(path, true).agent("GPTBot").decide("http://a.example/a").name();
        }
    }

    private static void library() throws Exception {
        Class<?> library = Class.forName("reptile.natives.Library");
        Method panic = library.getDeclaredMethod("panic");
        panic.setAccessible(true);
        for (int turn = 0; turn < 3; turn++) {
            try {
                panic.invoke(null);
                Check.fail("a panic without an exception");
            } catch (InvocationTargetException thrown) {
                Check.equal(InternalException.class, thrown.getCause().getClass(), "the exception for a panic");
                Check.equal("panic in the native library: as requested", thrown.getCause().getMessage(), "the message");
            }
        }
        Method platform = library.getDeclaredMethod("platform", String.class, String.class);
        platform.setAccessible(true);
        String[][] table = {
            {"Linux", "amd64", "linux-x86_64"}, {"Linux", "aarch64", "linux-aarch64"}, {"Mac OS X", "aarch64", "macos-aarch64"},
            {"Mac OS X", "x86_64", "macos-x86_64"}, {"Windows 11", "amd64", "windows-x86_64"}, {"FreeBSD", "riscv64", "freebsd-riscv64"},
        };
        for (String[] row : table) {
            Check.equal(row[2], platform.invoke(null, row[0], row[1]), "platform");
        }
    }
}
