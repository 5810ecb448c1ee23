package reptile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares other directives with {@code reptile fields}, row by row. */
final class DirectivesTest {
    private DirectivesTest() {}

    /** Runs a folder with {@code NAME.fields} and {@code NAME.path}, which contains the set's path. */
    static void run(Path folder) throws Exception {
        List<Path> tables;
        try (Stream<Path> files = Files.list(folder)) {
            tables = files.filter(file -> file.toString().endsWith(".fields")).sorted().collect(Collectors.toList());
        }
        Set<Directive.Kind> kinds = EnumSet.noneOf(Directive.Kind.class);
        Set<Directive.State> states = EnumSet.noneOf(Directive.State.class);
        for (Path table : tables) {
            CompiledSet set = CompiledSet.open(Path.of(Files.readString(Path.of(table.toString().replace(".fields", ".path")))));
            for (Directive line : compare(set, table)) {
                kinds.add(line.kind());
                states.add(line.state());
            }
            System.out.println(table.getFileName() + ": other directives as the command");
            Check.equal(Collections.emptyList(), set.directives("http://unknown.example/"), "an unknown origin");
            Check.equal(Collections.emptyList(), set.sitemaps("no URL"), "not a URL");
            Check.equal(null, set.directives(null), "a null URL");
            Check.equal(null, set.sitemaps(null), "a null URL");
        }
        Check.equal(EnumSet.allOf(Directive.Kind.class), kinds, "kinds");
        Check.equal(EnumSet.allOf(Directive.State.class), states, "states");
    }

    /** Compares a set's other directives with a table, and returns them. */
    static List<Directive> compare(CompiledSet set, Path table) throws Exception {
        Map<String, List<String>> expected = new LinkedHashMap<>();
        Map<String, List<String>> sitemaps = new LinkedHashMap<>();
        for (String[] row : Check.rows(table)) {
            // The command escapes controls and invalid UTF-8.
            String value = isPlain(row[5]) ? row[5] : "";
            expected.computeIfAbsent(row[0], origin -> new ArrayList<>()).add(String.join(" ", row[1], row[2], row[3], value));
            if (row[2].equals("sitemap") && row[3].equals("counts")) {
                sitemaps.computeIfAbsent(row[0], origin -> new ArrayList<>()).add(value);
            }
        }
        List<Directive> all = new ArrayList<>();
        for (Map.Entry<String, List<String>> origin : expected.entrySet()) {
            List<String> found = new ArrayList<>();
            for (Directive line : set.directives(origin.getKey() + "/any")) {
                String key = line.kind() == Directive.Kind.OTHER ? Names.lower(line.key()) : line.toString().split(":")[0];
                String value = isPlain(line.value()) ? line.value() : "";
                found.add(String.join(" ", String.valueOf(line.line()), key, Names.lower(line.state().name()).replace('_', '-'), value));
                all.add(line);
            }
            Check.equal(origin.getValue(), found, table.getFileName() + " " + origin.getKey());
            List<String> counted = set.sitemaps(origin.getKey()).stream().map(value -> isPlain(value) ? value : "").collect(Collectors.toList());
            Check.equal(sitemaps.getOrDefault(origin.getKey(), Collections.emptyList()), counted, "sitemaps of " + origin.getKey());
        }
        return all;
    }

    private static boolean isPlain(String text) {
        return text.chars().allMatch(letter -> letter >= ' ' && letter < 0x7F && letter != '\\');
    }
}
