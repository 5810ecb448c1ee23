package reptile;

/** The periods in which an origin's policies were active, in a set by time: the section {@code captures}. */
final class Timelines {
    private static final int UNIT = 4;

    private final Section section;

    Timelines(Section section) {
        this.section = section;
    }

    /** Returns the address of the policy that was active at a time, or -1 if the origin was not known then. */
    long policyAt(long address, long time) {
        long at = address * UNIT;
        long spans = section.u32(at + 4);
        section.check(at, 8 + 12 * spans, "a timeline");
        long low = 0;
        long high = spans;
        while (low < high) {
            long middle = low + high >>> 1;
            if (section.i64(at + 8 + 8 * middle) <= time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == 0 ? -1 : section.u32(at + 8 + 8 * spans + 4 * (low - 1));
    }
}
