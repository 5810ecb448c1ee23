package reptile;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds the crawlers that the rows of a table or a log name, as {@code reptile classify --agent '{COLUMN}'} does. Safe
 * for use by any number of threads at once.
 *
 * <pre>{@code
 * RowAgents rows = set.rowAgents();
 * Verdict verdict = rows.agents("Mozilla/5.0 (compatible; GPTBot/1.2)").decide("https://example.com/1").get(0);
 * }</pre>
 *
 * <p>A row's cell is a product token, or a complete User-Agent header, which contains a space, a slash or an opening
 * parenthesis. A header names a crawler as in {@link CompiledSet#agentOfHeader}. A cell that names no crawler, such as a
 * browser's header, an empty cell or {@code -}, has the verdict {@link Verdict#UNKNOWN} and the reason
 * {@link Reason#NO_CRAWLER}, or {@link Verdict#INVALID} if the URL is. A misspelled name is used as given:
 * {@link Agent#mistake} finds it.
 *
 * <p>Up to 8,192 cells are cached, if they are not longer than 512 characters.
 */
public final class RowAgents {
    /** Maximum number of cached cells. Logs have thousands of different headers, most of them rare. */
    static final int MAX_CACHED_CELLS = 8192;
    /** Maximum length in characters of a cached cell. Longer cells are looked up each time. */
    static final int MAX_CACHED_CELL_CHARS = 512;

    private final CompiledSet set;
    private final Agents nobody;
    private final Map<String, Agents> cells = new ConcurrentHashMap<>();

    RowAgents(CompiledSet set, Agents nobody) {
        this.set = set;
        this.nobody = nobody;
    }

    /**
     * Returns this finder with a scope. Each result has a separate cache, so call this once, not for each row.
     *
     * @param scope the origins that may decide a URL
     * @return the finder
     * @throws NullPointerException if the scope is null
     */
    public RowAgents in(Scope scope) {
        return new RowAgents(set, nobody.in(scope));
    }

    /**
     * Returns this finder for a purpose. Each result has a separate cache, so call this once, not for each row.
     *
     * @param purpose the purpose
     * @return the finder
     * @throws NullPointerException if the purpose is null
     */
    public RowAgents forPurpose(Purpose purpose) {
        return new RowAgents(set, nobody.forPurpose(purpose));
    }

    /**
     * Returns the crawler that a cell names.
     *
     * @param cell a product token, a User-Agent header, or null
     * @return the crawler alone, for questions about the row's URL; without a crawler, {@link Agents#toList} is empty,
     *     and there is one verdict
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Agents agents(String cell) {
        if (cell == null) {
            return nobody;
        }
        Agents known = cells.get(cell);
        if (known != null) {
            return known;
        }
        Agent agent = set.agentOfCell(cell);
        Agents found = agent == null ? nobody : Agents.of(set, Collections.singletonList(agent)).like(nobody);
        if (cell.length() <= MAX_CACHED_CELL_CHARS) {
            if (cells.size() >= MAX_CACHED_CELLS) {
                cells.clear();
            }
            cells.put(cell, found);
        }
        return found;
    }

    /** Returns the number of cached cells. */
    int cached() {
        return cells.size();
    }
}
