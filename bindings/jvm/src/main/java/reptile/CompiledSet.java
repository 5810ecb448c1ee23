package reptile;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A compiled set of robots.txt files, as {@code reptile compile} writes it. Immutable, and safe to use by any number of threads at once.
 *
 * <pre>{@code
 * CompiledSet set = CompiledSet.open(Path.of("web.reptile"));
 * Agent agent = set.agent("GPTBot");
 * Verdict verdict = agent.decide("https://example.com/private/1");
 * }</pre>
 *
 * <p>Opening takes the same short time whatever the size. It proves that the file is a set of the known format version, and complete.
 * Bytes that are damaged within are found by {@link #verify}, or by the question that meets them, which then throws
 * {@link DamagedSetException}: no bytes make it loop, or answer with another exception.
 */
public final class CompiledSet {
    /** The most bytes of a file that is read into memory: those of an array. */
    private static final int MAX_READ_BYTES = Integer.MAX_VALUE - 8;
    private static final int READING_BYTES = 40;
    private static final int HAS_TIME = 1;
    private static final int IS_BY_TIME = 8;
    private static final int KNOWN_FLAGS = 15;

    private final Container container;
    private final Crawlers crawlers;
    private final Tokens tokens;
    private final Origins origins;
    private final Rulesets rulesets;
    private final Lines lines;
    private final Timelines timelines;
    private final Section policies;
    private final int flags;
    private final long time;
    private final String dialect;
    private final String profile;

    private CompiledSet(Bytes bytes) {
        container = new Container(bytes);
        Section reading = container.section("reading");
        reading.check(0, READING_BYTES, "the reading of the protocol");
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
            throw reading.damaged(36, "names that end with the section of " + reading.length + " bytes", expected);
        }
        for (int number = 0; number < 3; number++) {
            if ((flags >> number & 1) == 0 && reading.i64(8 * number) != 0) {
                throw reading.damaged(8 * number, "zero, as the flags say that it is not there", reading.i64(8 * number));
            }
        }
        for (long at = READING_BYTES + dialectBytes + profileBytes; at < expected; at++) {
            if (reading.u8(at) != 0) {
                throw reading.damaged(at, "zeros after the names", reading.u8(at));
            }
        }
        dialect = text(reading, READING_BYTES, dialectBytes);
        profile = text(reading, READING_BYTES + dialectBytes, profileBytes);
        crawlers = new Crawlers(container.section("crawlers"));
        tokens = new Tokens(container.section("tokens"));
        origins = new Origins(container.section("buckets"), container.section("origins"));
        rulesets = new Rulesets(container.section("index"), container.section("rulesets"));
        lines = new Lines(container.section("lines"));
        timelines = new Timelines(container.section("captures"));
        policies = container.section("policies");
    }

    private static String text(Section section, long at, int count) {
        String text = Utf8.strict(section.copy(at, count));
        if (text == null) {
            throw section.damaged(at, "a name in UTF-8", "other bytes");
        }
        return text;
    }

    /**
     * Maps a set file, of any size. Only what is asked for is read from the disk. The file must not be changed or truncated while the set
     * is in use: replace it by renaming another file over it, as {@code reptile} does. The mapping ends when the garbage collector drops
     * the set.
     *
     * @param path the set file
     * @return the set
     * @throws IOException if the file cannot be read or mapped
     * @throws DamagedSetException if the file is not a set of this format version, or is not complete
     */
    public static CompiledSet open(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return new CompiledSet(Bytes.map(channel, Bytes.STRIDE_BITS));
        }
    }

    /**
     * Reads a set file of less than 2 GiB into memory. The file may be changed afterwards.
     *
     * @param path the set file
     * @return the set
     * @throws IOException if the file cannot be read, or is larger
     * @throws DamagedSetException if the file is not a set of this format version, or is not complete
     */
    public static CompiledSet read(Path path) throws IOException {
        if (Files.size(path) > MAX_READ_BYTES) {
            throw new IOException(path + ": " + Files.size(path) + " bytes are more than an array has; use open");
        }
        return of(Files.readAllBytes(path));
    }

    /**
     * Takes a set from memory.
     *
     * @param bytes the bytes of a set file, which must not be changed afterwards
     * @return the set
     * @throws DamagedSetException if the bytes are not a set of this format version, or not complete
     */
    public static CompiledSet of(byte[] bytes) {
        return of(bytes, Bytes.STRIDE_BITS);
    }

    static CompiledSet of(byte[] bytes, int strideBits) {
        return new CompiledSet(Bytes.of(bytes, strideBits));
    }

    /**
     * Checks the whole file: every hash, every record and every ruleset, and all data that answers depend on, such as flags derived from
     * ranks. Sets that pass give the same answers as {@code reptile}. Time: one pass over the file.
     *
     * @throws DamagedSetException with the first mistake that is found
     */
    public void verify() {
        container.checkHashes();
        new Verifier(container, isByTime(), time()).verify();
    }

    /**
     * Resolves a crawler by name. A known crawler, such as {@code Googlebot-Image}, obeys the chain of product tokens that its operator
     * documents; any other name is a product token. {@code *} is a crawler that no group names.
     *
     * @param name the name
     * @return the crawler, for questions to this set
     * @throws AgentNameException if no robots.txt can name it, as with a list or the User-Agent header of a request; or if no robots.txt
     *     of the set names it and it is one letter off from a known crawler, as {@code Googelbot} is: see {@link #agentExactly}
     */
    public Agent agent(String name) {
        Agent agent = agentExactly(name);
        String near = agent.isNamed() ? null : Names.near(Names.withoutVersion(name), crawlers);
        if (near != null) {
            throw new AgentNameException("no robots.txt names \"" + name + "\", which is nearly the crawler \"" + near
                    + "\": write that, or ask for agentExactly");
        }
        return agent;
    }

    /**
     * Resolves a crawler by name, even if the name is nearly that of a known crawler.
     *
     * @param name the name
     * @return the crawler, for questions to this set
     * @throws AgentNameException if no robots.txt can name it
     */
    public Agent agentExactly(String name) {
        if (name.equals("*")) {
            return agent(name, new Crawlers.Chain(new ArrayList<>(), true));
        }
        String bytes = bytesOf(name);
        Names.check(bytes, crawlers, true);
        return agent(name, crawlers.asRead(crawlers.find(bytes)));
    }

    /**
     * Resolves a crawler that obeys the groups of the first of these product tokens that a robots.txt names.
     *
     * @param tokens the product tokens, the most specific first
     * @param honoursDefaultGroup whether the crawler obeys the default group where no group names it
     * @return the crawler, for questions to this set
     * @throws AgentNameException if no robots.txt can name one of them
     */
    public Agent agentOfTokens(List<String> tokens, boolean honoursDefaultGroup) {
        List<String> chain = new ArrayList<>();
        for (String token : tokens) {
            String bytes = bytesOf(token);
            Names.check(bytes, crawlers, false);
            chain.add(crawlers.cutsVersion ? Names.withoutVersion(bytes) : bytes);
        }
        return agent(String.join(">", tokens), new Crawlers.Chain(chain, honoursDefaultGroup));
    }

    /**
     * Resolves the crawler that sends a User-Agent header: the known crawler that is a product in it, or else its first product with a
     * version that is not a browser's.
     *
     * @param header the value of the header
     * @return the crawler, for questions to this set
     * @throws AgentNameException if the header names no crawler, as a browser's does not, or has more than 4,096 bytes
     */
    public Agent agentOfHeader(String header) {
        String bytes = bytesOf(header);
        String name = bytes.length() > Names.MAX_HEADER_BYTES ? null : Names.inHeader(bytes, crawlers);
        if (name == null) {
            String shown = header.length() > 300 ? header.substring(0, 300) + "..." : header;
            throw new AgentNameException("the User-Agent header \"" + shown + "\" names no crawler");
        }
        // A name such as MJ12bot is one that a user-agent line of letters cannot have; such a line names MJ.
        String token = Names.readBack(name, crawlers.syntax);
        Names.check(token, crawlers, false);
        return agent(header, crawlers.find(token));
    }

    /** Resolves a name as the table of crawlers does, which need not be a product token: for conformance tests. */
    Agent agentUnchecked(byte[] name) {
        return agent(Utf8.shown(name), crawlers.find(new String(name, StandardCharsets.ISO_8859_1)));
    }

    /** The bytes of a name in UTF-8, one character for each. */
    private static String bytesOf(String name) {
        return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private Agent agent(String name, Crawlers.Chain chain) {
        List<long[]> steps = new ArrayList<>();
        for (String token : chain.tokens) {
            byte[] lower = Names.lower(token).getBytes(StandardCharsets.ISO_8859_1);
            long[] numbers = container.matchesContained ? tokens.containing(lower) : new long[] {tokens.find(lower)};
            if (numbers.length > 0 && numbers[0] >= 0) {
                steps.add(numbers);
            }
        }
        return new Agent(this, name, chain.tokens, steps.toArray(new long[0][]), chain.honoursDefaultGroup);
    }

    /**
     * The verdicts of several crawlers for one URL, which is split and looked up once for all of them.
     *
     * @param agents the crawlers, all resolved by this set
     * @param url the URL, absolute
     * @return a verdict for each crawler, in their order
     * @throws IllegalArgumentException if another set has resolved one of the crawlers
     * @throws DamagedSetException if the set turns out to be damaged
     */
    public Verdict[] decide(List<Agent> agents, String url) {
        Verdict[] verdicts = new Verdict[agents.size()];
        Url split = Url.split(url);
        long record = split == null ? -1 : find(split);
        Policy policy = record < 0 ? null : policyOf(record);
        for (int place = 0; place < verdicts.length; place++) {
            Agent agent = agents.get(place);
            if (!agent.isOf(this)) {
                throw new IllegalArgumentException("another set has resolved " + agent.name());
            }
            verdicts[place] = split == null ? Verdict.INVALID : policy == null ? Verdict.UNKNOWN : verdict(agent, policy, split);
        }
        return verdicts;
    }

    /**
     * How many origins (scheme, host and port) the set has.
     *
     * @return the number
     */
    public long originCount() {
        return origins.count();
    }

    /**
     * The dialect of the protocol under which the set was compiled.
     *
     * @return its name, such as {@code google}
     */
    public String dialect() {
        return dialect;
    }

    /**
     * The fetch profile, which says what statuses and errors mean.
     *
     * @return its name
     */
    public String profile() {
        return profile;
    }

    /**
     * Whether the set knows which rules were in force when, so that {@link Agent#decideAt} can be asked.
     *
     * @return true if so
     */
    public boolean isByTime() {
        return (flags & IS_BY_TIME) != 0;
    }

    /**
     * The time that the set is for.
     *
     * @return seconds since 1970; {@link Long#MIN_VALUE} if the set was compiled without a time
     */
    public long time() {
        return (flags & HAS_TIME) != 0 ? time : Long.MIN_VALUE;
    }

    /** The record of the origin of a URL; -1 if the set does not have it. */
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

    /** The policy that was in force at a time; null if the origin was not known then. */
    Policy policyAt(long record, long at) {
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
                return new Explanation(Verdict.ALLOW, Reason.NO_GROUP);
            }
            Verdict verdict = policy.source() == Policy.DISALLOW_ALL ? Verdict.DISALLOW : Verdict.ALLOW;
            return new Explanation(verdict, Reason.ofCause(policy.cause()), policy.number(), false, null, null, null);
        }
        byte[] path = container.normalForm.path(url);
        byte[] bytes = path == null ? Arrays.copyOfRange(url.path, url.pathFrom, url.pathTo) : path;
        return Together.explain(this, policy, agent.groups(policy, container.matchesContained), bytes);
    }

    Automaton automaton(long ruleset) {
        return rulesets.get(ruleset);
    }

    long line(long address, int rule) {
        return lines.line(address, rule);
    }
}
