package reptile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Sets that this virtual machine has opened, by path. */
final class SharedSets {
    /** Maximum number of sets that are kept open; jobs use one, or a few parts. */
    static final int MAX_SHARED_SETS = 64;
    /** Time between checks in nanoseconds. A check takes longer than a decision. */
    private static final long CHECK_NANOS = 1_000_000_000;

    private static final Map<Path, Entry> OPEN = new ConcurrentHashMap<>();

    private SharedSets() {}

    private static final class Entry {
        final CompiledSet set;
        /** The file's key, time and size, which show whether another file was renamed over it. */
        final List<Object> identity;
        volatile long checked = System.nanoTime();

        Entry(CompiledSet set, List<Object> identity) {
            this.set = set;
            this.identity = identity;
        }
    }

    static CompiledSet get(Path path) throws IOException {
        Entry entry = OPEN.get(path);
        long now = System.nanoTime();
        if (entry != null && now - entry.checked < CHECK_NANOS) {
            return entry.set;
        }
        List<Object> identity = identity(path);
        if (entry != null && entry.identity.equals(identity)) {
            entry.checked = now;
            return entry.set;
        }
        return open(path, identity).set;
    }

    private static synchronized Entry open(Path path, List<Object> identity) throws IOException {
        Entry entry = OPEN.get(path);
        if (entry == null || !entry.identity.equals(identity)) {
            // If another file is renamed over this one now, the identity is older than the set, and the next check
            // opens it again.
            entry = new Entry(CompiledSet.open(path), identity);
            if (OPEN.size() >= MAX_SHARED_SETS && !OPEN.containsKey(path)) {
                OPEN.clear();
            }
            OPEN.put(path, entry);
        }
        return entry;
    }

    private static List<Object> identity(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        return Arrays.asList(attributes.fileKey(), attributes.lastModifiedTime(), attributes.size());
    }

    /** Returns the number of sets that are kept open. */
    static int count() {
        return OPEN.size();
    }
}
