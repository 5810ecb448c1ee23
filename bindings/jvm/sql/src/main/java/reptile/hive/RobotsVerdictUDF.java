package reptile.hive;

import java.io.IOException;
import org.apache.hadoop.hive.ql.exec.Description;
import org.apache.hadoop.hive.ql.udf.UDFType;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import reptile.sql.Answers;

/** {@code robots_verdict(url, set, agent[, options[, at]])}: allow, disallow, unknown or invalid. */
@Description(name = "robots_verdict", value = "_FUNC_(url, set, agent[, options[, at]]) - allow, disallow, unknown or invalid")
@UDFType(deterministic = true)
public final class RobotsVerdictUDF extends RobotsUDF {
    /** Creates the function. */
    public RobotsVerdictUDF() {
        super("robots_verdict", "agent");
    }

    @Override
    ObjectInspector type() {
        return TEXT;
    }

    @Override
    Object answer(String url, String set, String agent, String options, Answers.At at) throws IOException {
        return Answers.verdict(url, set, agent, options, at);
    }
}
