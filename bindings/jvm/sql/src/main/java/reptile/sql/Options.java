package reptile.sql;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import reptile.Purpose;
import reptile.Scope;
import reptile.Uses;
import reptile.Verdict;

/** The options of a function, such as {@code scope=www purpose=train-ai unknown_usage=disallow}. */
final class Options {
    private static final List<String> NAMES = Arrays.asList("agent", "lines", "purpose", "scope", "unknown_usage", "uses");

    /** Maximum number of cached options. A query has one text of options for each function. */
    static final int MAX_PARSED = 1024;

    private static final Map<String, Options> PARSED = new ConcurrentHashMap<>();

    final String text;
    final Scope scope;
    /** Null if only the fetch counts. */
    final Purpose purpose;
    /** Null if there are none. */
    final Uses uses;
    /** The uses, followed by the purpose's use. Null without uses and a purpose. */
    final Uses usesAndPurpose;
    /** Whether the agent is a row's cell, a name or a User-Agent header, instead of the user's name for a crawler. */
    final boolean isByRow;

    private Options(String text) {
        this.text = text;
        Map<String, String> given = new TreeMap<>();
        for (String option : text.trim().isEmpty() ? new String[0] : text.trim().split("\\s+")) {
            String[] pair = option.split("=", 2);
            if (pair.length < 2 || !NAMES.contains(pair[0])) {
                throw new IllegalArgumentException("unknown option \"" + option + "\"; expected NAME=VALUE, separated by spaces, with "
                        + String.join(", ", NAMES));
            }
            if (given.put(pair[0], pair[1]) != null) {
                throw new IllegalArgumentException("the option " + pair[0] + " is given twice");
            }
        }
        scope = scope(given.getOrDefault("scope", "origin"));
        isByRow = "row".equals(oneOf("agent", given.getOrDefault("agent", "name"), "name", "row"));
        String lines = given.getOrDefault("lines", "usage,tokens");
        uses = given.containsKey("uses") ? uses(lines, given.get("uses").split(",")) : null;
        usesAndPurpose = given.containsKey("purpose") ? uses(lines, given(given, "uses", "purpose").split(",")) : uses;
        purpose = purpose(given.get("purpose"), given.get("unknown_usage"), lines);
        if (given.containsKey("lines") && uses == null && purpose == null) {
            throw new IllegalArgumentException("lines: has no effect without uses or purpose");
        }
    }

    /** Returns the values of the options that are given, separated by commas. */
    private static String given(Map<String, String> options, String... names) {
        return Arrays.stream(names).map(options::get).filter(Objects::nonNull).collect(Collectors.joining(","));
    }

    /** Returns the options in a text. The same text is parsed only once. */
    static Options of(String text) {
        Options known = PARSED.get(text);
        if (known != null) {
            return known;
        }
        Options options = new Options(text);
        if (PARSED.size() >= MAX_PARSED) {
            PARSED.clear();
        }
        PARSED.put(text, options);
        return options;
    }

    private static Scope scope(String name) {
        Optional<Scope> scope = Scope.fromName(name);
        return scope.orElseThrow(() -> new IllegalArgumentException("scope: expected origin, scheme or www, found \"" + name + "\""
                + (name.equals("domain") ? ", which needs the Public Suffix List: reptile.Scope.domain in Java takes it" : "")));
    }

    private static Purpose purpose(String use, String unknown, String lines) {
        if (use == null && unknown == null) {
            return null;
        }
        if (use == null) {
            throw new IllegalArgumentException("unknown_usage: has no effect without purpose");
        }
        if (unknown == null) {
            throw new IllegalArgumentException("purpose: needs unknown_usage (allow, disallow or unknown), because the drafts leave"
                    + " open what an unknown preference means");
        }
        String verdict = oneOf("unknown_usage", unknown, "allow", "disallow", "unknown");
        return Purpose.of(uses(lines, use), Verdict.valueOf(verdict.toUpperCase(java.util.Locale.ROOT)));
    }

    private static Uses uses(String lines, String... names) {
        return Uses.reading(lines, names);
    }

    private static String oneOf(String option, String value, String... known) {
        if (!Arrays.asList(known).contains(value)) {
            throw new IllegalArgumentException(option + ": expected " + String.join(", ", known) + ", found \"" + value + "\"");
        }
        return value;
    }
}
