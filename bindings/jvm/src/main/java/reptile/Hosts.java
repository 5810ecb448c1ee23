package reptile;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Normalizes hosts for comparing origins. Names beyond ASCII need ICU4J on the class path; without it they have no
 * normal form.
 */
final class Hosts {
    /** Maximum host length in bytes. */
    static final int MAX_HOST_BYTES = 255;

    private Hosts() {}

    /**
     * Returns whether a host can be looked up as it is, because it is already normalized or invalid. True for nearly
     * all hosts.
     */
    static boolean isPlain(byte[] in, int from, int to) {
        for (int at = from; at < to; at++) {
            byte letter = in[at];
            if (letter < '-' || letter >= 'A' && letter <= '[') {
                return false;
            }
        }
        return from < to && !(in[from] >= '0' && in[from] <= '9') && in[to - 1] != '.';
    }

    /** Returns the normal form of a host, or null if it is invalid. */
    static byte[] canonical(byte[] in, int from, int to) {
        byte[] host = decode(in, from, to);
        if (host != null && !isAscii(host)) {
            host = UnicodeNames.toAscii(host);
        }
        if (host == null || host.length == 0 || host.length > MAX_HOST_BYTES) {
            return null;
        }
        for (int at = 0; at < host.length; at++) {
            host[at] = host[at] >= 'A' && host[at] <= 'Z' ? (byte) (host[at] | 0x20) : host[at];
        }
        if (host[0] == '[' && host[host.length - 1] == ']') {
            return ipv6(host, 1, host.length - 1);
        }
        return name(host);
    }

    /** Normalizes a lower-case host that is not an IPv6 address. */
    private static byte[] name(byte[] host) {
        int len = host[host.length - 1] == '.' ? host.length - 1 : host.length;
        if (len == 0 || host[len - 1] == '.') {
            return null;
        }
        for (int at = 0; at < len; at++) {
            if (host[at] <= ' ' || host[at] == 0x7F || "#%/:<>?@[\\]^|".indexOf(host[at]) >= 0) {
                return null;
            }
        }
        String name = new String(host, 0, len, StandardCharsets.ISO_8859_1);
        return endsInNumber(name) ? ipv4(name.split("\\.", -1)) : ascii(name);
    }

    /** Returns whether the last label is a number, so that the name must be an IPv4 address. */
    private static boolean endsInNumber(String name) {
        int at = name.lastIndexOf('.') + 1;
        boolean isHex = name.startsWith("0x", at);
        at += isHex ? 2 : 0;
        boolean isNumber = isHex || at < name.length();
        while (at < name.length()) {
            isNumber &= Character.digit(name.charAt(at++), isHex ? 16 : 10) >= 0;
        }
        return isNumber;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static boolean isAscii(byte[] host) {
        for (byte letter : host) {
            if (letter < 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a host is UTF-8 after its escapes are decoded. */
    static boolean isUtf8(byte[] in, int from, int to) {
        boolean isPlain = true;
        for (int at = from; at < to; at++) {
            isPlain &= in[at] >= 0 && in[at] != '%';
        }
        if (isPlain) {
            return true;
        }
        byte[] host = decode(in, from, to);
        return host != null && Utf8.strict(host) != null;
    }

    /**
     * Returns a copy with the escapes decoded, or null if it is too long. A {@code %} without two hexadecimal digits is
     * kept.
     */
    private static byte[] decode(byte[] in, int from, int to) {
        byte[] out = new byte[to - from];
        int len = 0;
        for (int at = from; at < to; at++) {
            int escaped = in[at] == '%' && at + 2 < to ? NormalForm.hexPair(in, at + 1) : -1;
            out[len++] = escaped < 0 ? in[at] : (byte) escaped;
            at += escaped < 0 ? 0 : 2;
        }
        return len > MAX_HOST_BYTES ? null : java.util.Arrays.copyOf(out, len);
    }

    /** Returns whether a normalized host is an IP address, which has no domain. */
    static boolean isAddress(String host) {
        return host.startsWith("[") || endsInNumber(host);
    }

    /** Parses one to four numbers, the last of which fills the remaining bytes. */
    private static byte[] ipv4(String[] parts) {
        if (parts.length > 4) {
            return null;
        }
        long address = 0;
        for (int part = 0; part < parts.length; part++) {
            boolean isLast = part == parts.length - 1;
            long number = number(parts[part]);
            int bits = isLast ? 8 * (4 - part) : 8;
            if (number < 0 || number >> bits != 0) {
                return null;
            }
            address = address << bits | number;
        }
        return ascii(dotted(address));
    }

    private static String dotted(long address) {
        return (address >> 24 & 255) + "." + (address >> 16 & 255) + "." + (address >> 8 & 255) + "." + (address & 255);
    }

    /** Parses a decimal, octal or hexadecimal number of at most 32 bits, or returns -1. */
    private static long number(String part) {
        int radix = part.startsWith("0x") ? 16 : part.length() > 1 && part.startsWith("0") ? 8 : 10;
        String digits = part.substring(radix == 16 ? 2 : radix == 8 ? 1 : 0);
        if (digits.isEmpty()) {
            return radix == 16 ? 0 : -1;
        }
        long number = 0;
        for (int at = 0; at < digits.length(); at++) {
            int digit = Character.digit(digits.charAt(at), radix);
            number = number * radix + digit;
            if (digit < 0 || number > 0xFFFF_FFFFL) {
                return -1;
            }
        }
        return number;
    }

    /**
     * Returns the shortest form of an IPv6 address, in brackets, or null if the text between the brackets is invalid.
     */
    static byte[] ipv6(byte[] in, int from, int to) {
        if (to - from > 45 || from > to) {
            return null;
        }
        String text = new String(in, from, to - from, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
        int gap = text.indexOf("::");
        int[] head = groups(gap < 0 ? text : text.substring(0, gap), gap < 0);
        int[] tail = gap < 0 ? new int[0] : groups(text.substring(gap + 2), true);
        if (head == null || tail == null || (gap < 0 ? head.length != 8 : head.length + tail.length > 7)) {
            return null;
        }
        int[] all = java.util.Arrays.copyOf(head, 8);
        System.arraycopy(tail, 0, all, 8 - tail.length, tail.length);
        return ascii("[" + shortest(all) + "]");
    }

    /**
     * Parses groups between colons. The last may be an IPv4 address, which counts as two. Returns null if a group is
     * invalid.
     */
    private static int[] groups(String text, boolean mayEndInIpv4) {
        if (text.isEmpty()) {
            return new int[0];
        }
        String[] parts = text.split(":", -1);
        int[] groups = new int[9];
        int count = 0;
        for (int part = 0; part < parts.length; part++) {
            if (count > 7) {
                return null;
            }
            if (parts[part].matches("[0-9a-f]{1,4}")) {
                groups[count++] = Integer.parseInt(parts[part], 16);
                continue;
            }
            String octet = "(0|[1-9][0-9]{0,2})";
            if (!mayEndInIpv4 || part != parts.length - 1 || !parts[part].matches("(" + octet + "\\.){3}" + octet)) {
                return null;
            }
            String[] octets = parts[part].split("\\.");
            for (int at = 0; at < 4; at += 2) {
                int high = Integer.parseInt(octets[at]);
                int low = Integer.parseInt(octets[at + 1]);
                if (high > 255 || low > 255) {
                    return null;
                }
                groups[count++] = high << 8 | low;
            }
        }
        return count > 8 ? null : java.util.Arrays.copyOf(groups, count);
    }

    /** Formats groups as in RFC 5952: the first of the longest runs of at least two zero groups becomes {@code ::}. */
    private static String shortest(int[] groups) {
        boolean isMapped = groups[5] == 0xFFFF;
        for (int at = 0; at < 5; at++) {
            isMapped &= groups[at] == 0;
        }
        if (isMapped) {
            return "::ffff:" + dotted((long) groups[6] << 16 | groups[7]);
        }
        int start = -1;
        int length = 1;
        for (int at = 0; at < 8; at++) {
            int end = at;
            while (end < 8 && groups[end] == 0) {
                end++;
            }
            if (end - at > length) {
                start = at;
                length = end - at;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < 8; at++) {
            if (at == start) {
                text.append("::");
                at += length - 1;
                continue;
            }
            text.append(text.length() == 0 || at == start + length && start >= 0 ? "" : ":").append(Integer.toHexString(groups[at]));
        }
        return text.toString();
    }

    /** UTS 46 as implemented by ICU4J, if it is on the class path. */
    private static final class UnicodeNames {
        private static final Object IDNA;
        private static final Method TO_ASCII;
        private static final Class<?> INFO;
        private static final Method HAS_ERRORS;

        static {
            Object idna = null;
            Method toAscii = null;
            Class<?> info = null;
            Method hasErrors = null;
            try {
                Class<?> type = Class.forName("com.ibm.icu.text.IDNA");
                info = Class.forName("com.ibm.icu.text.IDNA$Info");
                int options = 0;
                for (String name : new String[] {"CHECK_BIDI", "CHECK_CONTEXTJ", "NONTRANSITIONAL_TO_ASCII", "NONTRANSITIONAL_TO_UNICODE"}) {
                    options |= type.getField(name).getInt(null);
                }
                idna = type.getMethod("getUTS46Instance", int.class).invoke(null, options);
                toAscii = type.getMethod("nameToASCII", CharSequence.class, StringBuilder.class, info);
                hasErrors = info.getMethod("getErrors");
            } catch (ReflectiveOperationException | LinkageError absent) {
                idna = null;
            }
            IDNA = idna;
            TO_ASCII = toAscii;
            INFO = info;
            HAS_ERRORS = hasErrors;
        }

        private UnicodeNames() {}

        /** Returns a UTF-8 name's A-labels, or null if it is invalid or ICU4J is missing. */
        static byte[] toAscii(byte[] host) {
            if (IDNA == null) {
                return null;
            }
            String name = Utf8.strict(host);
            if (name == null) {
                return null;
            }
            try {
                StringBuilder ascii = new StringBuilder();
                Object info = INFO.getDeclaredConstructor().newInstance();
                TO_ASCII.invoke(IDNA, name, ascii, info);
                return isMapped((Iterable<?>) HAS_ERRORS.invoke(info)) ? ascii(ascii.toString()) : null;
            } catch (ReflectiveOperationException failed) {
                return null;
            }
        }

        /** Returns whether the only errors are lengths and hyphens, which the URL standard ignores. */
        private static boolean isMapped(Iterable<?> errors) {
            for (Object error : errors) {
                switch (error.toString()) {
                    case "EMPTY_LABEL":
                    case "LABEL_TOO_LONG":
                    case "DOMAIN_NAME_TOO_LONG":
                    case "LEADING_HYPHEN":
                    case "TRAILING_HYPHEN":
                    case "HYPHEN_3_4":
                        break;
                    default:
                        return false;
                }
            }
            return true;
        }
    }
}
