package reptile.spark;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.api.java.UDF4;
import reptile.sql.Answers;

/** {@code robots_refused(url, set, agents, options)}: the crawlers that may not fetch the URL. */
public final class RobotsRefused implements UDF4<String, String, String, String, List<String>> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsRefused() {}

    /** Answers for one row. */
    @Override
    public List<String> call(String url, String set, String agents, String options) throws IOException {
        return Answers.refused(url, set, agents, options, null);
    }
}
