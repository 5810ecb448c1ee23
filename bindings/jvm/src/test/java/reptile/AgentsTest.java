package reptile;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Compares several crawlers, groups, purposes and rows' crawlers with {@code reptile classify}, row by row. */
final class AgentsTest {
    private AgentsTest() {}

    static void run(Path golden, Path folder) throws Exception {
        rules();
        names(CompiledSet.open(golden.resolve("google.set")));
        cache(CompiledSet.open(golden.resolve("google.set")));
        longUrls(CompiledSet.open(golden.resolve("google.set")));
        List<String[]> questions = Check.rows(folder.resolve("questions.tsv"));
        long rows = 0;
        for (String[] question : questions) {
            rows += new Question(question).compare(folder);
        }
        System.out.println("several crawlers: " + rows + " rows of " + questions.size() + " questions");
        Check.that(rows > 10_000, "rows to compare");
    }

    /** A question to the command: a row of {@code questions.tsv}, which {@code prepare.py} writes. */
    private static final class Question {
        private final String name;
        private final CompiledSet set;
        private final Path input;
        private final Agents agents;
        private final RowAgents rows;
        private final boolean hasTimes;

        Question(String[] cells) throws Exception {
            name = cells[0];
            set = CompiledSet.open(Path.of(cells[1]));
            input = Path.of(cells[2]);
            hasTimes = cells[4].equals("times");
            Scope scope = cells[5].equals("domain") ? Scope.domain(ScopeTest::registered) : Scope.fromName(cells[5]).orElseThrow();
            Purpose purpose = cells[6].isEmpty() ? null : Purpose.of(uses(cells[7], cells[6]), Check.verdict(cells[8]));
            boolean isByRow = cells[3].equals("{user_agent}");
            Agents named = isByRow ? null : set.agents(cells[3].split(",")).in(scope);
            agents = named == null || purpose == null ? named : named.forPurpose(purpose);
            RowAgents found = isByRow ? set.rowAgents().in(scope) : null;
            rows = found == null || purpose == null ? found : found.forPurpose(purpose);
        }

        private static Uses uses(String lines, String use) {
            return Uses.reading(lines, use);
        }

        /** Compares all rows, and returns their number. */
        long compare(Path folder) throws Exception {
            List<String[]> answers = Check.rows(folder.resolve(name + ".tsv"));
            List<String[]> inputs = Check.rows(input);
            boolean hasHeader = rows != null || hasTimes;
            Check.equal(inputs.size() - (hasHeader ? 1 : 0), answers.size() - 1, "rows of " + name);
            List<String> columns = Arrays.asList(answers.get(0));
            for (int row = 1; row < answers.size(); row++) {
                String[] cells = inputs.get(hasHeader ? row : row - 1);
                compare(columns, answers.get(row), cells);
            }
            return answers.size() - 1;
        }

        private void compare(List<String> columns, String[] answer, String[] cells) {
            String url = new String(Check.bytes(cells[0]), StandardCharsets.UTF_8);
            Agents asked = rows == null ? agents : rows.agents(cells.length > 1 ? new String(Check.bytes(cells[1]), StandardCharsets.UTF_8) : null);
            long time = !hasTimes ? 0 : cells[1].endsWith("Z") ? Instant.parse(cells[1]).getEpochSecond() : Long.parseLong(cells[1]);
            Verdicts verdicts = hasTimes ? asked.decideAt(url, time) : asked.decide(url);
            List<Explanation> explained = !columns.toString().contains("reason")
                    ? Collections.emptyList() : hasTimes ? asked.explainAt(url, time) : asked.explain(url);
            List<String> found = new ArrayList<>();
            int[] places = new int[3];
            for (String column : columns) {
                switch (column.substring(column.lastIndexOf(':') + 1)) {
                    case "agent":
                        found.add(asked.names().get(0));
                        break;
                    case "verdict":
                        found.add(word(verdicts.get(places[0]++)));
                        break;
                    case "purpose":
                        found.add(word(verdicts.forPurpose().get(places[1]++)));
                        break;
                    case "reason":
                        found.add(explained.get(places[2]++).reasonText());
                        break;
                    case "mask":
                        OptionalLong mask = verdicts.mask();
                        found.add(mask.isPresent() ? Long.toUnsignedString(mask.getAsLong()) : "");
                        break;
                    case "refused":
                        found.add(verdicts.refused().map(names -> String.join(";", names)).orElse(word(undecided(verdicts))));
                        break;
                    default:
                        found.add("an unexpected column " + column);
                }
            }
            Check.equal(Arrays.asList(answer), found, name + " " + String.join(" ", cells));
        }

        private static String word(Verdict verdict) {
            return verdict == null ? "" : verdict.name().toLowerCase(java.util.Locale.ROOT);
        }

        private static Verdict undecided(Verdicts verdicts) {
            return verdicts.forPurpose().stream().filter(one -> one == Verdict.UNKNOWN || one == Verdict.INVALID).findFirst().orElse(null);
        }
    }

    /** Only an allowed fetch for an allowed use is allowed without a choice of the caller. */
    private static void rules() {
        int cases = 0;
        for (Verdict unknown : Arrays.asList(Verdict.ALLOW, Verdict.DISALLOW, Verdict.UNKNOWN)) {
            Purpose purpose = Purpose.of(Uses.usage("train-ai"), unknown);
            for (Verdict fetch : Verdict.values()) {
                for (Preference preference : Preference.values()) {
                    boolean isAllowed = preference == Preference.ALLOWED || preference == Preference.UNKNOWN && unknown == Verdict.ALLOW;
                    Verdict found = purpose.verdict(fetch, preference);
                    Check.equal(fetch == Verdict.ALLOW && isAllowed, found == Verdict.ALLOW, fetch + " and " + preference + ", " + purpose);
                    Check.that(fetch == Verdict.ALLOW || found == fetch, fetch + " stays");
                    cases++;
                }
            }
            Check.equal(unknown, purpose.verdict(Verdict.ALLOW, Preference.UNKNOWN), "an unknown preference");
            Check.equal(null, purpose.verdict(null, null), "no verdict");
        }
        Check.equal(48, cases, "the number of cases");
        Uses two = Uses.usage("train-ai", "search");
        Check.refused(IllegalArgumentException.class, () -> Purpose.of(two, Verdict.ALLOW), "two uses");
        Check.refused(IllegalArgumentException.class, () -> Purpose.of(Uses.usage("search"), Verdict.INVALID), "INVALID");
    }

    private static void names(CompiledSet set) {
        Agents agents = set.agents("Googlebot", "GPTBot", "@ai-training");
        Check.equal(Arrays.asList("Googlebot", "GPTBot"), agents.names().subList(0, 2), "names before a group");
        Check.equal(agents.names().size(), (int) agents.names().stream().distinct().count(), "each crawler once");
        Check.that(agents.names().contains("CCBot") && !agents.names().contains("bingbot"), "a group's crawlers");
        Check.that(set.agents("@search", "@AI-training").names().containsAll(Arrays.asList("bingbot", "CCBot")), "two groups");
        Check.equal("GPTBot, CCBot, in the scope www", set.agents("GPTBot", "CCBot").in(Scope.WWW).toString(), "agents' text");
        Verdicts verdicts = set.agents("GPTBot", "*").decide("https://shop.example.com/cart?item=17");
        Check.equal("GPTBot DISALLOW, * DISALLOW", verdicts.toString(), "verdicts' text");
        Check.that(set.toString().matches("set of \\d+ origins, dialect google.*"), "a set's text: " + set);
        String[][] refused = {
            {}, {"@nobody"}, {"GPTBot", "gptbot"}, {"@ai-training", "GPTBot"}, {"Googelbot"}, {"GPTBot,CCBot"}, {"GPTBot", ""}, {"A>*", "a>*"},
        };
        for (String[] row : refused) {
            Check.refused(AgentNameException.class, () -> set.agents(row), Arrays.toString(row));
        }
        String message = "no robots.txt names \"Googelbot\", which is nearly the crawler \"Googlebot\": write that, or call ";
        equalMessage(message + "agentExactly", () -> set.agent("Googelbot"));
        equalMessage(message + "agentsExactly", () -> set.agents("GPTBot", "Googelbot"));
        Check.equal(Arrays.asList("Googelbot"), set.agentsExactly("Googelbot").names(), "an exact name");
        for (int over = -1; over <= 1; over++) {
            int count = Verdicts.MAX_MASKED_AGENTS + over;
            String[] many = new String[count];
            for (int place = 0; place < count; place++) {
                many[place] = "Bot" + "x".repeat(place);
            }
            Verdicts each = set.agents(many).decide("https://shop.example.com/cart?item=17");
            if (over > 0) {
                Check.refused(IllegalStateException.class, each::mask, count + " crawlers");
            } else {
                Check.equal(OptionalLong.of(-1L >>> -count), each.mask(), "a mask of " + count);
            }
            Check.equal(Optional.of(Arrays.asList(many)), each.refused(), "refused crawlers");
        }
    }

    /** A URL over 64 KiB has its own reason in each method. */
    private static void longUrls(CompiledSet set) {
        String start = "https://shop.example.com/cart?";
        Agent agent = set.agent("GPTBot");
        int cases = 0;
        for (int over = -1; over <= 1; over++) {
            // A letter of two bytes.
            String wide = start + "\u00e9".repeat((Url.MAX_URL_BYTES - start.length()) / 2) + "x".repeat(over + 1);
            for (String url : new String[] {start + "x".repeat(Url.MAX_URL_BYTES - start.length() + over), wide.substring(over < 0 ? 1 : 0)}) {
                boolean isLong = url.getBytes(StandardCharsets.UTF_8).length > Url.MAX_URL_BYTES;
                String expected = isLong ? "INVALID URL over 64 KiB" : url.startsWith("h") ? "DISALLOW rule" : "INVALID no URL";
                List<Explanation> found = Arrays.asList(agent.explain(url), agent.explain(url.getBytes(StandardCharsets.UTF_8)),
                        Scope.WWW.explain(agent, url), set.agents("GPTBot", "*").explain(url).get(1), set.rowAgents().agents("GPTBot/1").explain(url).get(0));
                for (Explanation explained : found) {
                    Check.equal(expected, explained.verdict() + " " + explained.reasonText(), "a URL of 64 KiB and " + over);
                    Check.equal(isLong, explained.reason() == Reason.LONG_URL, "the reason of a URL of 64 KiB and " + over);
                    cases++;
                }
            }
        }
        Check.equal(30, cases, "long URLs");
    }

    private static void cache(CompiledSet set) {
        RowAgents rows = set.rowAgents();
        for (int number = 0; number < RowAgents.MAX_CACHED_CELLS - 1; number++) {
            rows.agents("GPTBot/" + number);
        }
        for (int cached : new int[] {RowAgents.MAX_CACHED_CELLS - 1, RowAgents.MAX_CACHED_CELLS, 1}) {
            Check.equal(cached, rows.cached(), "cached cells");
            Check.equal(Arrays.asList("GPTBot"), rows.agents("GPTBot (" + cached).names(), "a cell that is not cached");
        }
        for (int over = -1; over <= 1; over++) {
            RowAgents fresh = set.rowAgents();
            String cell = "GPTBot/1 " + "x".repeat(RowAgents.MAX_CACHED_CELL_CHARS - 9 + over);
            Check.equal(Arrays.asList("GPTBot"), fresh.agents(cell).names(), "a cell of " + cell.length() + " characters");
            Check.equal(over > 0 ? 0 : 1, fresh.cached(), "cells of " + cell.length() + " characters in the cache");
        }
        Object[][] cells = {
            {"gptbot", "gptbot"}, {" GPTBot\n", "GPTBot"}, {"-", ""}, {"", ""}, {null, ""}, {"*", ""}, {"A>B", ""}, {"Ab12x", "Ab"}, {"12x", ""},
            {"GPTBot;x", ""}, {"Mozilla/5.0 (X11) Firefox/143.0", ""}, {"Mozilla/5.0 (compatible; GPTBot/1.2)", "GPTBot"}, {"\u00c4Bot", ""},
            {"MJ12bot", "MJ12bot"}, {"Googelbot", "Googelbot"}, {"curl/8.1", ""}, {"curl", "curl"},
        };
        RowAgents found = set.rowAgents();
        for (Object[] row : cells) {
            Agents agents = found.agents((String) row[0]);
            Check.equal(Arrays.asList(row[1]), agents.names(), "the crawler of the cell " + row[0]);
            Check.equal(((String) row[1]).isEmpty(), agents.toList().isEmpty(), "no crawler in the cell " + row[0]);
            Check.equal(Verdict.INVALID, agents.decide("nonsense").get(0), "not a URL, for the cell " + row[0]);
        }
        Explanation nobody = found.agents("-").explain("https://shop.example.com/cart").get(0);
        Check.equal(Arrays.asList(Verdict.UNKNOWN, Reason.NO_CRAWLER, "no crawler"),
                Arrays.asList(nobody.verdict(), nobody.reason(), nobody.reasonText()), "a row without a crawler");
        Uses uses = Uses.usage("train-ai");
        Check.equal("[[UNKNOWN]]", found.agents("-").usage("https://shop.example.com/cart", uses).toString(), "its uses");
    }

    private static void equalMessage(String expected, Check.Work work) {
        try {
            work.run();
            Check.fail("expected an exception: " + expected);
        } catch (Exception error) {
            Check.equal(expected, error.getMessage(), "a message");
        }
    }
}
