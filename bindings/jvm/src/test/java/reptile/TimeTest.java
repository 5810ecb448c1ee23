package reptile;

import java.nio.file.Path;
import java.util.List;

/** Compares a set by time with the command's answers at many times. */
final class TimeTest {
    private TimeTest() {}

    static void run(Path folder) throws Exception {
        CompiledSet set = CompiledSet.open(folder.resolve("years.reptile"));
        set.verify();
        Check.that(set.isByTime(), "the set is by time");
        List<String[]> questions = Check.rows(folder.resolve("questions.tsv"));
        List<String[]> answers = Check.rows(folder.resolve("answers.tsv"));
        // The first row has the column names.
        Check.equal(questions.size() - 1, answers.size(), "rows");
        Agent agent = set.agent("GPTBot");
        for (int row = 0; row < answers.size(); row++) {
            String[] question = questions.get(row + 1);
            String where = String.join(" ", question);
            Explanation explained = agent.explainAt(question[0], Long.parseLong(question[1]));
            Check.equal(Check.verdict(answers.get(row)[0]), explained.verdict(), where);
            Check.equal(explained.verdict(), agent.decideAt(question[0], Long.parseLong(question[1])), where);
            Check.equal(answers.get(row)[1], String.valueOf(explained.line()), "line of " + where);
        }
        Check.equal(Verdict.INVALID, agent.decideAt("paper.example.com", 0), "not a URL");
    }
}
