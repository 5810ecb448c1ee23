package reptile;

import java.nio.ByteBuffer;

/** What an origin's robots.txt, or its absence, says for all crawlers: one record of the section {@code policies}. */
final class Policy {
    /** Policy sources. */
    static final int RULES = 0;
    static final int LAST_GOOD_COPY = 1;
    static final int ALLOW_ALL = 2;
    static final int DISALLOW_ALL = 3;

    private static final int UNIT = 8;
    private static final int HEADER_BYTES = 16;
    private static final int MAX_SOURCE = 3;
    private static final int STATUS = 1;
    private static final int UNREACHABLE = 6;
    private static final int MAX_CAUSE = 8;
    /** The bit of the kind for groups that are followed by usage groups, which do not change verdicts. */
    private static final int HAS_USAGES = 0x100;

    private final Section section;
    private final long at;
    private final ByteBuffer buffer;
    private final int index;
    private final int tokens;
    private final int groups;
    private final int usages;

    Policy(Section section, long address) {
        this.section = section;
        at = address * UNIT;
        section.check(at, HEADER_BYTES, "a policy");
        buffer = section.buffer(at);
        index = section.index(at);
        long tokenCount = buffer.getInt(index + 8) & 0xFFFF_FFFFL;
        long groupCount = buffer.getInt(index + 12) & 0xFFFF_FFFFL;
        long usageCount = (buffer.getInt(index) & HAS_USAGES) == 0 ? 0 : groupCount + 1;
        section.check(at, HEADER_BYTES + 8 * tokenCount + 8 * groupCount + 8 * usageCount, "a policy");
        tokens = (int) tokenCount;
        groups = (int) groupCount;
        usages = (int) usageCount;
        if ((buffer.getInt(index) & ~HAS_USAGES) != 0 && !isKnown()) {
            throw section.damaged(at, "a source up to 3 and a cause up to 8", Integer.toHexString(buffer.getInt(index)));
        }
    }

    /** Returns whether a nonzero kind combines a cause with a source, and has a number only if the cause has one. */
    private boolean isKnown() {
        int source = source();
        boolean hasNumber = cause() == STATUS || cause() >= UNREACHABLE;
        return source > RULES && source <= MAX_SOURCE && cause() > 0 && cause() <= MAX_CAUSE && (hasNumber || number() == 0)
                && (buffer.getInt(index) & 0xFF00 & ~HAS_USAGES) == 0;
    }

    DamagedSetException damaged(String expected, Object found) {
        return section.damaged(at, expected, found);
    }

    int source() {
        return buffer.get(index) & 15;
    }

    int cause() {
        return buffer.get(index) >> 4 & 15;
    }

    int number() {
        return buffer.getShort(index + 2) & 0xFFFF;
    }

    boolean hasRules() {
        return source() <= LAST_GOOD_COPY;
    }

    /** Returns the record's size in bytes, including padding. */
    long bytes() {
        return HEADER_BYTES + 8L * tokens + 8L * groups + 8L * usages;
    }

    int tokenCount() {
        return tokens;
    }

    int groupCount() {
        return groups;
    }

    long token(int place) {
        return buffer.getInt(index + HEADER_BYTES + 4 * place) & 0xFFFF_FFFFL;
    }

    int groupOf(int place) {
        long group = buffer.getInt(index + HEADER_BYTES + 4 * tokens + 4 * place) & 0xFFFF_FFFFL;
        return checked(group);
    }

    /** Returns the index of the default group, or -1 if there is none. */
    int defaultGroup() {
        long group = buffer.getInt(index + 4) & 0xFFFF_FFFFL;
        return group == Section.NONE ? -1 : checked(group);
    }

    private int checked(long group) {
        if (group >= groups) {
            throw section.damaged(at, "one of " + groups + " groups", group);
        }
        return (int) group;
    }

    /** Returns a group's ruleset number. */
    long ruleset(int group) {
        return buffer.getInt(groupAt(group)) & 0xFFFF_FFFFL;
    }

    /** Returns the address of a group's line numbers, or {@link Section#NONE} if the set has none. */
    long lines(int group) {
        return buffer.getInt(groupAt(group) + 4) & 0xFFFF_FFFFL;
    }

    private int groupAt(int group) {
        return index + HEADER_BYTES + 8 * tokens + 8 * group;
    }

    /** Returns whether any group states uses. */
    boolean hasUsages() {
        return usages > 0;
    }

    /** Returns the ruleset of a group's usage rules, or {@link Section#NONE}. Group -1 is for crawlers without a group. */
    long usageRuleset(int group) {
        return buffer.getInt(usageAt(group)) & 0xFFFF_FFFFL;
    }

    /** Returns the address of a group's statements, or {@link Section#NONE}. */
    long usageStatements(int group) {
        return buffer.getInt(usageAt(group) + 4) & 0xFFFF_FFFFL;
    }

    private int usageAt(int group) {
        return groupAt(groups) + 8 * (group < 0 ? groups : group);
    }

    /** Returns the index of the first token with a number, or its insertion point. */
    int place(long number) {
        int low = 0;
        int high = tokens;
        while (low < high) {
            int middle = low + high >>> 1;
            if (token(middle) < number) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
