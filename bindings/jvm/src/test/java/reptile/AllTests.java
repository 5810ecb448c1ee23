package reptile;

import java.nio.file.Path;

/** Runs all tests: {@code java reptile.AllTests REPOSITORY DATA}. The script {@code test} generates the data. */
final class AllTests {
    private AllTests() {}

    public static void main(String[] arguments) {
        Path repository = Path.of(arguments[0]);
        Path data = Path.of(arguments[1]);
        Path golden = repository.resolve("engine/tests/golden/v" + Container.VERSION);
        Check.section("hash", HashTest::run);
        Check.section("URLs", UrlTest::run);
        Check.section("limits", LimitsTest::run);
        Check.section("names", () -> NamesTest.run(golden, data));
        Check.section("brands", () -> NamesTest.brands(repository.resolve("compiler/src/dialect/mistakes.rs")));
        Check.section("other crawlers", () -> NamesTest.others(repository.resolve("compiler/src/dialect/crawlers.rs")));
        Check.section("headers", () -> NamesTest.headers(data.resolve("headers")));
        Check.section("null", () -> NullTest.run(golden, data));
        Check.section("several crawlers and rows' crawlers", () -> AgentsTest.run(golden, data.resolve("agents")));
        Check.section("shared sets", () -> SharedSetsTest.run(golden));
        Check.section("scopes", () -> ScopeTest.run(data.resolve("scope")));
        Check.section("other directives", () -> DirectivesTest.run(data.resolve("fields")));
        Check.section("uses", () -> UsageTest.run(data.resolve("usage")));
        Check.section("the golden set", () -> GoldenSetTest.run(golden, data));
        Check.section("damaged sets", () -> DamageTest.run(golden, data));
        Check.section("the conformance suite", () -> SuiteTest.run(data.resolve("suite")));
        Check.section("equal to the command", () -> CompareTest.run(data.resolve("compare")));
        Check.section("by time", () -> TimeTest.run(data.resolve("time")));
        Check.section("several threads", () -> ThreadTest.run(golden));
        Check.section("golden rows", () -> GoldenRowsTest.run(data.resolve("real")));
        Check.finish();
    }
}
