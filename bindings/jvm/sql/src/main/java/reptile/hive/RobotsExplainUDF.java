package reptile.hive;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hive.ql.exec.Description;
import org.apache.hadoop.hive.ql.udf.UDFType;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import reptile.sql.Answers;

/** {@code robots_explain(url, set, agent[, options[, at]])}: the verdict with its reasons. */
@Description(name = "robots_explain", value = "_FUNC_(url, set, agent[, options[, at]]) - the verdict with its reasons")
@UDFType(deterministic = true)
public final class RobotsExplainUDF extends RobotsUDF {
    /** Creates the function. */
    public RobotsExplainUDF() {
        super("robots_explain", "agent");
    }

    @Override
    ObjectInspector type() {
        return ObjectInspectorFactory.getStandardStructObjectInspector(Answers.FIELDS, Arrays.asList(
                TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, ObjectInspectorFactory.getStandardMapObjectInspector(TEXT, TEXT)));
    }

    @Override
    Object answer(String url, String set, String agent, String options, Answers.At at) throws IOException {
        return Answers.explain(url, set, agent, options, at);
    }
}
