package reptile.sql;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import reptile.Agents;
import reptile.Explanation;
import reptile.Preference;
import reptile.Rule;
import reptile.Uses;
import reptile.Verdict;
import reptile.Verdicts;

/**
 * The functions' answers, in the words of {@code reptile classify}. A set is opened once for each path and virtual
 * machine, and again if another file was renamed over it.
 *
 * <p>Arguments: {@code set} is the path of a set file on this machine, or the name of a file that Spark has shipped.
 * {@code agent} is one crawler's name, and {@code agents} are several, separated by commas, with groups such as
 * {@code @ai-training}; {@code exact:NAME} uses a name even if it looks misspelled. {@code options} is a text such as
 * {@code scope=www purpose=train-ai unknown_usage=disallow}, or null.
 *
 * <p>If the URL, the set or the agent is null, the answer is null. With the option {@code agent=row}, a null agent is a
 * row that names no crawler.
 */
public final class Answers {
    /** The names of the values that {@link #explain} returns. */
    public static final List<String> FIELDS = List.of("agent", "verdict", "line", "rule", "reason", "purpose", "uses");

    /** Maximum number of crawlers in a mask: SQL has no unsigned numbers of 64 bits. */
    static final int MAX_MASKED_AGENTS = 63;

    private Answers() {}

    /** The time of a row, in an answer by time. */
    public static final class At {
        private final Long seconds;

        private At(Long seconds) {
            this.seconds = seconds;
        }

        /**
         * Returns a row's time.
         *
         * @param seconds seconds since 1970, or null: the row has no time, and is {@code invalid}
         * @return the time
         */
        public static At of(Long seconds) {
            return new At(seconds);
        }
    }

    /**
     * Returns one crawler's verdict.
     *
     * @param url an absolute URL, or null
     * @param set a set file
     * @param agent a crawler
     * @param options options, or null
     * @param at the row's time, or null for the set's own
     * @return {@code allow}, {@code disallow}, {@code unknown} or {@code invalid}: for the purpose, if there is one
     * @throws IOException if the set cannot be read
     */
    public static String verdict(String url, String set, String agent, String options, At at) throws IOException {
        Question question = question(url, set, agent, options);
        if (question == null) {
            return null;
        }
        Agents agents = one(question, agent);
        return at != null && at.seconds == null ? "invalid" : word(decide(agents, url, at).forPurpose().get(0));
    }

    /**
     * Returns one crawler's verdict with its reasons.
     *
     * @param url an absolute URL, or null
     * @param set a set file
     * @param agent a crawler
     * @param options options, or null
     * @param at the row's time, or null for the set's own
     * @return the values named in {@link #FIELDS}: texts, a Long for the line, and a map of texts for the uses
     * @throws IOException if the set cannot be read
     */
    public static Object[] explain(String url, String set, String agent, String options, At at) throws IOException {
        Question question = question(url, set, agent, options);
        if (question == null) {
            return null;
        }
        Agents agents = one(question, agent);
        String name = agents.names().get(0).isEmpty() ? null : agents.names().get(0);
        boolean hasPurpose = question.options.purpose != null;
        if (at != null && at.seconds == null) {
            return new Object[] {name, "invalid", null, null, "no time", hasPurpose ? "invalid" : null, uses(question, null)};
        }
        Explanation explained = (at == null ? agents.explain(url) : agents.explainAt(url, at.seconds)).get(0);
        Verdict fetch = explained.verdict();
        Uses asked = question.options.usesAndPurpose;
        List<Preference> preferences = asked == null ? null
                : (at == null ? agents.usage(url, asked) : agents.usageAt(url, at.seconds, asked)).get(0);
        Verdict purpose = hasPurpose ? question.options.purpose.verdict(fetch, preferences.get(preferences.size() - 1)) : null;
        Long line = explained.line() == 0 ? null : explained.line();
        String rule = explained.rule().map(Rule::toString).orElse(null);
        return new Object[] {
            name, word(fetch), line, rule, explained.reasonText(), hasPurpose ? word(purpose) : null, uses(question, preferences)
        };
    }

    /**
     * Returns the crawlers that may not fetch a URL, or not for the purpose if there is one.
     *
     * @param url an absolute URL, or null
     * @param set a set file
     * @param agents the crawlers
     * @param options options, or null
     * @param at the row's time, or null for the set's own
     * @return their names; null if a verdict is unknown or invalid
     * @throws IOException if the set cannot be read
     */
    public static List<String> refused(String url, String set, String agents, String options, At at) throws IOException {
        Question question = question(url, set, agents, options);
        boolean isMissing = question == null || at != null && at.seconds == null;
        return isMissing ? null : decide(question.agents(agents), url, at).refused().orElse(null);
    }

    /**
     * Returns the crawlers that may not fetch a URL as bits: 1 for the first crawler, then 2, 4 and so on.
     *
     * @param url an absolute URL, or null
     * @param set a set file
     * @param agents up to 63 crawlers
     * @param options options, or null
     * @param at the row's time, or null for the set's own
     * @return the mask; null if a verdict is unknown or invalid
     * @throws IOException if the set cannot be read
     */
    public static Long mask(String url, String set, String agents, String options, At at) throws IOException {
        Question question = question(url, set, agents, options);
        if (question == null || at != null && at.seconds == null) {
            return null;
        }
        Agents asked = question.agents(agents);
        if (asked.names().size() > MAX_MASKED_AGENTS) {
            throw new IllegalArgumentException("robots_mask: a mask has a bit for each of up to " + MAX_MASKED_AGENTS + " crawlers, found "
                    + asked.names().size() + "; use robots_refused instead");
        }
        OptionalLong mask = decide(asked, url, at).mask();
        return mask.isPresent() ? mask.getAsLong() : null;
    }

    private static Question question(String url, String set, String agents, String options) throws IOException {
        if (url == null || set == null) {
            return null;
        }
        Options parsed = Options.of(options == null ? "" : options);
        return agents == null && !parsed.isByRow ? null : Question.of(set, agents, parsed);
    }

    private static Agents one(Question question, String agent) {
        Agents agents = question.agents(agent);
        if (agents.names().size() != 1) {
            throw new IllegalArgumentException("expected one crawler, found \"" + agent + "\": use robots_refused for several");
        }
        return agents;
    }

    private static Verdicts decide(Agents agents, String url, At at) {
        return at == null ? agents.decide(url) : agents.decideAt(url, at.seconds);
    }

    /** Returns each use's preference, or null if no use is in question. Null preferences are unknown. */
    private static Map<String, String> uses(Question question, List<Preference> preferences) {
        List<String> names = question.options.uses == null ? Collections.emptyList() : question.options.uses.names();
        Map<String, String> uses = new LinkedHashMap<>();
        for (int place = 0; place < names.size(); place++) {
            Preference preference = preferences == null ? Preference.UNKNOWN : preferences.get(place);
            uses.put(names.get(place), preference.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        }
        return names.isEmpty() ? null : uses;
    }

    private static String word(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT);
    }
}
