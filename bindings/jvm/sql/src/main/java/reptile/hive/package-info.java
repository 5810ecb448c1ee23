/** Functions for Hive, and for Spark with Hive support: {@code CREATE TEMPORARY FUNCTION ... AS 'reptile.hive...'}. */
package reptile.hive;
