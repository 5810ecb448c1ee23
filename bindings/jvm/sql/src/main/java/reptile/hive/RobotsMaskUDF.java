package reptile.hive;

import java.io.IOException;
import org.apache.hadoop.hive.ql.exec.Description;
import org.apache.hadoop.hive.ql.udf.UDFType;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import reptile.sql.Answers;

/** {@code robots_mask(url, set, agents[, options[, at]])}: the crawlers that may not fetch the URL, as bits. */
@Description(name = "robots_mask", value = "_FUNC_(url, set, agents[, options[, at]]) - the crawlers that may not fetch the URL, as bits")
@UDFType(deterministic = true)
public final class RobotsMaskUDF extends RobotsUDF {
    /** Creates the function. */
    public RobotsMaskUDF() {
        super("robots_mask", "agents");
    }

    @Override
    ObjectInspector type() {
        return NUMBER;
    }

    @Override
    Object answer(String url, String set, String agents, String options, Answers.At at) throws IOException {
        return Answers.mask(url, set, agents, options, at);
    }
}
