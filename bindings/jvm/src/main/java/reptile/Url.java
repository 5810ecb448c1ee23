package reptile;

import java.nio.charset.StandardCharsets;

/**
 * A URL, split into its origin and the path that rules are matched against. Nothing is decoded or resolved.
 *
 * <p>{@link #split} rejects every text whose authority is ambiguous, that is, where two clients could read different
 * hosts. {@link #pathOf} accepts any text, for queries about one robots.txt regardless of the host.
 */
final class Url {
    /** Maximum URL length in bytes. */
    static final int MAX_URL_BYTES = 65_536;

    private static final byte[] SLASH = {'/'};
    private static final int[] PORTS = {80, 443, 21};

    /** Meanings of bytes in an authority. */
    private static final int END = 1;
    private static final int AMBIGUOUS = 2;
    private static final int FORBIDDEN = 4;
    private static final int AT = 8;
    private static final int COLON = 16;
    private static final int BRACKET = 32;
    private static final int PERCENT = 64;
    private static final byte[] KINDS = new byte[256];

    /**
     * Meanings of bytes after the authority: the normal forms that may change them, and whether they cannot be part of
     * a path.
     */
    private static final byte[] PATH_KINDS = new byte[256];
    private static final int SPECIAL = 0x80;
    private static final int EVERY_FORM = 0x7F;

    static {
        for (int letter = 0; letter < 256; letter++) {
            boolean isSpecial = letter == '#' || isControl((byte) letter);
            PATH_KINDS[letter] = (byte) (NormalForm.changedBy(letter) | (isSpecial ? SPECIAL : 0));
        }
        for (int letter = 0; letter < ' '; letter++) {
            KINDS[letter] = AMBIGUOUS;
        }
        KINDS[0x7F] = KINDS['\\'] = KINDS[';'] = AMBIGUOUS;
        KINDS['/'] = KINDS['?'] = KINDS['#'] = END;
        for (char letter : " \"<>^`{|}".toCharArray()) {
            KINDS[letter] = FORBIDDEN;
        }
        KINDS['@'] = AT;
        KINDS[':'] = COLON;
        KINDS['['] = KINDS[']'] = BRACKET;
        KINDS['%'] = PERCENT;
    }

    /** The whole text. */
    byte[] text;
    /** 0 http, 1 https, 2 ftp. */
    int scheme;
    int port;
    int hostFrom;
    int hostTo;
    /** The path, in {@link #path}. */
    int pathFrom;
    int pathTo;
    /** The array that contains the path: the text, or a copy with the missing slash added. */
    byte[] path;
    /** The normal forms (as bits) that may change the path. */
    int changedBy = EVERY_FORM;

    private Url() {}

    /** Splits a URL, or returns null if it is invalid or contains an unpaired surrogate. */
    static Url split(String text) {
        // UTF-8 has at least as many bytes as the text has characters.
        byte[] bytes = text.length() > MAX_URL_BYTES ? null : Utf8.bytes(text);
        return bytes == null ? null : split(bytes);
    }

    /** Returns whether a text has too many bytes for a URL. */
    static boolean isLong(String text) {
        return text.length() > MAX_URL_BYTES || text.getBytes(StandardCharsets.UTF_8).length > MAX_URL_BYTES;
    }

    /** Splits a URL, or returns null if it is invalid. Linear, without copying the text. */
    static Url split(byte[] text) {
        if (text.length > MAX_URL_BYTES) {
            return null;
        }
        Url url = new Url();
        url.text = text;
        int start = url.readScheme();
        if (start < 0) {
            return null;
        }
        int end = start;
        int kinds = 0;
        while (end < text.length) {
            int kind = KINDS[text[end] & 0xFF];
            if (kind == END) {
                break;
            }
            kinds |= kind;
            end++;
        }
        return url.readAuthority(start, end, kinds) && url.readTail(end) ? url : null;
    }

    /** Reads {@code scheme://}. Returns where the authority begins, or -1. */
    private int readScheme() {
        if (text.length < 6 || (text[0] | 0x20) != 'h' && (text[0] | 0x20) != 'f') {
            return -1;
        }
        if (starts("http")) {
            int secure = text.length > 4 && (text[4] | 0x20) == 's' ? 1 : 0;
            scheme = secure;
            return slashes(4 + secure);
        }
        scheme = 2;
        return starts("ftp") ? slashes(3) : -1;
    }

    private boolean starts(String name) {
        for (int at = 0; at < name.length(); at++) {
            if (at >= text.length || (text[at] | 0x20) != name.charAt(at)) {
                return false;
            }
        }
        return true;
    }

    private int slashes(int at) {
        boolean has = at + 2 < text.length && text[at] == ':' && text[at + 1] == '/' && text[at + 2] == '/';
        return has ? at + 3 : -1;
    }

    /** Reads {@code [user@]host[:port]}. */
    private boolean readAuthority(int start, int end, int kinds) {
        port = PORTS[scheme];
        if ((kinds & AMBIGUOUS) != 0) {
            return false;
        }
        if ((kinds & AT) != 0) {
            start = afterUser(start, end);
            if (start < 0) {
                return false;
            }
        }
        boolean isAddress = start < end && text[start] == '[';
        int stop = find(start, end, isAddress ? ']' : ':');
        if (isAddress && stop == end) {
            return false;
        }
        hostFrom = start;
        hostTo = isAddress ? stop + 1 : stop;
        int length = hostTo - hostFrom;
        if (length == 0 || length > Hosts.MAX_HOST_BYTES) {
            return false;
        }
        if ((kinds & (FORBIDDEN | BRACKET | PERCENT)) != 0 && !isHost(isAddress)) {
            return false;
        }
        return Hosts.isUtf8(text, hostFrom, hostTo) && (hostTo == end || readPort(hostTo, end));
    }

    /**
     * Returns where the host begins after valid user information, or -1 if it is invalid or another {@code @} follows.
     */
    private int afterUser(int start, int end) {
        int at = find(start, end, '@');
        if (find(at + 1, end, '@') < end) {
            return -1;
        }
        for (int user = start; user < at; user++) {
            int kind = KINDS[text[user] & 0xFF];
            boolean isAllowed = text[user] >= 0 && (kind & ~(COLON | PERCENT)) == 0;
            if (!isAllowed || text[user] == '%' && escape(user, at) < 0) {
                return -1;
            }
        }
        return at + 1;
    }

    private int find(int from, int to, int letter) {
        while (from < to && text[from] != letter) {
            from++;
        }
        return from;
    }

    /** Returns the byte that the escape at a {@code %} encodes, or -1 if there is no escape before the end. */
    private int escape(int at, int end) {
        return at + 2 < end ? NormalForm.hexPair(text, at + 1) : -1;
    }

    private boolean isHost(boolean isAddress) {
        if (isAddress) {
            return Hosts.ipv6(text, hostFrom + 1, hostTo - 1) != null;
        }
        for (int at = hostFrom; at < hostTo; at++) {
            int letter = text[at] & 0xFF;
            if (letter == '%') {
                letter = escape(at, hostTo);
                at += 2;
            }
            if (letter < 0 || KINDS[letter] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Reads the part after the host: a colon, and digits or nothing. */
    private boolean readPort(int from, int end) {
        if (text[from] != ':') {
            return false;
        }
        if (from + 1 == end) {
            return true;
        }
        int number = 0;
        for (int at = from + 1; at < end; at++) {
            if (text[at] < '0' || text[at] > '9') {
                return false;
            }
            number = 10 * number + text[at] - '0';
            if (number > 0xFFFF) {
                return false;
            }
        }
        port = number;
        return true;
    }

    /** Sets the path, without the fragment. Returns false if the tail contains a NUL, tab or line break. */
    private boolean readTail(int from) {
        byte[] text = this.text;
        int kinds = 0;
        for (int at = from; at < text.length; at++) {
            kinds |= PATH_KINDS[text[at] & 0xFF];
        }
        int to = text.length;
        if ((kinds & SPECIAL) != 0) {
            for (int at = from; at < text.length; at++) {
                if (isControl(text[at])) {
                    return false;
                }
            }
            to = find(from, to, '#');
        }
        changedBy = kinds & EVERY_FORM;
        takePath(from, to);
        return true;
    }

    /** Returns whether a byte makes a URL invalid anywhere. */
    private static boolean isControl(byte letter) {
        return letter == 0 || letter == '\t' || letter == '\n' || letter == '\r';
    }

    /** Sets the path to this part of the text, adding a leading slash if it is missing. */
    private void takePath(int from, int to) {
        if (from < to && text[from] == '/') {
            path = text;
            pathFrom = from;
            pathTo = to;
            return;
        }
        pathFrom = 0;
        pathTo = 1 + to - from;
        path = SLASH;
        if (from < to) {
            path = new byte[pathTo];
            path[0] = '/';
            System.arraycopy(text, from, path, 1, to - from);
        }
    }

    /** Returns the path of any text. Scheme and host may be missing, and a NUL ends the path. Never fails. */
    static Url pathOf(byte[] text) {
        Url url = new Url();
        url.text = text;
        int start = text.length >= 2 && text[0] == '/' && text[1] == '/' ? 2 : 0;
        int first = url.findPath(start);
        boolean endsScheme = first > start && first + 1 < text.length
                && text[first - 1] == ':' && text[first] == '/' && text[first + 1] == '/';
        int from = endsScheme ? url.findPath(first + 2) : first;
        int fragment = url.find(start, text.length, '#');
        if (from >= text.length || fragment < from) {
            url.takePath(0, 0);
            return url;
        }
        // Remove the fragment first: a NUL inside the fragment does not count.
        url.takePath(from, url.find(from, fragment, 0));
        return url;
    }

    /** Returns the index of the first {@code /}, {@code ?} or {@code ;}. */
    private int findPath(int from) {
        while (from < text.length && text[from] != '/' && text[from] != '?' && text[from] != ';') {
            from++;
        }
        return from;
    }
}
