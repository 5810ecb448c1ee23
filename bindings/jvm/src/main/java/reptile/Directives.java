package reptile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The lines of robots.txt files that decide no URL: the section {@code other}. */
final class Directives {
    /** Maximum number of lines in a record. */
    static final int MAX_LINES = 4096;
    /** Maximum size in bytes of a key or a value. */
    static final int MAX_TEXT_BYTES = 72 << 10;
    /** Maximum size in bytes of a record's keys and values together. */
    static final int MAX_RECORD_BYTES = 1 << 20;
    /** Maximum number of pairs of a group and a part in a record. No robots.txt up to 16 MB has more. */
    static final int MAX_PAIRS = 16 << 20;

    private static final int UNIT = 4;
    private static final Directive.Kind[] KINDS = Directive.Kind.values();
    private static final Directive.State[] STATES = Directive.State.values();

    private final Section section;

    Directives(Section section) {
        this.section = section;
    }

    /** Returns the lines of a record, in file order. */
    List<Directive> lines(long address) {
        if (address == Section.NONE) {
            return new ArrayList<>();
        }
        Cursor cursor = new Cursor(address * UNIT);
        cursor.number();
        long pairs = cursor.number("at most " + MAX_PAIRS + " pairs", MAX_PAIRS);
        for (long pair = 0; pair < pairs; pair++) {
            cursor.number();
            cursor.number();
        }
        long count = cursor.number("at most " + MAX_LINES + " lines", MAX_LINES);
        List<Directive> lines = new ArrayList<>();
        byte[] value = {};
        long line = 0;
        long bytes = 0;
        for (long place = 0; place < count; place++) {
            int tag = section.u8(cursor.at);
            if ((tag & 15) >= KINDS.length || tag >> 4 >= STATES.length) {
                throw section.damaged(cursor.at, "a kind up to " + (KINDS.length - 1) + " and a state up to " + (STATES.length - 1), tag);
            }
            cursor.at++;
            Directive.Kind kind = KINDS[tag & 15];
            cursor.number();
            line = line + cursor.number() & 0xFFFF_FFFFL;
            byte[] key = kind == Directive.Kind.OTHER ? cursor.text(new byte[0]) : new byte[0];
            long shared = cursor.number("at most " + value.length + " bytes of the previous value", value.length);
            long start = cursor.at;
            value = cursor.text(Arrays.copyOf(value, (int) shared));
            bytes += key.length + value.length;
            if (bytes > MAX_RECORD_BYTES) {
                throw section.damaged(start, "texts of at most " + MAX_RECORD_BYTES + " bytes in a record", bytes);
            }
            lines.add(new Directive(kind, STATES[tag >> 4], line, key, value));
        }
        return lines;
    }

    /** Reads a record's parts sequentially. */
    private final class Cursor {
        long at;

        Cursor(long at) {
            this.at = at;
        }

        /** Reads a number of up to 32 bits. */
        long number() {
            long start = at;
            long number = 0;
            for (int shift = 0; shift < 35; shift += 7) {
                int part = section.u8(at++);
                number |= (long) (part & 0x7F) << shift;
                if (part < 0x80) {
                    boolean isShortest = part > 0 || shift == 0;
                    if (number > 0xFFFF_FFFFL || !isShortest) {
                        break;
                    }
                    return number;
                }
            }
            throw section.damaged(start, "a number of at most 32 bits in as few bytes as possible", "other bytes");
        }

        long number(String expected, long limit) {
            long start = at;
            long number = number();
            if (number > limit) {
                throw section.damaged(start, expected, number);
            }
            return number;
        }

        /** Reads a text's length and its bytes, and returns them after the given bytes. */
        byte[] text(byte[] before) {
            long start = at;
            long length = number();
            if (before.length + length > MAX_TEXT_BYTES) {
                throw section.damaged(start, "a text of at most " + MAX_TEXT_BYTES + " bytes", before.length + length);
            }
            byte[] text = Arrays.copyOf(before, before.length + (int) length);
            System.arraycopy(section.copy(at, (int) length), 0, text, before.length, (int) length);
            at += length;
            return text;
        }
    }
}
