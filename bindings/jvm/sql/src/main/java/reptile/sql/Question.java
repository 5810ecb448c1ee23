package reptile.sql;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reptile.Agent;
import reptile.Agents;
import reptile.CompiledSet;
import reptile.RowAgents;

/** A set, crawlers and options, given as texts and resolved once. */
final class Question {
    /** Maximum number of resolved questions. A query has a few, unless a column has the crawlers' names. */
    static final int MAX_QUESTIONS = 1024;
    /** What precedes a name that is used unchanged, as in the command. */
    private static final String EXACT = "exact:";

    private static final Map<List<String>, Question> RESOLVED = new ConcurrentHashMap<>();
    /** The sets' paths, by their texts. */
    private static final Map<String, Path> PATHS = new ConcurrentHashMap<>();

    final Options options;
    private final CompiledSet set;
    /** Null if rows name their crawlers. */
    private final Agents named;
    private final RowAgents rows;

    private Question(CompiledSet set, String agents, Options options) {
        this.set = set;
        this.options = options;
        Agents found = options.isByRow ? null : named(set, agents).in(options.scope);
        RowAgents cells = options.isByRow ? set.rowAgents().in(options.scope) : null;
        boolean hasPurpose = options.purpose != null;
        named = hasPurpose && found != null ? found.forPurpose(options.purpose) : found;
        rows = hasPurpose && cells != null ? cells.forPurpose(options.purpose) : cells;
    }

    /** Returns a question about the set that the path has now. */
    static Question of(String set, String agents, Options options) throws IOException {
        CompiledSet opened = open(set);
        List<String> key = Arrays.asList(set, options.isByRow ? "" : agents, options.text);
        Question known = RESOLVED.get(key);
        if (known != null && known.set == opened) {
            return known;
        }
        Question question = new Question(opened, agents, options);
        if (RESOLVED.size() >= MAX_QUESTIONS) {
            RESOLVED.clear();
        }
        RESOLVED.put(key, question);
        return question;
    }

    /** Returns the crawlers that decide a row whose argument for the crawlers is this text. */
    Agents agents(String cell) {
        return named == null ? rows.agents(cell) : named;
    }

    private static Agents named(CompiledSet set, String text) {
        String[] specs = text.split(",", -1);
        String[] names = Arrays.stream(specs).map(spec -> spec.startsWith(EXACT) ? spec.substring(EXACT.length()) : spec)
                .toArray(String[]::new);
        Agents agents = set.agentsExactly(names);
        for (Agent agent : agents.toList()) {
            if (!Arrays.asList(specs).contains(EXACT + agent.name())) {
                agent.mistake().ifPresent(mistake -> {
                    throw new IllegalArgumentException(
                            "no robots.txt names \"" + agent.name() + "\", " + mistake + ", or " + EXACT + agent.name());
                });
            }
        }
        return agents;
    }

    private static CompiledSet open(String text) throws IOException {
        Path known = PATHS.get(text);
        if (known != null) {
            try {
                return CompiledSet.shared(known);
            } catch (NoSuchFileException moved) {
                PATHS.remove(text);
            }
        }
        Path path = path(text);
        CompiledSet set = CompiledSet.shared(path);
        if (PATHS.size() >= MAX_QUESTIONS) {
            PATHS.clear();
        }
        PATHS.put(text, path);
        return set;
    }

    /** Returns the path of a set: as given, or of a file with this name that Spark has shipped. */
    private static Path path(String text) {
        Path path = Path.of(text);
        if (path.isAbsolute() || Files.exists(path)) {
            return path;
        }
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            Class<?> files = Class.forName("org.apache.spark.SparkFiles", true, loader);
            return Path.of((String) files.getMethod("get", String.class).invoke(null, text));
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException | InvocationTargetException notSpark) {
            return path;
        }
    }
}
