package reptile.hive;

import java.io.IOException;
import org.apache.hadoop.hive.ql.exec.Description;
import org.apache.hadoop.hive.ql.udf.UDFType;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import reptile.sql.Answers;

/** {@code robots_refused(url, set, agents[, options[, at]])}: the crawlers that may not fetch the URL. */
@Description(name = "robots_refused", value = "_FUNC_(url, set, agents[, options[, at]]) - the crawlers that may not fetch the URL")
@UDFType(deterministic = true)
public final class RobotsRefusedUDF extends RobotsUDF {
    /** Creates the function. */
    public RobotsRefusedUDF() {
        super("robots_refused", "agents");
    }

    @Override
    ObjectInspector type() {
        return ObjectInspectorFactory.getStandardListObjectInspector(TEXT);
    }

    @Override
    Object answer(String url, String set, String agents, String options, Answers.At at) throws IOException {
        return Answers.refused(url, set, agents, options, at);
    }
}
