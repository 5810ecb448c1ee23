package reptile.hive;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.hive.ql.exec.UDFArgumentException;
import org.apache.hadoop.hive.ql.exec.UDFArgumentLengthException;
import org.apache.hadoop.hive.ql.exec.UDFArgumentTypeException;
import org.apache.hadoop.hive.ql.metadata.HiveException;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorUtils;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import reptile.sql.Answers;

/** A function with the arguments that {@link Answers} describes: three, or also options and a time. */
abstract class RobotsUDF extends GenericUDF {
    static final ObjectInspector TEXT = PrimitiveObjectInspectorFactory.writableStringObjectInspector;
    static final ObjectInspector NUMBER = PrimitiveObjectInspectorFactory.writableLongObjectInspector;

    private static final int MIN_ARGUMENTS = 3;
    private static final int MAX_ARGUMENTS = 5;

    private final String name;
    private final String third;
    private transient PrimitiveObjectInspector[] arguments;

    RobotsUDF(String name, String third) {
        this.name = name;
        this.third = third;
    }

    /** Returns the type of the answer. */
    abstract ObjectInspector type();

    /** Answers for one row. */
    abstract Object answer(String url, String set, String agents, String options, Answers.At at) throws IOException;

    /** Checks the arguments' number and types. */
    @Override
    public final ObjectInspector initialize(ObjectInspector[] types) throws UDFArgumentException {
        if (types.length < MIN_ARGUMENTS || types.length > MAX_ARGUMENTS) {
            throw new UDFArgumentLengthException("expected " + getDisplayString(new String[] {"url", "set", third, "[options", "[at]]"})
                    + ", found " + types.length + " arguments");
        }
        arguments = new PrimitiveObjectInspector[types.length];
        for (int place = 0; place < types.length; place++) {
            if (!(types[place] instanceof PrimitiveObjectInspector)) {
                String expected = place < MAX_ARGUMENTS - 1 ? "a string" : "a timestamp or seconds since 1970";
                throw new UDFArgumentTypeException(place, name + ": expected " + expected + ", found " + types[place].getTypeName());
            }
            arguments[place] = (PrimitiveObjectInspector) types[place];
        }
        return type();
    }

    /** Answers for one row. */
    @Override
    public final Object evaluate(DeferredObject[] values) throws HiveException {
        try {
            boolean hasTime = values.length == MAX_ARGUMENTS;
            Answers.At at = hasTime ? Answers.At.of(time(values)) : null;
            String options = values.length > MIN_ARGUMENTS ? text(values, MIN_ARGUMENTS) : null;
            return writable(answer(text(values, 0), text(values, 1), text(values, 2), options, at));
        } catch (IOException | RuntimeException error) {
            throw new HiveException(name + ": " + error.getMessage(), error);
        }
    }

    /** Converts an answer. Spark expects the types of Hadoop if all arguments are constants. */
    private static Object writable(Object value) {
        if (value instanceof String) {
            return new Text((String) value);
        }
        if (value instanceof Long) {
            return new LongWritable((Long) value);
        }
        if (value instanceof Object[]) {
            return Arrays.stream((Object[]) value).map(RobotsUDF::writable).toArray();
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().map(RobotsUDF::writable).collect(Collectors.toList());
        }
        if (value instanceof Map) {
            Map<Object, Object> map = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, of) -> map.put(writable(key), writable(of)));
            return map;
        }
        return value;
    }

    private String text(DeferredObject[] values, int place) throws HiveException {
        Object value = values[place].get();
        return value == null ? null : PrimitiveObjectInspectorUtils.getString(value, arguments[place]);
    }

    private Long time(DeferredObject[] values) throws HiveException {
        Object value = values[MAX_ARGUMENTS - 1].get();
        return value == null ? null : (Long) PrimitiveObjectInspectorUtils.getLong(value, arguments[MAX_ARGUMENTS - 1]);
    }

    /** Returns the call as text, for plans and messages. */
    @Override
    public final String getDisplayString(String[] children) {
        return name + "(" + String.join(", ", children) + ")";
    }
}
