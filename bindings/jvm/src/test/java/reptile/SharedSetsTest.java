package reptile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Sets that are opened once for each path, and messages about paths. */
final class SharedSetsTest {
    private SharedSetsTest() {}

    static void run(Path golden) throws Exception {
        Path folder = Files.createTempDirectory("reptile");
        Path google = golden.resolve("google.set");
        Path path = Files.copy(google, folder.resolve("web.reptile"));
        CompiledSet first = CompiledSet.shared(path);
        Check.that(first == CompiledSet.shared(path), "the set is opened once");
        Path other = Files.copy(golden.resolve("by-time.set"), folder.resolve("other"));
        Files.move(other, path, StandardCopyOption.ATOMIC_MOVE);
        Thread.sleep(1100);
        CompiledSet second = CompiledSet.shared(path);
        Check.that(second != first && second.isByTime() && second == CompiledSet.shared(path), "a renamed file is opened");
        Check.equal("google", first.dialect(), "the first set can still be used");
        Files.delete(path);
        Thread.sleep(1100);
        Check.refused(NoSuchFileException.class, () -> CompiledSet.shared(path), "a deleted file");
        // The deleted file's set is one of the open sets.
        for (int open = 2; open <= SharedSets.MAX_SHARED_SETS + 1; open++) {
            CompiledSet.shared(Files.copy(google, folder.resolve(open + ".reptile")));
            Check.equal(open > SharedSets.MAX_SHARED_SETS ? 1 : open, SharedSets.count(), "open sets");
        }
        refusesFolders(folder);
    }

    private static void refusesFolders(Path folder) {
        for (Check.Work open : new Check.Work[] {
            () -> CompiledSet.open(folder), () -> CompiledSet.read(folder), () -> CompiledSet.shared(folder)
        }) {
            try {
                open.run();
                Check.fail("a folder was opened");
            } catch (Exception error) {
                String expected = folder + ": is a folder; expected a set file, which reptile compile writes";
                Check.that(error instanceof IOException, "an IOException for a folder: " + error);
                Check.equal(expected, error.getMessage(), "the message about a folder");
            }
        }
    }
}
