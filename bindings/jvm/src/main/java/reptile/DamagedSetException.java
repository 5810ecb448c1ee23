package reptile;

/** The bytes are not a set of this format version, or the set is damaged. The message says where, what was expected, and what was found. */
public final class DamagedSetException extends ReptileException {
    private static final long serialVersionUID = 1;

    /** The section of the set file. */
    private final String section;
    /** The offset in the section. */
    private final long offset;

    DamagedSetException(String section, long offset, String expected, String found) {
        super("damaged set: section " + section + ", byte " + offset + ": expected " + expected + ", found " + found);
        this.section = section;
        this.offset = offset;
    }

    /**
     * The section with the mistake, as the format names it; {@code header} for the header and the section table.
     *
     * @return the name of the section
     */
    public String section() {
        return section;
    }

    /**
     * Where in the section the mistake is.
     *
     * @return an offset in bytes from the start of the section
     */
    public long offset() {
        return offset;
    }
}
