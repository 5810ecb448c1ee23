package reptile.spark;

import java.io.IOException;
import org.apache.spark.sql.api.java.UDF4;
import reptile.sql.Answers;

/** {@code robots_mask(url, set, agents, options)}: the crawlers that may not fetch the URL, as bits. */
public final class RobotsMask implements UDF4<String, String, String, String, Long> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsMask() {}

    /** Answers for one row. */
    @Override
    public Long call(String url, String set, String agents, String options) throws IOException {
        return Answers.mask(url, set, agents, options, null);
    }
}
