package reptile;

import java.util.Arrays;

/** The product tokens that the set's files name, in lower case and in byte order. */
final class Tokens {
    private final Section section;
    private final long count;

    Tokens(Section section) {
        this.section = section;
        long found = section.length == 0 ? 0 : section.u63(0, "a number of tokens");
        if (found > Math.max(0, section.length - 8) / 8 || found >= Section.NONE) {
            throw section.damaged(0, "a number of tokens that fits", found);
        }
        count = found;
    }

    long count() {
        return count;
    }

    /** Returns a token's text. */
    byte[] text(long number) {
        long texts = 8 + 8 * count;
        long start = number == 0 ? 0 : section.u63(8 * number, "a text's end");
        long end = section.u63(8 + 8 * number, "a text's end");
        if (start > end || end > section.length - texts || end - start > Integer.MAX_VALUE) {
            throw section.damaged(8 + 8 * number, "an end from " + start + " to " + (section.length - texts), end);
        }
        return section.copy(texts + start, (int) (end - start));
    }

    /** Returns the number of the token that equals a lower-case name, or -1 if there is none. */
    long find(byte[] name) {
        long low = 0;
        long high = count;
        while (low < high) {
            long middle = low + high >>> 1;
            int order = Arrays.compareUnsigned(text(middle), name);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return -1;
    }

    /** Returns the numbers of the tokens that contain a lower-case name. Scans all tokens. */
    long[] containing(byte[] name) {
        long[] found = new long[8];
        int len = 0;
        for (long number = 0; number < count; number++) {
            if (contains(text(number), name)) {
                found = len == found.length ? Arrays.copyOf(found, 2 * len) : found;
                found[len++] = number;
            }
        }
        return Arrays.copyOf(found, len);
    }

    private static boolean contains(byte[] text, byte[] name) {
        for (int at = 0; at + name.length <= text.length; at++) {
            if (Arrays.equals(text, at, at + name.length, name, 0, name.length)) {
                return true;
            }
        }
        return false;
    }
}
