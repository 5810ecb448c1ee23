/**
 * The answers of the functions for Spark ({@code reptile.spark}) and Hive ({@code reptile.hive}), for functions in other
 * query engines, too.
 */
package reptile.sql;
