package reptile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Resolves the names, chains, groups and headers that users and clients write to a set's crawlers. */
final class Resolver {
    /** The groups, in the order of the bits of a crawler's purposes. */
    private static final List<String> GROUPS =
            Arrays.asList("@ai-training", "@search", "@ai-search", "@user-triggered", "@archive", "@seo");
    private static final String DEFAULT_GROUP = "*";
    private static final String LINK = ">";

    private final CompiledSet set;
    private final Crawlers crawlers;
    private final Tokens tokens;
    private final boolean matchesContained;
    /** Cached agents for the few product tokens in {@link Uses}, without and with the default group. */
    private final Map<String, Agent> uses = new ConcurrentHashMap<>();
    private final Map<String, Agent> usesOrDefault = new ConcurrentHashMap<>();

    Resolver(CompiledSet set, Crawlers crawlers, Tokens tokens, boolean matchesContained) {
        this.set = set;
        this.crawlers = crawlers;
        this.tokens = tokens;
        this.matchesContained = matchesContained;
    }

    /** Resolves a name, {@code *} or a chain such as {@code A>B>*}, as given. */
    Agent exactly(String name) {
        if (name.equals(DEFAULT_GROUP)) {
            return agent(name, new Crawlers.Chain(new ArrayList<>(), true));
        }
        if (name.contains(LINK)) {
            boolean honorsDefaultGroup = name.endsWith(LINK + DEFAULT_GROUP);
            String chain = honorsDefaultGroup ? name.substring(0, name.length() - 2) : name;
            List<String> parts = Arrays.asList(chain.split(LINK, -1));
            if (parts.contains("") || parts.contains(DEFAULT_GROUP)) {
                throw new AgentNameException("invalid chain \"" + name + "\": expected product tokens such as A>B, with >* "
                        + "at the end if the default group comes last");
            }
            return ofTokens(name, parts, honorsDefaultGroup);
        }
        return named(name);
    }

    /** Resolves a product token or a known crawler's name. */
    private Agent named(String name) {
        String bytes = bytesOf(name);
        Names.check(bytes, crawlers, true);
        return agent(name, crawlers.asRead(crawlers.find(bytes)));
    }

    Agent ofTokens(String name, List<String> tokens, boolean honorsDefaultGroup) {
        List<String> chain = new ArrayList<>();
        for (String token : tokens) {
            String bytes = bytesOf(token);
            Names.check(bytes, crawlers, false);
            chain.add(crawlers.cutsVersion ? Names.withoutVersion(bytes) : bytes);
        }
        return agent(name, new Crawlers.Chain(chain, honorsDefaultGroup));
    }

    /** Resolves names and groups. A crawler in several groups is used once. */
    List<Agent> all(List<String> names) {
        List<Agent> agents = new ArrayList<>();
        List<String> used = new ArrayList<>();
        for (String name : names) {
            boolean isGroup = name.startsWith("@");
            for (String member : isGroup ? members(name) : Collections.singletonList(name)) {
                String key = Names.lower(member.contains(LINK) ? member : Names.withoutVersion(member));
                if (!used.contains(key)) {
                    used.add(key);
                    agents.add(exactly(member));
                } else if (!isGroup) {
                    throw new AgentNameException("the crawler \"" + name + "\" is named twice");
                }
            }
        }
        if (agents.isEmpty()) {
            throw new AgentNameException("no crawler is named; a name is, for example, \"GPTBot\"");
        }
        return agents;
    }

    private List<String> members(String group) {
        int purpose = GROUPS.indexOf(Names.lower(group));
        if (purpose < 0) {
            throw new AgentNameException("unknown group of crawlers \"" + group + "\"; the known ones are " + String.join(", ", GROUPS));
        }
        List<String> members = new ArrayList<>();
        for (Crawlers.Entry entry : crawlers.entries) {
            if ((entry.purposes >> purpose & 1) != 0) {
                members.add(Utf8.shown(entry.name.getBytes(StandardCharsets.ISO_8859_1)));
            }
        }
        if (members.isEmpty()) {
            throw new AgentNameException("the set's dialect, " + set.dialect() + ", knows no crawlers, so \"" + group
                    + "\" is empty: name each crawler");
        }
        return members;
    }

    /** Returns the probable mistake in a name or chain that no robots.txt contains, or null if there is none. */
    String mistake(String name) {
        for (String part : name.split(LINK)) {
            String mistake = Mistakes.mistake(Names.withoutVersion(part), crawlers);
            if (mistake != null && !exactly(part).isNamed()) {
                return mistake;
            }
        }
        return null;
    }

    /** Returns the crawler that a header names, or null. */
    Agent ofHeader(String header) {
        String bytes = Names.trim(bytesOf(header));
        String name = bytes.isEmpty() || bytes.length() > Names.MAX_HEADER_BYTES ? null : Names.inHeader(bytes, crawlers);
        if (name == null) {
            return null;
        }
        // A user-agent line restricted to letters cannot contain a name such as Ab12x; it is read as Ab.
        boolean isKnown = crawlers.isKnown(name);
        Agent agent = namedOrNull(isKnown ? name : Names.readBack(name, crawlers.syntax));
        return agent != null && (isKnown || Names.isRobot(name) || agent.isNamed()) ? agent : null;
    }

    /** Returns the crawler that a table's cell names by a product token or a header, or null. */
    Agent ofCell(String cell) {
        String bytes = Names.trim(bytesOf(cell));
        if (bytes.isEmpty() || bytes.equals("-") || bytes.length() > Names.MAX_HEADER_BYTES) {
            return null;
        }
        if (bytes.chars().anyMatch(letter -> " /(".indexOf(letter) >= 0)) {
            return ofHeader(cell);
        }
        boolean isWord = bytes.chars().allMatch(letter -> letter < 0x80 && Character.isLetterOrDigit(letter) || "-_.".indexOf(letter) >= 0);
        String name = Utf8.shown(bytes.getBytes(StandardCharsets.ISO_8859_1));
        boolean isWhole = crawlers.isKnown(bytes) || !isWord;
        return namedOrNull(isWhole ? name : Names.readBack(bytes, crawlers.syntax));
    }

    private Agent namedOrNull(String name) {
        try {
            return named(name);
        } catch (AgentNameException notNamed) {
            return null;
        }
    }

    /** Resolves a name by the table of crawlers, even if it is not a product token. For conformance tests. */
    Agent unchecked(byte[] name) {
        return agent(Utf8.shown(name), crawlers.find(new String(name, StandardCharsets.ISO_8859_1)));
    }

    /** Returns a name's UTF-8 bytes, with one character per byte. */
    private static String bytesOf(String name) {
        return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /** Resolves a product token that names a use of pages. The result is cached for all URLs. */
    Agent ofUse(String token, boolean honorsDefaultGroup) {
        Map<String, Agent> resolved = honorsDefaultGroup ? usesOrDefault : uses;
        return resolved.computeIfAbsent(
                token, name -> agent(name, new Crawlers.Chain(Collections.singletonList(name), honorsDefaultGroup)));
    }

    private Agent agent(String name, Crawlers.Chain chain) {
        List<long[]> steps = new ArrayList<>();
        for (String token : chain.tokens) {
            byte[] lower = Names.lower(token).getBytes(StandardCharsets.ISO_8859_1);
            long[] numbers = matchesContained ? tokens.containing(lower) : new long[] {tokens.find(lower)};
            if (numbers.length > 0 && numbers[0] >= 0) {
                steps.add(numbers);
            }
        }
        return new Agent(set, name, chain.tokens, steps.toArray(new long[0][]), chain.honorsDefaultGroup);
    }
}
