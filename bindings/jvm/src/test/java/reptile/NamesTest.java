package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which names a set accepts, and how it resolves them. */
final class NamesTest {
    private NamesTest() {}

    static void run(Path golden, Path data) throws Exception {
        CompiledSet set = CompiledSet.open(golden.resolve("google.set"));
        Check.equal(Arrays.asList("Googlebot-Image", "Googlebot"), set.agent("googlebot-image").tokens(), "a known crawler");
        Check.that(set.agent("*").tokens().isEmpty() && set.agent("*").honorsDefaultGroup(), "the default group");
        Check.that(!set.agent("NobodyNamesIt").isNamed(), "a name that no file contains");
        String browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";
        String robot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
        Check.equal(set.agent("Googlebot").tokens(), tokensOfHeader(set, robot), robot);
        Check.equal(Arrays.asList("PriceBot"), tokensOfHeader(set, "PriceBot/1.0 (+http://price.example)"), "another robot");
        String digits = "Mozilla/5.0 (compatible; Ab12bot/1.4.8; http://ab.example/)";
        Check.equal(Arrays.asList("Ab"), tokensOfHeader(set, digits), digits);
        String[] refused = {"", "/1.0", "GPTBot,CCBot", "GPTBot;x", robot, "Foo Bar/1.0", "MJ12bot x", "* x", "Googelbot", "GPTbott", "ChatGPT", "google", "all", "A>Googelbot>*", "A>", ">A", "A>>B", "*>A", ">*", "A>/1", "@search", "\u00c4Bot"};
        for (String name : refused) {
            Check.refused(AgentNameException.class, () -> set.agent(name), name);
        }
        for (String header : new String[] {browser, "", " ", "curl", "curl/8.1", "Mozilla/5.0", "Ab12x/1.4.8"}) {
            Check.equal(Optional.empty(), set.agentOfHeader(header), "a header without a crawler: " + header);
        }
        for (int over = -1; over <= 1; over++) {
            String header = "PriceBot/1.0 " + "x".repeat(Names.MAX_HEADER_BYTES - 13 + over);
            if (over > 0) {
                Check.equal(Optional.empty(), set.agentOfHeader(header), "a header of " + header.length() + " bytes");
            } else {
                Check.equal(Arrays.asList("PriceBot"), tokensOfHeader(set, header), "a header of " + header.length() + " bytes");
            }
        }
        Check.equal(Arrays.asList("Googelbot"), set.agentExactly("Googelbot").tokens(), "exactly");
        Optional<String> nearly = Optional.of("which is nearly the crawler \"Googlebot\": write that");
        Check.equal(nearly, set.agentExactly("Googelbot").mistake(), "a misspelled name");
        Check.equal(nearly, set.agentExactly("A>Googelbot>*").mistake(), "a misspelled name in a chain");
        Check.equal(Optional.empty(), set.agentExactly("Googlebot").mistake(), "a known name");
        Check.equal(Optional.empty(), set.agentExactly("Pingbot").mistake(), "another crawler, one letter off from bingbot");
        String brand = "which is not a crawler's name: write \"GPTBot\", \"OAI-SearchBot\" or \"ChatGPT-User\"";
        Check.equal(Optional.of(brand), set.agentExactly("ChatGPT").mistake(), "a brand");
        Check.equal(Optional.of("which is not a crawler's name: every crawler is \"*\""), set.agentExactly("Robots").mistake(), "all");
        Check.equal("Googlebot-Image (Googlebot-Image>Googlebot>*)", set.agent("Googlebot-Image").toString(), "an agent's text");
        Agent chain = set.agent("A>B>*");
        Check.equal(Arrays.asList("A", "B"), chain.tokens(), "a chain");
        Check.that(chain.honorsDefaultGroup() && !set.agent("A>B").honorsDefaultGroup(), "a chain's end");
        Check.refused(AgentNameException.class, () -> set.agentOfTokens(Arrays.asList("A", ""), true), "an empty token");
        Agent free = set.agentOfTokens(Collections.emptyList(), false);
        Check.equal(Verdict.ALLOW, free.decide("https://shop.example.com/cart"), "a crawler that obeys no robots.txt");
        Check.equal(Verdict.ALLOW, free.explain("https://shop.example.com/cart").verdict(), "a crawler that obeys no robots.txt");
        Check.refused(AgentNameException.class, () -> set.agent("FooBot/2.1"), "a version that is not removed");
        CompiledSet google = CompiledSet.open(data.resolve("suite/google.reptile"));
        Check.equal(Arrays.asList("MJ"), google.agent("mj12BOT").tokens(), "a known crawler whose name is partly read");
        for (String name : new String[] {"MJ13bot", "MJ12bot/1.4", "MJ12bot x"}) {
            Check.refused(AgentNameException.class, () -> google.agent(name), name);
        }
        Check.refused(AgentNameException.class, () -> google.agentOfTokens(Arrays.asList("MJ12bot"), true), "a product token");
        CompiledSet yandex = CompiledSet.open(data.resolve("suite/yandex.reptile"));
        Check.equal(Arrays.asList("FooBot"), yandex.agent("FooBot/2.1").tokens(), "a version that is removed");
        Check.equal(Arrays.asList("MJ12bot"), yandex.agent("MJ12bot").tokens(), "a known crawler whose name is fully read");
        Check.equal(Arrays.asList("Foo.Bot1"), yandex.agent("Foo.Bot1").tokens(), "a name with other characters than letters");
    }

    /** Compares the table of operators and products with the compiler's. */
    static void brands(Path source) throws Exception {
        String text = Files.readString(source).split("#\\[cfg\\(test\\)\\]")[0];
        Map<String, String> lists = new HashMap<>();
        Matcher list = Pattern.compile("(?m)^const (\\w+): &\\[&str\\] = &\\[(.*)\\];").matcher(text);
        while (list.find()) {
            lists.put(list.group(1), list.group(2));
        }
        Map<String, String> expected = new TreeMap<>();
        Matcher brand = Pattern.compile("(?m)^    \\(\"([^\"]+)\", (?:&\\[(.*)\\]|(\\w+))\\),$").matcher(text);
        while (brand.find()) {
            String tokens = brand.group(2) == null ? lists.get(brand.group(3)) : brand.group(2);
            expected.put(brand.group(1), tokens.replace("\"", ""));
        }
        Check.that(expected.size() > 80, "brands in " + source);
        Map<String, String> found = new TreeMap<>();
        Mistakes.TOKENS.forEach((name, tokens) -> found.put(name, String.join(", ", tokens)));
        Check.equal(expected, found, "brands");
    }

    /** Compares the names of other crawlers with the compiler's. */
    static void others(Path source) throws Exception {
        Matcher name = Pattern.compile("(?m)^    \"([a-z]+)\", //").matcher(Files.readString(source));
        List<String> expected = name.results().map(found -> found.group(1)).collect(Collectors.toList());
        Check.equal(expected, Names.OTHER_CRAWLERS, "other crawlers");
    }

    /** Compares each header's crawler with the crawler that {@code reptile classify --agent '{COLUMN}'} decides for. */
    static void headers(Path folder) throws Exception {
        CompiledSet set = CompiledSet.open(folder.resolve("headers.reptile"));
        List<String[]> rows = Check.rows(folder.resolve("headers.tsv"));
        List<String[]> answers = Check.rows(folder.resolve("answers.tsv"));
        Check.equal(rows.size() - 1, answers.size(), "rows");
        int named = 0;
        for (int row = 0; row < answers.size(); row++) {
            String url = rows.get(row + 1)[0];
            String header = rows.get(row + 1)[1];
            Optional<Agent> agent = set.agentOfHeader(header);
            named += agent.isPresent() ? 1 : 0;
            String[] answer = answers.get(row);
            String line = agent.map(found -> String.valueOf(found.explain(url).line())).orElse("0");
            Object found = Arrays.asList(agent.isEmpty(), agent.map(it -> it.decide(url)).orElse(Verdict.UNKNOWN), line);
            Check.equal(Arrays.asList(answer[2].equals("no crawler"), Check.verdict(answer[0]), answer[1]), found, header + " at " + url);
        }
        Check.that(named > 0 && named < answers.size(), "headers with and without a crawler");
        System.out.println("headers: " + named + " of " + answers.size() + " name a crawler");
    }

    private static List<String> tokensOfHeader(CompiledSet set, String header) {
        return set.agentOfHeader(header).orElseThrow().tokens();
    }
}
