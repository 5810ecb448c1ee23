/** Functions for Spark SQL, which {@link reptile.spark.Robots#register} registers with their names and types. */
package reptile.spark;
