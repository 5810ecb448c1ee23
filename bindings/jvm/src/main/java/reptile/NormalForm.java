package reptile;

/** Normal forms of URL paths. Patterns are normalized by the compiler. */
enum NormalForm {
    /** 1: as written. */
    AS_WRITTEN,
    /** 2: escapes in upper case, and bytes beyond ASCII escaped. */
    ESCAPED,
    /** 3: unreserved characters decoded, others escaped. */
    DECODED,
    /** 4: like 3, with more characters escaped. */
    RESERVED,
    /** 5: nearly everything decoded; no operators. */
    FULLY_DECODED,
    /** 6: as written; no operators. */
    VERBATIM;

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
    /** Replaces a `*` in forms without operators. */
    private static final byte STAR = 0;
    /** Replaces a `$` in forms without operators. */
    private static final byte DOLLAR = '\n';

    /** For each byte, the forms (as bits, by ordinal) that may change it or the byte after it. */
    private static final byte[] CHANGED_BY = new byte[256];

    static {
        for (int letter = 0; letter < 256; letter++) {
            int forms = isUnreserved(letter) ? 0 : 1 << RESERVED.ordinal();
            if (letter >= 0x80 || letter == '%') {
                forms |= 1 << ESCAPED.ordinal() | 1 << DECODED.ordinal();
            }
            if (letter == '*' || letter == '$') {
                forms |= 1 << DECODED.ordinal() | 1 << FULLY_DECODED.ordinal() | 1 << VERBATIM.ordinal();
            }
            if (letter == ' ') {
                forms |= 1 << DECODED.ordinal();
            }
            if (letter == '%') {
                forms |= 1 << FULLY_DECODED.ordinal();
            }
            CHANGED_BY[letter] = (byte) forms;
        }
    }

    /** Returns the form with the number in a header. */
    static NormalForm of(Section header, long number) {
        if (number < 1 || number > values().length) {
            throw header.damaged(16, "a known normal form, 1 to " + values().length, number);
        }
        return values()[(int) number - 1];
    }

    /** Returns the forms (as bits, by ordinal) that may change a byte or the byte after it. */
    static byte changedBy(int letter) {
        return CHANGED_BY[letter];
    }

    /** Returns the normal form of a URL's path, as {@link #path(byte[], int, int)} does. */
    byte[] path(Url url) {
        return (url.changedBy & 1 << ordinal()) == 0 ? null : path(url.path, url.pathFrom, url.pathTo);
    }

    /**
     * Returns the normal form of a path as a new array, or null if it is unchanged. Linear; the result is at most three
     * times as long.
     */
    byte[] path(byte[] in, int from, int to) {
        int mask = 1 << ordinal();
        int at = from;
        while (at < to && (CHANGED_BY[in[at] & 0xFF] & mask) == 0) {
            at++;
        }
        return at == to ? null : rewrite(in, from, to);
    }

    private byte[] rewrite(byte[] in, int from, int to) {
        byte[] out = new byte[3 * (to - from)];
        int len = 0;
        boolean inQuery = false;
        for (int at = from; at < to; at++) {
            int letter = in[at] & 0xFF;
            int escaped = letter == '%' && this != VERBATIM && at + 2 < to ? hexPair(in, at + 1) : -1;
            boolean escapes;
            if (escaped >= 0) {
                letter = escaped;
                escapes = keepsEscaped(letter);
                at += 2;
            } else {
                escapes = mustEscape(letter, inQuery);
                inQuery |= letter == '?';
            }
            if (escapes) {
                out[len++] = '%';
                out[len++] = HEX[letter >> 4];
                out[len++] = HEX[letter & 15];
            } else {
                out[len++] = hasOperators() ? (byte) letter : literal(letter);
            }
        }
        return java.util.Arrays.copyOf(out, len);
    }

    private boolean hasOperators() {
        return this != FULLY_DECODED && this != VERBATIM;
    }

    private static byte literal(int letter) {
        return letter == '*' ? STAR : letter == '$' ? DOLLAR : (byte) letter;
    }

    /** Returns whether an escaped byte stays escaped. */
    private boolean keepsEscaped(int letter) {
        switch (this) {
            case DECODED:
            case RESERVED:
                return !isUnreserved(letter);
            case FULLY_DECODED:
                return letter == '/' || letter == '%' || letter == STAR || letter == DOLLAR;
            default:
                return true;
        }
    }

    /** Returns whether a literal byte must be escaped. */
    private boolean mustEscape(int letter, boolean inQuery) {
        switch (this) {
            case ESCAPED:
                return letter >= 0x80;
            case DECODED:
                return letter >= 0x80 || " %*$".indexOf(letter) >= 0;
            case RESERVED:
                return letter <= ' ' || letter >= 0x7F || "%*$\"<>\\^`{|}:@[]#".indexOf(letter) >= 0
                        || inQuery && (letter == '/' || letter == '?');
            case FULLY_DECODED:
                return letter == '%';
            default:
                return false;
        }
    }

    static boolean isUnreserved(int letter) {
        return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9'
                || letter == '-' || letter == '.' || letter == '_' || letter == '~';
    }

    /** Returns the byte that two hexadecimal digits encode, or -1 if they are not hexadecimal digits. */
    static int hexPair(byte[] in, int at) {
        int high = Character.digit(in[at], 16);
        int low = Character.digit(in[at + 1], 16);
        return in[at] < 0 || in[at + 1] < 0 || high < 0 || low < 0 ? -1 : high << 4 | low;
    }
}
