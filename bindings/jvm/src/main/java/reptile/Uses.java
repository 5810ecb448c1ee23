package reptile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The uses in a question, such as {@code train-ai}, with their labels and tokens in robots.txt files. Immutable.
 *
 * <p>Names and labels follow draft-ietf-aipref-vocab-08. The assignment of signals to uses is our choice. Labels change
 * from draft to draft, so {@link #and} adds others.
 */
public final class Uses {
    private static final List<String> NAMES = Arrays.asList("train-ai", "search", "ai-use");
    private static final List<String> SIGNALS = Arrays.asList("ai-train", "search", "ai-input");
    /** The product tokens that name the uses, or null. */
    private static final List<String> TOKENS = Arrays.asList("__usage_ai-training", null, null);
    private static final List<String> STATEMENTS = Arrays.asList("usage", "signals", "tokens", "default-group", "all");

    private final List<String> names = new ArrayList<>();
    /** Each use's labels in usage rules, and in signals. */
    private final List<byte[][]> usage = new ArrayList<>();
    private final List<byte[][]> signals = new ArrayList<>();
    /** Each use's product tokens. */
    private final List<List<String>> tokens = new ArrayList<>();
    /** Whether the groups for {@code *} count where no group names a token. */
    private boolean hasDefaultGroup;

    private Uses() {}

    /**
     * Asks about {@code Content-Usage} lines.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses usage(String... names) {
        return reading("usage", names);
    }

    /**
     * Asks about {@code Content-Signal} lines.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses signals(String... names) {
        return reading("signals", names);
    }

    /**
     * Asks about all statements: both kinds of lines, and groups whose product token names a use, such as
     * {@code __usage_ai-training} (draft-kelley-aipref-training-preference-signal-00). The most restrictive holds.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses all(String... names) {
        return reading("all", names);
    }

    /**
     * Asks about the statements that the command reads by default: {@code usage,tokens}.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses of(String... names) {
        return reading("usage,tokens", names);
    }

    /**
     * Asks about some kinds of statements. The most restrictive holds.
     *
     * @param statements names separated by commas: {@code usage} ({@code Content-Usage} lines), {@code signals}
     *     ({@code Content-Signal} lines), {@code tokens} (groups whose product token names a use),
     *     {@code default-group} (those, and the groups for {@code *} where no group names the token), or {@code all}
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another statement or use is named, or a use has no name in the statements
     */
    public static Uses reading(String statements, String... names) {
        List<String> read = new ArrayList<>();
        for (String name : statements.split(",", -1)) {
            if (!STATEMENTS.contains(name.trim())) {
                throw new IllegalArgumentException("no statements are called \"" + name.trim() + "\"; expected "
                        + String.join(", ", STATEMENTS));
            }
            read.add(name.trim());
        }
        boolean isAll = read.contains("all");
        Uses uses = new Uses();
        uses.hasDefaultGroup = read.contains("default-group");
        for (String name : names) {
            int place = NAMES.indexOf(name);
            boolean readsTokens = isAll || read.contains("tokens") || uses.hasDefaultGroup;
            List<String> own = Collections.singletonList(name);
            List<String> usage = isAll || read.contains("usage") ? own : Collections.emptyList();
            List<String> signals = place >= 0 && (isAll || read.contains("signals"))
                    ? Collections.singletonList(SIGNALS.get(place)) : Collections.emptyList();
            List<String> tokens = place >= 0 && readsTokens && TOKENS.get(place) != null
                    ? Collections.singletonList(TOKENS.get(place)) : Collections.emptyList();
            if (place < 0 || usage.isEmpty() && signals.isEmpty() && tokens.isEmpty()) {
                throw new IllegalArgumentException("no use \"" + name + "\"; expected " + String.join(", ", NAMES));
            }
            uses.add(name, usage, signals, tokens);
        }
        return uses;
    }

    /**
     * Returns these uses and another one. Of several labels, the most restrictive holds.
     *
     * @param name the use's name
     * @param usageLabels its labels in {@code Content-Usage} lines
     * @param signalLabels its labels in {@code Content-Signal} lines, in lower case
     * @return the longer question
     */
    public Uses and(String name, List<String> usageLabels, List<String> signalLabels) {
        Uses uses = new Uses();
        uses.hasDefaultGroup = hasDefaultGroup;
        uses.names.addAll(names);
        uses.usage.addAll(usage);
        uses.signals.addAll(signals);
        uses.tokens.addAll(tokens);
        uses.add(name, usageLabels, signalLabels, Collections.emptyList());
        return uses;
    }

    private void add(String name, List<String> usageLabels, List<String> signalLabels, List<String> productTokens) {
        names.add(name);
        usage.add(bytes(usageLabels));
        signals.add(bytes(signalLabels));
        tokens.add(productTokens);
    }

    private static byte[][] bytes(List<String> labels) {
        return labels.stream().map(label -> label.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
    }

    /**
     * Returns the names of the uses, in the order of the answers.
     *
     * @return an unmodifiable list
     */
    public List<String> names() {
        return Collections.unmodifiableList(names);
    }

    int count() {
        return names.size();
    }

    /** Returns an unknown preference for each use. */
    Preference[] unknown() {
        Preference[] preferences = new Preference[names.size()];
        Arrays.fill(preferences, Preference.UNKNOWN);
        return preferences;
    }

    /** Returns the names of the uses, such as {@code [train-ai, search]}. */
    @Override
    public String toString() {
        return names.toString();
    }

    List<String> tokens(int use) {
        return tokens.get(use);
    }

    boolean hasDefaultGroup() {
        return hasDefaultGroup;
    }

    /** Returns the labels of a use, in signals or in usage rules. */
    byte[][] labels(int use, boolean inSignals) {
        return (inSignals ? signals : usage).get(use);
    }
}
