package reptile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The uses in a question, such as {@code train-ai}, with their labels in robots.txt files. Immutable.
 *
 * <p>Names and labels follow draft-ietf-aipref-vocab-08. The assignment of signals to uses is our choice. Labels change
 * from draft to draft, so {@link #and} adds others.
 */
public final class Uses {
    private static final List<String> NAMES = Arrays.asList("train-ai", "search", "ai-use");
    private static final List<String> SIGNALS = Arrays.asList("ai-train", "search", "ai-input");

    private final List<String> names = new ArrayList<>();
    /** Each use's labels in usage rules, and in signals. */
    private final List<byte[][]> usage = new ArrayList<>();
    private final List<byte[][]> signals = new ArrayList<>();

    private Uses() {}

    /**
     * Asks about {@code Content-Usage} lines.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses usage(String... names) {
        return of(names, true, false);
    }

    /**
     * Asks about {@code Content-Signal} lines.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses signals(String... names) {
        return of(names, false, true);
    }

    /**
     * Asks about both kinds of lines: the most restrictive preference holds.
     *
     * @param names the uses: {@code train-ai}, {@code search} or {@code ai-use}
     * @return the question
     * @throws IllegalArgumentException if another use is named
     */
    public static Uses both(String... names) {
        return of(names, true, true);
    }

    private static Uses of(String[] names, boolean readsUsage, boolean readsSignals) {
        Uses uses = new Uses();
        for (String name : names) {
            int place = NAMES.indexOf(name);
            if (place < 0) {
                throw new IllegalArgumentException("no use \"" + name + "\"; expected " + String.join(", ", NAMES));
            }
            uses.add(
                    name,
                    readsUsage ? Collections.singletonList(name) : Collections.emptyList(),
                    readsSignals ? Collections.singletonList(SIGNALS.get(place)) : Collections.emptyList());
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
        uses.names.addAll(names);
        uses.usage.addAll(usage);
        uses.signals.addAll(signals);
        uses.add(name, usageLabels, signalLabels);
        return uses;
    }

    private void add(String name, List<String> usageLabels, List<String> signalLabels) {
        names.add(name);
        usage.add(bytes(usageLabels));
        signals.add(bytes(signalLabels));
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

    /** Returns the labels of a use, in signals or in usage rules. */
    byte[][] labels(int use, boolean inSignals) {
        return (inSignals ? signals : usage).get(use);
    }
}
