package reptile;

/** The line numbers of groups' rules: the section {@code lines}. */
final class Lines {
    private static final int UNIT = 4;
    private static final int MANY = 63;

    private final Section section;

    Lines(Section section) {
        this.section = section;
    }

    /** Returns a rule's line by its index, or 0 if the set has no line numbers. */
    long line(long address, int rule) {
        if (address == Section.NONE) {
            return 0;
        }
        long at = address * UNIT;
        int head = section.u8(at);
        int width = 1 << (head & 3);
        long count = head >> 2;
        long first = at + 1;
        if (count == MANY) {
            count = section.u32(first);
            first += 4;
        }
        if (width > 4 || rule >= count) {
            throw section.damaged(at, "the line of rule " + rule + " in up to 4 bytes", count + " lines of " + width + " bytes");
        }
        long place = first + (long) width * rule;
        return width == 1 ? section.u8(place) : width == 2 ? section.u16(place) : section.u32(place);
    }
}
