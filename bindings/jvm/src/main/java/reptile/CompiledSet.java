package reptile;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A set of robots.txt files compiled by {@code reptile compile}. Immutable, and safe for use by any number of threads
 * at once.
 *
 * <pre>{@code
 * CompiledSet set = CompiledSet.open(Path.of("web.reptile"));
 * Agent agent = set.agent("GPTBot");
 * Verdict verdict = agent.decide("https://example.com/private/1");
 * }</pre>
 *
 * <p>Opening takes the same short time for any size. It checks that the file is complete and has a known format
 * version. Damage inside the file is found by {@link #verify}, or by a query that encounters it and throws
 * {@link DamagedSetException}. Damaged bytes never cause an endless loop or another exception.
 */
public final class CompiledSet {
    /** Maximum size of a file that is read into memory, limited by Java's arrays. */
    private static final int MAX_READ_BYTES = Integer.MAX_VALUE - 8;
    private static final int READING_BYTES = 40;
    private static final int HAS_TIME = 1;
    private static final int IS_BY_TIME = 8;
    private static final int KNOWN_FLAGS = 15;

    private final Container container;
    private final Resolver resolver;
    private final Origins origins;
    private final Rulesets rulesets;
    private final Lines lines;
    private final Timelines timelines;
    private final Section policies;
    private final Directives directives;
    private final Usages usages;
    private final int flags;
    private final long time;
    private final String dialect;
    private final String profile;

    private CompiledSet(Bytes bytes) {
        container = new Container(bytes);
        Section reading = container.section("reading");
        reading.check(0, READING_BYTES, "the reading");
        long found = reading.u32(32);
        if (found > KNOWN_FLAGS) {
            throw reading.damaged(32, "flags that this version knows, up to " + KNOWN_FLAGS, found);
        }
        flags = (int) found;
        time = reading.i64(0);
        int dialectBytes = reading.u16(36);
        int profileBytes = reading.u16(38);
        long expected = (READING_BYTES + dialectBytes + profileBytes + 7L) / 8 * 8;
        if (reading.length != expected) {
            throw reading.damaged(36, "names that fill the section of " + reading.length + " bytes", expected);
        }
        for (int number = 0; number < 3; number++) {
            if ((flags >> number & 1) == 0 && reading.i64(8 * number) != 0) {
                throw reading.damaged(8 * number, "zero for a field that the flags omit", reading.i64(8 * number));
            }
        }
        for (long at = READING_BYTES + dialectBytes + profileBytes; at < expected; at++) {
            if (reading.u8(at) != 0) {
                throw reading.damaged(at, "zeros after the names", reading.u8(at));
            }
        }
        dialect = text(reading, READING_BYTES, dialectBytes);
        profile = text(reading, READING_BYTES + dialectBytes, profileBytes);
        Crawlers crawlers = new Crawlers(container.section("crawlers"));
        Tokens tokens = new Tokens(container.section("tokens"));
        resolver = new Resolver(this, crawlers, tokens, container.matchesContained);
        origins = new Origins(container.section("buckets"), container.section("origins"));
        rulesets = new Rulesets(container.section("index"), container.section("rulesets"));
        lines = new Lines(container.section("lines"));
        timelines = new Timelines(container.section("captures"));
        policies = container.section("policies");
        directives = new Directives(container.section("other"));
        usages = new Usages(container.section("usages"));
    }

    private static String text(Section section, long at, int count) {
        String text = Utf8.strict(section.copy(at, count));
        if (text == null) {
            throw section.damaged(at, "a name in UTF-8", "other bytes");
        }
        return text;
    }

    /**
     * Maps a set file of any size. Pages are read from disk on demand. The file must not be changed or truncated while
     * the set is in use; replace it by renaming another file over it, as {@code reptile} does. The mapping ends when
     * the garbage collector drops the set.
     *
     * @param path the set file
     * @return the set
     * @throws NullPointerException if the path is null
     * @throws IOException if the file cannot be read or mapped
     * @throws DamagedSetException if the file is not a set of this format version, or is incomplete
     */
    public static CompiledSet open(Path path) throws IOException {
        checkNoFolder(path);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return new CompiledSet(Bytes.map(channel, Bytes.STRIDE_BITS));
        }
    }

    /**
     * Returns the set at a path, which this virtual machine opens once: for functions in query engines, and other code
     * that cannot keep a set. The file is checked once per second, and opened again if another file was renamed over
     * it. Up to 64 sets stay open.
     *
     * @param path the set file
     * @return the set
     * @throws NullPointerException if the path is null
     * @throws IOException if the file cannot be read or mapped
     * @throws DamagedSetException if the file is not a set of this format version, or is incomplete
     */
    public static CompiledSet shared(Path path) throws IOException {
        return SharedSets.get(path);
    }

    private static void checkNoFolder(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw new IOException(path + ": is a folder; expected a set file, which reptile compile writes");
        }
    }

    /**
     * Reads a set file of less than 2 GiB into memory. The file may be changed afterwards.
     *
     * @param path the set file
     * @return the set
     * @throws NullPointerException if the path is null
     * @throws IOException if the file cannot be read, or is larger
     * @throws DamagedSetException if the file is not a set of this format version, or is incomplete
     */
    public static CompiledSet read(Path path) throws IOException {
        checkNoFolder(path);
        if (Files.size(path) > MAX_READ_BYTES) {
            throw new IOException(path + ": " + Files.size(path) + " bytes do not fit into an array; use open instead");
        }
        return of(Files.readAllBytes(path));
    }

    /**
     * Opens a set from memory.
     *
     * @param bytes a set file's bytes, which must not be changed afterwards
     * @return the set
     * @throws NullPointerException if the array is null
     * @throws DamagedSetException if the bytes are not a set of this format version, or are incomplete
     */
    public static CompiledSet of(byte[] bytes) {
        return of(bytes, Bytes.STRIDE_BITS);
    }

    static CompiledSet of(byte[] bytes, int strideBits) {
        return new CompiledSet(Bytes.of(bytes, strideBits));
    }

    /**
     * Checks the whole file: every hash, record and ruleset, and all derived data that answers depend on. Sets that
     * pass give the same answers as {@code reptile}. Time: one pass over the file.
     *
     * @throws DamagedSetException for the first error
     */
    public void verify() {
        container.checkHashes();
        new Verifier(container, isByTime(), time()).verify();
    }

    /**
     * Resolves a crawler by name. A known crawler, such as {@code Googlebot-Image}, obeys the chain of product tokens
     * that its operator documents. Any other name is a product token. {@code *} is a crawler that no group names. A
     * chain such as {@code A>B>*} obeys the groups for the first of these product tokens that a robots.txt names.
     *
     * @param name the name, or a chain
     * @return the crawler, for queries to this set
     * @throws NullPointerException if the name is null
     * @throws AgentNameException if no robots.txt can contain the name, for example because it is a list or a
     *     User-Agent header; or if it is probably a mistake ({@link Agent#mistake}): see {@link #agentExactly}
     */
    public Agent agent(String name) {
        Agent agent = agentExactly(name);
        refuseMistake(agent, "agentExactly");
        return agent;
    }

    private static void refuseMistake(Agent agent, String method) {
        agent.mistake().ifPresent(mistake -> {
            throw new AgentNameException("no robots.txt names \"" + agent.name() + "\", " + mistake + ", or call " + method);
        });
    }

    /**
     * Resolves a crawler by name, even if the name is probably a mistake.
     *
     * @param name the name
     * @return the crawler, for queries to this set
     * @throws NullPointerException if the name is null
     * @throws AgentNameException if no robots.txt can contain the name
     */
    public Agent agentExactly(String name) {
        return resolver.exactly(name);
    }

    /**
     * Resolves several crawlers, to decide each URL for all of them at once.
     *
     * @param names names as for {@link #agent}, and groups of the set's known crawlers, such as
     *     {@code @ai-training}; a group's crawlers that are named before it are not repeated
     * @return the crawlers
     * @throws NullPointerException if one of the names is null
     * @throws AgentNameException for a name that {@link #agent} rejects, an unknown or empty group, a crawler that is
     *     named twice, or no name
     */
    public Agents agents(String... names) {
        Agents agents = agentsExactly(names);
        agents.toList().forEach(agent -> refuseMistake(agent, "agentsExactly"));
        return agents;
    }

    /**
     * Resolves several crawlers, even if a name is probably a mistake.
     *
     * @param names the names, as for {@link #agents}
     * @return the crawlers
     * @throws NullPointerException if one of the names is null
     * @throws AgentNameException if no robots.txt can contain one of them, for an unknown or empty group, a crawler that
     *     is named twice, or no name
     */
    public Agents agentsExactly(String... names) {
        return Agents.of(this, resolver.all(Arrays.asList(names)));
    }

    /**
     * Returns a finder for the crawlers that the rows of a table or a log name.
     *
     * @return the finder
     */
    public RowAgents rowAgents() {
        return new RowAgents(this, Agents.nobody(this));
    }

    /**
     * Resolves a crawler that obeys the first of these product tokens that a robots.txt names.
     *
     * @param tokens the product tokens, the most specific first
     * @param honorsDefaultGroup whether the crawler obeys the default group where no group names it
     * @return the crawler, for queries to this set
     * @throws NullPointerException if the list or one of the tokens is null
     * @throws AgentNameException if no robots.txt can contain one of them
     */
    public Agent agentOfTokens(List<String> tokens, boolean honorsDefaultGroup) {
        return resolver.ofTokens(String.join(">", tokens), tokens, honorsDefaultGroup);
    }

    /**
     * Resolves the crawler that sends a User-Agent header. This is a known crawler among the header's products, or else
     * the first product with a version that is not typical of browsers, if its name contains {@code bot}, {@code crawl}
     * or {@code spider}, or if a robots.txt in the set names it. Misspelled names are used as given.
     *
     * <p>Time: compares each product in the header with each known crawler.
     *
     * @param header the header's value, or null for a request without one
     * @return the crawler, for queries to this set; empty if the header is null, has more than 4,096 bytes, or names no
     *     crawler, like a browser's header
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Optional<Agent> agentOfHeader(String header) {
        return header == null ? Optional.empty() : Optional.ofNullable(resolver.ofHeader(header));
    }

    /** Returns the crawler that a row's cell names, or null. */
    Agent agentOfCell(String cell) {
        return resolver.ofCell(cell);
    }

    /** Returns the probable mistake in a name, or null. */
    String mistake(String name) {
        return resolver.mistake(name);
    }

    /** Resolves a name by the table of crawlers, even if it is not a product token. For conformance tests. */
    Agent agentUnchecked(byte[] name) {
        return resolver.unchecked(name);
    }

    /**
     * Returns the lines in the robots.txt of a URL's origin that decide no URL, such as sitemaps, in file order. In a set
     * by time, these are the lines of the set's time.
     *
     * <p>Time: an origin lookup, and one pass over the lines.
     *
     * @param url an absolute URL, or null
     * @return the lines, or null if the URL is null; empty if there are none, if the set has no robots.txt for the
     *     origin, or if the text is not a URL
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Directive> directives(String url) {
        if (url == null) {
            return null;
        }
        Url split = Url.split(url);
        long record = split == null ? -1 : find(split);
        return record < 0 ? new ArrayList<>() : directives.lines(origins.other(record));
    }

    /**
     * Returns the sitemaps of a URL's origin, as written, in file order. Sitemaps that do not count under the set's
     * dialect are left out.
     *
     * @param url an absolute URL, or null
     * @return the sitemaps' URLs, or null if the URL is null; empty as for {@link #directives}
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<String> sitemaps(String url) {
        List<Directive> lines = directives(url);
        if (lines == null) {
            return null;
        }
        List<String> sitemaps = new ArrayList<>();
        for (Directive line : lines) {
            if (line.kind() == Directive.Kind.SITEMAP && line.state() == Directive.State.COUNTS) {
                sitemaps.add(line.value());
            }
        }
        return sitemaps;
    }

    /**
     * Returns the number of origins (scheme, host and port) in the set.
     *
     * @return the number
     */
    public long originCount() {
        return origins.count();
    }

    /**
     * Returns the name of the dialect that the set was compiled for.
     *
     * @return its name, such as {@code google}
     */
    public String dialect() {
        return dialect;
    }

    /**
     * Returns the name of the fetch profile, which defines what statuses and errors mean.
     *
     * @return its name
     */
    public String profile() {
        return profile;
    }

    /**
     * Returns whether the set records when rules were active, which {@link Agent#decideAt} requires.
     *
     * @return true if so
     */
    public boolean isByTime() {
        return (flags & IS_BY_TIME) != 0;
    }

    /**
     * Returns the time that the set was compiled for.
     *
     * @return seconds since 1970; {@link Long#MIN_VALUE} if the set was compiled without a time
     */
    public long time() {
        return (flags & HAS_TIME) != 0 ? time : Long.MIN_VALUE;
    }

    /** Returns the record of a URL's origin, or -1 if the set does not contain it. */
    long find(Url url) {
        if (Hosts.isPlain(url.text, url.hostFrom, url.hostTo)) {
            return origins.find(url.text, url.hostFrom, url.hostTo, url.scheme, url.port);
        }
        byte[] host = Hosts.canonical(url.text, url.hostFrom, url.hostTo);
        return host == null ? -1 : origins.find(host, 0, host.length, url.scheme, url.port);
    }

    Policy policyOf(long record) {
        return new Policy(policies, origins.policy(record));
    }

    /** Checks that the set can decide by the rules at a time. */
    void checkTimes() {
        if (!isByTime()) {
            throw new IllegalStateException("the set was not compiled by time (reptile compile --by-time)");
        }
    }

    /**
     * Returns the policy of a URL's origin at a time, or at the set's own time if {@code time} is null. Returns null if
     * the policy is unknown.
     */
    Policy policy(Url url, Long time) {
        long record = find(url);
        if (record < 0) {
            return null;
        }
        return time == null ? policyOf(record) : policyAt(record, time);
    }

    private Policy policyAt(long record, long at) {
        long captures = origins.captures(record);
        if (captures == Section.NONE) {
            return policyOf(record);
        }
        long address = timelines.policyAt(captures, at);
        return address < 0 ? null : new Policy(policies, address);
    }

    Verdict verdict(Agent agent, Policy policy, Url url) {
        if (!policy.hasRules()) {
            return policy.source() == Policy.DISALLOW_ALL && !agent.isFree() ? Verdict.DISALLOW : Verdict.ALLOW;
        }
        int[] groups = agent.groups(policy, container.matchesContained);
        if (groups.length == 0) {
            return Verdict.ALLOW;
        }
        byte[] path = container.normalForm.path(url);
        int from = path == null ? url.pathFrom : 0;
        int to = path == null ? url.pathTo : path.length;
        byte[] bytes = path == null ? url.path : path;
        if (groups.length > 1) {
            return Together.explain(this, policy, groups, Arrays.copyOfRange(bytes, from, to)).verdict();
        }
        boolean disallows = Walk.disallows(rulesets.get(policy.ruleset(groups[0])), bytes, from, to);
        return disallows ? Verdict.DISALLOW : Verdict.ALLOW;
    }

    Explanation explain(Agent agent, Policy policy, Url url) {
        if (!policy.hasRules()) {
            if (agent.isFree()) {
                return new Explanation(Verdict.ALLOW, Reason.NO_GROUP, null, null, null, null);
            }
            Verdict verdict = policy.source() == Policy.DISALLOW_ALL ? Verdict.DISALLOW : Verdict.ALLOW;
            return new Explanation(verdict, Reason.ofCause(policy.cause()), policy, null, null, null);
        }
        byte[] path = container.normalForm.path(url);
        byte[] bytes = path == null ? Arrays.copyOfRange(url.path, url.pathFrom, url.pathTo) : path;
        return Together.explain(this, policy, agent.groups(policy, container.matchesContained), bytes);
    }

    /** Returns the website's preference for each use, for a URL of a policy's origin and the verdict for its fetch. */
    Preference[] usage(Agent agent, Policy policy, Url url, Uses uses, Verdict fetch) {
        Preference[] answer = new Preference[uses.count()];
        boolean isDisallowed = fetch == Verdict.DISALLOW;
        Arrays.fill(answer, isDisallowed ? Preference.NOT_APPLICABLE : Preference.UNKNOWN);
        if (isDisallowed || agent.isFree()) {
            return answer;
        }
        combineTokens(policy, url, uses, answer);
        if (!policy.hasUsages()) {
            return answer;
        }
        byte[] normal = container.normalForm.path(url);
        byte[] path = normal == null ? Arrays.copyOfRange(url.path, url.pathFrom, url.pathTo) : normal;
        int[] groups = agent.groups(policy, container.matchesContained);
        if (groups.length == 0) {
            groups = new int[] {-1};
        }
        Usages.Group[] records = new Usages.Group[groups.length];
        Automaton[] automata = new Automaton[groups.length];
        Walk[] walks = new Walk[groups.length];
        long longest = 0;
        for (int number = 0, passes = 0; number < groups.length; number++) {
            Usages.Group record = usages.at(policy.usageStatements(groups[number]));
            long ruleset = policy.usageRuleset(groups[number]);
            records[number] = record;
            if (record == null) {
                continue;
            }
            record.combineSignals(uses, answer);
            if (ruleset != Section.NONE) {
                automata[number] = rulesets.get(ruleset);
                walks[number] = Walk.named(automata[number], path, 0, path.length, passes);
                passes = walks[number].passes();
                for (int rank : new int[] {walks[number].allow, walks[number].disallow}) {
                    longest = rank == Automaton.NO_RANK ? longest : Math.max(longest, record.length(rank >> 1));
                }
            }
        }
        for (int number = 0; number < groups.length; number++) {
            if (longest == 0 && records[number] != null) {
                records[number].combineBase(uses, answer);
            } else if (walks[number] != null) {
                records[number].combineBest(walks[number], automata[number], path, longest, uses, answer);
            }
        }
        return answer;
    }

    /** Combines an answer with groups whose product token names a use: a disallow forbids it, and an allow permits it. */
    private void combineTokens(Policy policy, Url url, Uses uses, Preference[] answer) {
        for (int use = 0; policy.hasRules() && use < answer.length; use++) {
            for (String name : uses.tokens(use)) {
                Agent token = resolver.ofUse(name, uses.hasDefaultGroup());
                if (token.groups(policy, container.matchesContained).length > 0) {
                    boolean isAllowed = verdict(token, policy, url) == Verdict.ALLOW;
                    answer[use] = answer[use].combinedWith(isAllowed ? Preference.ALLOWED : Preference.DISALLOWED);
                }
            }
        }
    }

    Automaton automaton(long ruleset) {
        return rulesets.get(ruleset);
    }

    long line(long address, int rule) {
        return lines.line(address, rule);
    }

    /** Returns the dialect, the number of origins and the time, such as {@code set of 4231 origins, dialect google}. */
    @Override
    public String toString() {
        String times = isByTime() ? ", by time" : "";
        String at = time() == Long.MIN_VALUE ? "" : ", of " + java.time.Instant.ofEpochSecond(time());
        return "set of " + originCount() + " origins, dialect " + dialect + times + at;
    }
}
