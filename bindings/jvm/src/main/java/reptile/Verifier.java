package reptile;

/**
 * Reads every record that a decision can use, follows every reference, and checks all data that answers depend on. Sets
 * that pass answer every query without an error and in agreement with {@code reptile}. The canonical form is not
 * checked; {@code reptile verify} does that. FORMAT.md lists the differences.
 */
final class Verifier {
    private final Container container;
    private final boolean isByTime;
    private final long time;
    private final Rulesets rulesets;
    private final Tokens tokens;
    /** For each ruleset, the maximum number of passes over a path for one decision. */
    private short[] passes = new short[0];

    /** Creates a verifier. The time is the set's time, or {@link Long#MIN_VALUE} if it has none. */
    Verifier(Container container, boolean isByTime, long time) {
        this.container = container;
        this.isByTime = isByTime;
        this.time = time;
        rulesets = new Rulesets(container.section("index"), container.section("rulesets"));
        tokens = new Tokens(container.section("tokens"));
    }

    /** The addresses of a section's records. */
    private static final class Starts {
        private final Section section;
        private final int unit;
        private final long[] bits;

        Starts(Section section, int unit) {
            this.section = section;
            this.unit = unit;
            long units = section.length / unit;
            if (section.length % unit != 0 || units > Section.NONE) {
                throw section.damaged(0, "a multiple of " + unit + " bytes, at most 2^32 units", section.length);
            }
            bits = new long[(int) (units / 64) + 1];
        }

        void add(long at) {
            bits[(int) (at / unit >>> 6)] |= 1L << (at / unit);
        }

        /** Checks that an address found in another section is the start of a record. */
        void check(long address, Section from, long at) {
            boolean begins = address < section.length / unit && (bits[(int) (address >>> 6)] >>> address & 1) != 0;
            if (!begins) {
                throw from.damaged(at, "the address of a record of " + section.name, address);
            }
        }
    }

    void verify() {
        verifyCrawlers();
        verifyTokens();
        verifyRulesets();
        Starts lines = verifyLines();
        Starts policies = verifyPolicies(lines);
        Starts captures = verifyCaptures(policies);
        verifyOrigins(policies, captures);
    }

    /** Checks the crawlers. Names are sorted, so the last matching prefix is the longest. */
    private void verifyCrawlers() {
        Section section = container.section("crawlers");
        String last = null;
        for (Crawlers.Entry entry : new Crawlers(section).entries) {
            String name = Names.lower(entry.name);
            if (last != null && last.compareTo(name) >= 0) {
                throw section.damaged(0, "crawlers in order, each once", name);
            }
            last = name;
        }
    }

    private void verifyTokens() {
        byte[] last = null;
        for (long number = 0; number < tokens.count(); number++) {
            byte[] text = tokens.text(number);
            if (last != null && java.util.Arrays.compareUnsigned(last, text) >= 0) {
                throw container.section("tokens").damaged(8 + 8 * number, "tokens in order, each once", Utf8.shown(text));
            }
            last = text;
        }
    }

    private void verifyRulesets() {
        if (rulesets.count() > Integer.MAX_VALUE - 8) {
            throw container.section("index").damaged(0, "fewer than 2^31 rulesets, this verifier's limit", rulesets.count());
        }
        passes = new short[(int) rulesets.count()];
        for (int number = 0; number < passes.length; number++) {
            passes[number] = (short) new AutomatonVerifier(rulesets.get(number), container.section("prints")).verify();
        }
        Section index = container.section("index");
        Section bytes = container.section("rulesets");
        long end = rulesets.count() == 0 ? 0 : index.i64(index.length - 8) & 0xFFFF_FFFF_FFFFL;
        if (index.length % 8 != 0 || end != bytes.length) {
            throw index.damaged(Math.max(0, index.length - 8), "the end of rulesets at " + bytes.length, end);
        }
    }

    private Starts verifyLines() {
        Section lines = container.section("lines");
        Starts starts = new Starts(lines, 4);
        long at = 0;
        while (at < lines.length) {
            starts.add(at);
            int head = lines.u8(at);
            long count = head >> 2;
            long bytes = 1;
            if (count == 63) {
                count = lines.u32(at + 1);
                bytes = 5;
            }
            int width = 1 << (head & 3);
            bytes = (bytes + width * count + 3) / 4 * 4;
            if (width > 4 || bytes > lines.length - at) {
                throw lines.damaged(at, "lines of 1, 2 or 4 bytes that fit into the section", count + " lines of " + width + " bytes");
            }
            at += bytes;
        }
        return starts;
    }

    private Starts verifyPolicies(Starts lines) {
        Section policies = container.section("policies");
        Starts starts = new Starts(policies, 8);
        long at = 0;
        while (at < policies.length) {
            starts.add(at);
            Policy policy = new Policy(policies, at / 8);
            if (!policy.hasRules() && (policy.defaultGroup() >= 0 || policy.tokenCount() + policy.groupCount() > 0)) {
                throw policies.damaged(at, "no groups, since no rules decide", policy.groupCount());
            }
            policy.defaultGroup();
            for (int group = 0; group < policy.groupCount(); group++) {
                long number = policy.ruleset(group);
                if (number >= rulesets.count()) {
                    throw policies.damaged(at, "one of " + rulesets.count() + " rulesets", number);
                }
                if (policy.lines(group) != Section.NONE) {
                    lines.check(policy.lines(group), policies, at);
                    int rules = rulesets.get(number).rules();
                    if (rules > 0) {
                        new Lines(container.section("lines")).line(policy.lines(group), rules - 1);
                    }
                }
            }
            verifyGroups(policies, policy, at);
            at += policy.bytes();
        }
        return starts;
    }

    /** Checks that a policy's tokens are in order, and that groups which decide together have joint ranks. */
    private void verifyGroups(Section policies, Policy policy, long at) {
        int sum = 0;
        for (int place = 0; place < policy.tokenCount(); place++) {
            int group = policy.groupOf(place);
            boolean isSame = place > 0 && policy.token(place - 1) == policy.token(place);
            sum = (isSame ? sum : 0) + passes[(int) policy.ruleset(group)];
            if (sum > Walk.MAX_PASSES) {
                throw policies.damaged(at, "at most " + Walk.MAX_PASSES + " passes over a token's groups", sum);
            }
            if (policy.token(place) >= tokens.count()) {
                throw policies.damaged(at, "one of " + tokens.count() + " tokens", policy.token(place));
            }
            if (place == 0 || policy.token(place - 1) < policy.token(place)) {
                continue;
            }
            int before = policy.groupOf(place - 1);
            boolean isOrdered = policy.token(place - 1) == policy.token(place) && before < group;
            if (!isOrdered || !hasJointRanks(policy, before) || !hasJointRanks(policy, group)) {
                throw policies.damaged(at, "tokens in order, and joint ranks for tokens with several groups", "token " + policy.token(place));
            }
        }
    }

    private boolean hasJointRanks(Policy policy, int group) {
        Automaton automaton = rulesets.get(policy.ruleset(group));
        return automaton.rules() == 0 || automaton.jointRank(0) >= 0;
    }

    private Starts verifyCaptures(Starts policies) {
        Section captures = container.section("captures");
        Starts starts = new Starts(captures, 4);
        long at = 0;
        while (at < captures.length) {
            starts.add(at);
            at += isByTime ? timeline(captures, at, policies) : captures(captures, at, policies);
            if (at > captures.length) {
                throw captures.damaged(captures.length, "a record's end", "a record that ends at " + at);
            }
        }
        return starts;
    }

    /** Checks a timeline and returns its length. */
    private static long timeline(Section section, long at, Starts policies) {
        long count = section.u32(at);
        long spans = section.u32(at + 4);
        long bytes = 8 + 12 * spans + 32 * count;
        if (bytes > section.length - at) {
            throw section.damaged(at, "captures and spans that fit into the section", count + " and " + spans);
        }
        for (long span = 0; span < spans; span++) {
            if (span > 0 && section.i64(at + 8 * span) >= section.i64(at + 8 + 8 * span)) {
                throw section.damaged(at + 8 + 8 * span, "spans in order", section.i64(at + 8 + 8 * span));
            }
            long place = at + 8 + 8 * spans + 4 * span;
            policies.check(section.u32(place), section, place);
        }
        for (long capture = 0; capture < count; capture++) {
            capture(section, at + 8 + 12 * spans + 32 * capture, policies);
        }
        return bytes;
    }

    /** Checks an origin's captures in a set that is not by time, and returns their length. */
    private static long captures(Section section, long at, Starts policies) {
        capture(section, at, policies);
        long count = section.u32(at + 32);
        long bytes = 36;
        if ((count & 1) != 0) {
            capture(section, at + bytes, policies);
            bytes += 32;
        }
        bytes += (count >>> 31) * 8 + (count << 33 >>> 34) * 8;
        return bytes;
    }

    private static void capture(Section section, long at, Starts policies) {
        section.check(at, 32, "a capture");
        long policy = section.u32(at + 20);
        if (policy != Section.NONE) {
            policies.check(policy, section, at + 20);
        }
    }

    private void verifyOrigins(Starts policies, Starts captures) {
        Section records = container.section("origins");
        Origins origins = new Origins(container.section("buckets"), records);
        Timelines timelines = new Timelines(container.section("captures"));
        long at = 0;
        long count = 0;
        while (at < records.length) {
            records.check(at, Origins.RECORD_BYTES, "an origin's record");
            policies.check(records.u32(at), records, at);
            long address = records.u32(at + 4);
            if (address != Section.NONE) {
                captures.check(address, records, at + 4);
                if (isByTime && timelines.policyAt(address, time) != records.u32(at)) {
                    throw records.damaged(at, "the policy active at the set's time", records.u32(at));
                }
            }
            int length = records.u8(at + 15);
            byte[] host = records.copy(at + Origins.RECORD_BYTES, length);
            if (origins.find(host, 0, length, records.u8(at + 14), records.u16(at + 12)) != at) {
                throw records.damaged(at, "an origin that its slot leads to", Utf8.shown(host));
            }
            at += (Origins.RECORD_BYTES + length + 7) / 8 * 8;
            count++;
        }
        if (count != origins.count()) {
            throw container.section("buckets").damaged(0, "an origin count of " + count, origins.count());
        }
        origins.checkRuns(count);
    }
}
