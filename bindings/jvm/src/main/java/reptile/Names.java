package reptile;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Checks product tokens, and finds crawlers in User-Agent headers. Names are strings with one character per byte. */
final class Names {
    /** Maximum size of a User-Agent header in bytes; more than servers accept. */
    static final int MAX_HEADER_BYTES = 4096;

    /** Products in browsers' headers, which crawlers imitate. */
    private static final List<String> OF_BROWSERS = Arrays.asList(
            "mozilla", "applewebkit", "khtml", "gecko", "chrome", "safari", "version", "mobile", "edg", "firefox");

    /** Parts of robots' product names. */
    private static final List<String> OF_ROBOTS = Arrays.asList("bot", "crawl", "spider");

    /** Other crawlers' names that are one letter off from a known crawler's name. */
    static final List<String> OTHER_CRAWLERS = Arrays.asList("pingbot", "snapbot");

    private Names() {}

    /** Returns whether a product's name looks like a robot's. */
    static boolean isRobot(String name) {
        String lower = lower(name);
        return OF_ROBOTS.stream().anyMatch(lower::contains);
    }

    /** Removes white space, except vertical tabs, before and after a text. */
    static String trim(String text) {
        String start = trimEnd(text);
        int from = 0;
        while (from < start.length() && isBlank(start.charAt(from))) {
            from++;
        }
        return start.substring(from);
    }

    /** Lowercases ASCII letters. */
    static String lower(String name) {
        StringBuilder lower = new StringBuilder(name);
        for (int at = 0; at < name.length(); at++) {
            char letter = name.charAt(at);
            if (letter >= 'A' && letter <= 'Z') {
                lower.setCharAt(at, (char) (letter | 0x20));
            }
        }
        return lower.toString();
    }

    private static boolean isSpace(char letter) {
        return letter == ' ' || letter >= '\t' && letter <= '\r';
    }

    /** Returns whether {@code trim} removes a character: white space except vertical tab. */
    private static boolean isBlank(char letter) {
        return isSpace(letter) && letter != 0x0B;
    }

    private static String trimEnd(String text) {
        int end = text.length();
        while (end > 0 && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(0, end);
    }

    /** Removes a name's version, which begins at the first slash, and the white space before it. */
    static String withoutVersion(String name) {
        int slash = name.indexOf('/');
        return trimEnd(slash < 0 ? name : name.substring(0, slash));
    }

    /**
     * Checks that a user-agent line can contain this name. If {@code mayBeKnown}, a known crawler is accepted if a line
     * can contain the beginning of its name.
     */
    static void check(String name, Crawlers crawlers, boolean mayBeKnown) {
        int slash = name.indexOf('/');
        if (name.indexOf('(') >= 0 || slash >= 0 && hasInnerSpace(name)) {
            String meant = inHeader(name, crawlers);
            throw new AgentNameException("a User-Agent header is not a product token: "
                    + (meant == null ? "write only the crawler's name" : "write " + quoted(meant) + ", or call agentOfHeader"));
        }
        if (name.indexOf(',') >= 0 || name.indexOf(';') >= 0 || name.indexOf('|') >= 0) {
            throw new AgentNameException("a list is not a product token: pass the names in " + quoted(name) + " one by one");
        }
        if (slash > 0 && !crawlers.cutsVersion) {
            String meant = quoted(name.substring(0, slash));
            throw new AgentNameException("a name with a version is not a product token in this set's dialect: write " + meant);
        }
        String token = crawlers.cutsVersion ? withoutVersion(name) : name;
        if (token.isEmpty()) {
            throw new AgentNameException("empty product token: write a crawler's name, or \"*\" for the default group");
        }
        String read = readBack(token, crawlers.syntax);
        boolean isRead = read.equals(token) || mayBeKnown && crawlers.isKnown(name);
        if (!isRead || isDefaultGroup(token, crawlers.syntax)) {
            throw new AgentNameException("no group can name " + quoted(token) + ": a user-agent line with it is read as " + quoted(read));
        }
    }

    private static boolean hasInnerSpace(String name) {
        return trim(name).chars().anyMatch(letter -> isBlank((char) letter));
    }

    private static boolean isDefaultGroup(String token, int syntax) {
        boolean hasMore = token.length() > 1;
        return token.startsWith("*") && (!hasMore || syntax != Crawlers.WHOLE_VALUE && isSpace(token.charAt(1)));
    }

    private static String quoted(String name) {
        return '"' + Utf8.shown(name.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)) + '"';
    }

    /** Returns what a user-agent line with this value is read as. */
    static String readBack(String value, int syntax) {
        int end = 0;
        while (end < value.length() && "#\r\n\0".indexOf(value.charAt(end)) < 0) {
            end++;
        }
        int start = 0;
        while (start < end && isSpace(value.charAt(start))) {
            start++;
        }
        while (end > start && isSpace(value.charAt(end - 1))) {
            end--;
        }
        int at = start;
        while (at < end && isInToken(value.charAt(at), syntax)) {
            at++;
        }
        return value.substring(start, at);
    }

    private static boolean isInToken(char letter, int syntax) {
        switch (syntax) {
            case Crawlers.LETTERS:
                return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter == '-' || letter == '_';
            case Crawlers.BEFORE_VERSION:
                return letter != '/' && !isSpace(letter);
            default:
                return true;
        }
    }

    /** Returns the crawler that most likely sent a header, or null if it names none. */
    static String inHeader(String header, Crawlers crawlers) {
        String[] words = header.split("[^A-Za-z0-9_/.-]+");
        String longest = null;
        for (Crawlers.Entry entry : crawlers.entries) {
            for (String word : words) {
                boolean isNamed = lower(word.split("/", 2)[0]).equals(lower(entry.name)) && !entry.name.isEmpty();
                if (isNamed && (longest == null || entry.name.length() >= longest.length())) {
                    longest = entry.name;
                }
            }
        }
        for (String word : longest == null ? words : new String[0]) {
            int slash = word.indexOf('/');
            String name = slash > 0 ? word.substring(0, slash) : "";
            String version = word.substring(slash + 1);
            String digits = version.startsWith("v") ? version.substring(1) : version;
            boolean hasVersion = !digits.isEmpty() && digits.charAt(0) >= '0' && digits.charAt(0) <= '9';
            if (!name.isEmpty() && hasVersion && !OF_BROWSERS.contains(lower(name))) {
                return name;
            }
        }
        return longest;
    }

    /**
     * Returns the known name that is one letter off (inserted, removed, replaced, or swapped with the next), or null if
     * there is none or the name is another crawler's.
     */
    static String near(String name, Crawlers crawlers) {
        String lower = lower(name);
        if (OTHER_CRAWLERS.contains(lower)) {
            return null;
        }
        for (Crawlers.Entry entry : crawlers.entries) {
            if (lower(entry.name).equals(lower) || entry.tokens.stream().anyMatch(token -> lower(token).equals(lower))) {
                return null;
            }
        }
        for (Crawlers.Entry entry : crawlers.entries) {
            if (isOneLetterOff(lower, lower(entry.name))) {
                return entry.name;
            }
        }
        return null;
    }

    /**
     * Returns whether two names are one letter apart. Names with fewer than seven letters may differ only by swapped
     * letters.
     */
    private static boolean isOneLetterOff(String name, String known) {
        int start = 0;
        int shorter = Math.min(name.length(), known.length());
        while (start < shorter && name.charAt(start) == known.charAt(start)) {
            start++;
        }
        String rest = name.substring(start).toLowerCase(Locale.ROOT);
        String other = known.substring(start);
        boolean isSwapped = rest.length() > 1 && rest.length() == other.length() && rest.charAt(0) == other.charAt(1)
                && rest.charAt(1) == other.charAt(0) && rest.substring(2).equals(other.substring(2));
        if (isSwapped || rest.isEmpty() && other.isEmpty()) {
            return isSwapped;
        }
        if (name.length() < 7) {
            return false;
        }
        return !rest.isEmpty() && rest.substring(1).equals(other)
                || !other.isEmpty() && other.substring(1).equals(rest)
                || !rest.isEmpty() && !other.isEmpty() && rest.substring(1).equals(other.substring(1));
    }
}
