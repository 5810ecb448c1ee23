package reptile.spark;

import java.io.IOException;
import org.apache.spark.sql.api.java.UDF3;
import reptile.sql.Answers;

/** {@code robots_verdict(url, set, agent)}: {@code allow}, {@code disallow}, {@code unknown} or {@code invalid}. */
public final class RobotsVerdict implements UDF3<String, String, String, String> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsVerdict() {}

    /** Answers for one row. */
    @Override
    public String call(String url, String set, String agent) throws IOException {
        return Answers.verdict(url, set, agent, null, null);
    }
}
