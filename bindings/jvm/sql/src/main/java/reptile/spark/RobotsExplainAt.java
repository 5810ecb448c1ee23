package reptile.spark;

import java.io.IOException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF5;
import reptile.sql.Answers;

/** {@code robots_explain_at(url, set, agent, options, at)}: {@code robots_explain} by the rules at a row's time. */
public final class RobotsExplainAt implements UDF5<String, String, String, String, Object, Row> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsExplainAt() {}

    /** Answers for one row. */
    @Override
    public Row call(String url, String set, String agent, String options, Object at) throws IOException {
        return Robots.row(Answers.explain(url, set, agent, options, Robots.at(at)));
    }
}
