package reptile.spark;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.api.java.UDF5;
import reptile.sql.Answers;

/** {@code robots_refused_at(url, set, agents, options, at)}: {@code robots_refused} by the rules at a row's time. */
public final class RobotsRefusedAt implements UDF5<String, String, String, String, Object, List<String>> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsRefusedAt() {}

    /** Answers for one row. */
    @Override
    public List<String> call(String url, String set, String agents, String options, Object at) throws IOException {
        return Answers.refused(url, set, agents, options, Robots.at(at));
    }
}
