package reptile;

/**
 * Thrown if the bytes are not a set of this format version, or are damaged. The message says where, and what was
 * expected and found.
 */
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
     * Returns the section with the error, by its name in the format; {@code header} means the header and the section
     * table.
     *
     * @return the section's name
     */
    public String section() {
        return section;
    }

    /**
     * Returns the error's offset in the section.
     *
     * @return an offset in bytes from the start of the section
     */
    public long offset() {
        return offset;
    }
}
