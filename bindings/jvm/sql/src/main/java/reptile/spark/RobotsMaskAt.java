package reptile.spark;

import java.io.IOException;
import org.apache.spark.sql.api.java.UDF5;
import reptile.sql.Answers;

/** {@code robots_mask_at(url, set, agents, options, at)}: {@code robots_mask} by the rules at a row's time. */
public final class RobotsMaskAt implements UDF5<String, String, String, String, Object, Long> {
    private static final long serialVersionUID = 1;

    /** Creates the function. */
    public RobotsMaskAt() {}

    /** Answers for one row. */
    @Override
    public Long call(String url, String set, String agents, String options, Object at) throws IOException {
        return Answers.mask(url, set, agents, options, Robots.at(at));
    }
}
