/**
 * What the functions for Spark ({@code reptile.spark}) and Hive ({@code reptile.hive}) have in common, for functions in
 * other query engines, too.
 */
package reptile.sql;
