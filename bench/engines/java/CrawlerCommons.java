import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.SimpleRobotRulesParser;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * An engine: crawler-commons, the parser in Nutch, StormCrawler and Common Crawl, which parses a file for one crawler.
 * It implements the protocol in bench/judge/PROTOCOL.md. Run it with the crawler-commons jar and its dependencies on
 * the class path: {@code java -cp crawler-commons.jar:slf4j-api.jar:commons-io.jar CrawlerCommons.java}.
 */
class CrawlerCommons {
    /** Minimum duration of a sample in nanoseconds. */
    static final long SAMPLE_NS = 1_000_000;

    static final List<String> MODELS = List.of("one-shot", "parse", "decide", "fresh", "crawl");

    record Field(String key, byte[] value) {
        Field(String key, Object text) {
            this(key, text.toString().getBytes(UTF_8));
        }

        String text() {
            return new String(value, UTF_8);
        }
    }

    record Slot(String origin, byte[] body, Map<String, BaseRobotRules> rules) {}

    /** A row of a request. The crawler or URL is null if it is not UTF-8. */
    record Row(int number, Slot slot, String agent, String url) {}

    static class Skip extends RuntimeException {
        Skip(String why) {
            super(why);
        }
    }

    interface Pass {
        long run();
    }

    final SimpleRobotRulesParser parser = new SimpleRobotRulesParser();
    final Map<Integer, Slot> slots = new HashMap<>();

    /** Parses a file. The parser expects crawler names in lower case. */
    BaseRobotRules parse(Slot slot, String agent) {
        List<String> agents = agent.isEmpty() ? List.of() : List.of(agent.toLowerCase(java.util.Locale.ROOT));
        return parser.parseContent(slot.origin + "/robots.txt", slot.body, "text/plain", agents);
    }

    BaseRobotRules rules(Slot slot, String agent) {
        return slot.rules.computeIfAbsent(agent, name -> parse(slot, name));
    }

    List<Field> hello() {
        List<Field> reply = new ArrayList<>(List.of(new Field("name", "crawler-commons"),
                new Field("version", crawlercommons.CrawlerCommons.getVersion()), new Field("dialect", "rfc9309"),
                new Field("language", "Java " + Runtime.version()), new Field("can", "load"), new Field("can", "decide")));
        MODELS.forEach(model -> reply.add(new Field("can", "bench:" + model)));
        return reply;
    }

    List<Field> load(List<Field> request) {
        byte[] body = request.stream().filter(field -> field.key.equals("body")).findFirst().orElseThrow().value;
        slots.put(Integer.valueOf(text(request, "slot")), new Slot(text(request, "origin"), body, new HashMap<>()));
        return List.of();
    }

    List<Field> decide(List<Field> request) {
        StringBuilder verdicts = new StringBuilder();
        for (Row row : rows(request)) {
            verdicts.append(verdict(row));
        }
        return List.of(new Field("verdicts", verdicts));
    }

    char verdict(Row row) {
        if (row.slot == null) {
            return 'E';
        }
        if (row.agent == null || row.url == null) {
            return 'U';
        }
        try {
            return rules(row.slot, row.agent).isAllowed(row.url) ? 'A' : 'D';
        } catch (RuntimeException | StackOverflowError error) {
            return 'E';
        }
    }

    List<Field> bench(List<Field> request) {
        String model = text(request, "model");
        if (!MODELS.contains(model)) {
            throw new Skip("unsupported model: " + model);
        }
        List<Row> rows = rows(request);
        rows.removeIf(row -> row.slot == null || row.agent == null || row.url == null);
        return samples(pass(model, rows), model.equals("fresh"), Long.parseLong(text(request, "budget")));
    }

    /** Returns a pass over rows, which counts the disallowed ones. */
    Pass pass(String model, List<Row> rows) {
        if (model.equals("one-shot")) {
            return () -> count(rows, row -> parse(row.slot, row.agent).isAllowed(row.url));
        }
        if (model.equals("parse")) {
            Map<Integer, Row> first = new java.util.TreeMap<>();
            rows.forEach(row -> first.putIfAbsent(row.number, row));
            return () -> count(List.copyOf(first.values()), row -> parse(row.slot, row.agent).isAllowed(row.url));
        }
        if (model.equals("crawl")) {
            Map<String, Slot> sites = new HashMap<>();
            slots.values().forEach(slot -> sites.put(slot.origin, slot));
            return () -> count(rows, row -> {
                URI url = URI.create(row.url);
                Slot site = sites.get(url.getScheme() + "://" + url.getRawAuthority());
                return site == null || rules(site, row.agent).isAllowed(row.url);
            });
        }
        record Ready(BaseRobotRules rules, String url) {}
        List<Ready> ready = new ArrayList<>();
        rows.forEach(row -> ready.add(new Ready(rules(row.slot, row.agent), row.url)));
        return () -> count(ready, row -> row.rules.isAllowed(row.url));
    }

    static <T> long count(List<T> rows, java.util.function.Predicate<T> allows) {
        long disallowed = 0;
        for (T row : rows) {
            try {
                disallowed += allows.test(row) ? 0 : 1;
            } catch (RuntimeException | StackOverflowError error) {
                continue;
            }
        }
        return disallowed;
    }

    static List<Field> samples(Pass pass, boolean isFresh, long budget) {
        List<Field> samples = new ArrayList<>();
        if (!isFresh) {
            pass.run();
        }
        long total = 0;
        do {
            long start = System.nanoTime();
            long passes = 0;
            long disallowed = 0;
            long elapsed;
            do {
                disallowed += pass.run();
                passes++;
                elapsed = System.nanoTime() - start;
            } while (elapsed < SAMPLE_NS && !isFresh);
            samples.add(new Field("sample", elapsed + " " + passes + " " + disallowed));
            total += elapsed;
        } while (total < budget && !isFresh);
        return samples;
    }

    /** Returns a request's rows. */
    List<Row> rows(List<Field> request) {
        List<Row> rows = new ArrayList<>();
        int number = -1;
        Slot slot = null;
        String agent = null;
        for (Field field : request) {
            switch (field.key) {
                case "slot" -> {
                    slot = slots.get(Integer.valueOf(field.text()));
                    number++;
                }
                case "agent" -> agent = utf8(field.value);
                case "url" -> rows.add(new Row(number, slot, agent, utf8(field.value)));
                default -> { }
            }
        }
        return rows;
    }

    static String utf8(byte[] bytes) {
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException error) {
            return null;
        }
    }

    static String text(List<Field> request, String key) {
        return request.stream().filter(field -> field.key.equals(key)).findFirst().orElseThrow().text();
    }

    List<Field> reply(List<Field> request) {
        List<Field> reply = new ArrayList<>(List.of(new Field("is", "ok")));
        try {
            reply.addAll(switch (text(request, "do")) {
                case "hello" -> hello();
                case "load" -> load(request);
                case "clear" -> {
                    slots.clear();
                    yield List.of();
                }
                case "decide" -> decide(request);
                case "bench" -> bench(request);
                default -> throw new Skip("no such request: " + text(request, "do"));
            });
            return reply;
        } catch (Skip skip) {
            return List.of(new Field("is", "skip"), new Field("why", skip.getMessage()));
        } catch (RuntimeException error) {
            return List.of(new Field("is", "error"), new Field("why", error));
        }
    }

    /** Reads a message, or returns null at the end of the input. */
    static List<Field> read(DataInputStream in) throws IOException {
        List<Field> fields = new ArrayList<>();
        while (true) {
            int first = in.read();
            if (first < 0 && fields.isEmpty()) {
                return null;
            }
            if (first == '\n') {
                return fields;
            }
            String key = (char) first + untilColon(in);
            byte[] value = new byte[Integer.parseInt(untilColon(in))];
            in.readFully(value);
            if (in.read() != '\n') {
                throw new IOException("expected a newline after the value of " + key);
            }
            fields.add(new Field(key, value));
        }
    }

    static String untilColon(DataInputStream in) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int next = in.readUnsignedByte(); next != ':'; next = in.readUnsignedByte()) {
            text.write(next);
        }
        return text.toString(US_ASCII);
    }

    static void write(OutputStream out, List<Field> fields) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Field field : fields) {
            bytes.writeBytes((field.key + ":" + field.value.length + ":").getBytes(US_ASCII));
            bytes.writeBytes(field.value);
            bytes.write('\n');
        }
        bytes.write('\n');
        bytes.writeTo(out);
        out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        OutputStream out = System.out;
        System.setOut(System.err);
        CrawlerCommons engine = new CrawlerCommons();
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        for (List<Field> request = read(in); request != null; request = read(in)) {
            if (!request.isEmpty() && request.get(0).text().equals("stop")) {
                return;
            }
            write(out, engine.reply(request));
        }
    }
}
