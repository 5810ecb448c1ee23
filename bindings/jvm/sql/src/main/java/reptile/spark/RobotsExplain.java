package reptile.spark;

import java.io.IOException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF4;
import reptile.sql.Answers;

/** {@code robots_explain(url, set, agent, options)}: the verdict with its reasons, as {@link Robots#EXPLANATION}. */
public final class RobotsExplain implements UDF4<String, String, String, String, Row> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsExplain() {}

    /** Answers for one row. */
    @Override
    public Row call(String url, String set, String agent, String options) throws IOException {
        return Robots.row(Answers.explain(url, set, agent, options, null));
    }
}
