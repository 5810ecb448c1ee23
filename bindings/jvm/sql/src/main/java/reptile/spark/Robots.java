package reptile.spark;

import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.UDFRegistration;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import reptile.sql.Answers;

/**
 * Registers the functions for Spark SQL. {@link Answers} describes their arguments.
 *
 * <pre>{@code
 * Robots.register(spark);
 * spark.sql("SELECT url, robots_verdict(url, 'web.reptile', 'GPTBot') FROM urls");
 * }</pre>
 */
public final class Robots {
    /** The type of {@code robots_explain}, for {@code registerJavaFunction} in Python. */
    public static final String EXPLANATION = "agent STRING, verdict STRING, line BIGINT, rule STRING, reason STRING, "
            + "purpose STRING, uses MAP<STRING, STRING>";

    private Robots() {}

    /**
     * Registers {@code robots_verdict}, {@code robots_explain}, {@code robots_refused} and {@code robots_mask}, and the
     * last three with {@code _at} for each row's time.
     *
     * @param session the session
     */
    public static void register(SparkSession session) {
        UDFRegistration functions = session.udf();
        DataType explanation = StructType.fromDDL(EXPLANATION);
        DataType names = DataTypes.createArrayType(DataTypes.StringType);
        functions.register("robots_verdict", new RobotsVerdict(), DataTypes.StringType);
        functions.register("robots_explain", new RobotsExplain(), explanation);
        functions.register("robots_explain_at", new RobotsExplainAt(), explanation);
        functions.register("robots_refused", new RobotsRefused(), names);
        functions.register("robots_refused_at", new RobotsRefusedAt(), names);
        functions.register("robots_mask", new RobotsMask(), DataTypes.LongType);
        functions.register("robots_mask_at", new RobotsMaskAt(), DataTypes.LongType);
    }

    static Row row(Object[] values) {
        return values == null ? null : RowFactory.create(values);
    }

    /** Converts a row's time: a timestamp, or seconds since 1970. */
    static Answers.At at(Object time) {
        if (time == null) {
            return Answers.At.of(null);
        }
        if (time instanceof Long || time instanceof Integer) {
            return Answers.At.of(((Number) time).longValue());
        }
        if (time instanceof Timestamp) {
            return Answers.At.of(((Timestamp) time).toInstant().getEpochSecond());
        }
        if (time instanceof Instant) {
            return Answers.At.of(((Instant) time).getEpochSecond());
        }
        if (time instanceof LocalDateTime) {
            return Answers.At.of(((LocalDateTime) time).toEpochSecond(ZoneOffset.UTC));
        }
        throw new IllegalArgumentException("at: expected a timestamp, or seconds since 1970 as BIGINT or INT, found "
                + time.getClass().getSimpleName());
    }
}
