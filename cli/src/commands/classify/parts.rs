//! The options for a URL in several columns of any table.

use reptile_records::tables::address::PartNames;

/// The columns of a URL's parts. Each option excludes those for a URL in one column.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PartOptions {
    /// The column of the URL's scheme, http, https or ftp [default: --scheme]
    #[arg(long, value_name = "COLUMN", requires = "host_column")]
    scheme_column: Option<String>,
    /// The column of the URL's host, for a URL in several columns
    ///
    /// The columns are named as in --url-column, in any format. A host may have a port if there is none in
    /// --port-column, but no user information; an IPv6 address needs no brackets. Rows with a part that is malformed
    /// are invalid.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["url_column", "split_columns", "missing_columns"])]
    host_column: Option<String>,
    /// The column of the URL's port, 1 to 65535 [default: none]
    ///
    /// An empty cell or a null means the scheme's own port. Rows with port 0 are invalid.
    #[arg(long, value_name = "COLUMN", requires = "host_column")]
    port_column: Option<String>,
    /// The column of the URL's path, which begins with a slash [default: /]
    ///
    /// An empty cell or a null means /. The path may contain the query if there is none in --query-column.
    #[arg(long, value_name = "COLUMN", requires = "host_column")]
    path_column: Option<String>,
    /// The column of the URL's query, without its question mark [default: none]
    ///
    /// An empty cell or a null means no query. Without its query, a URL is a different one, and may get a different
    /// verdict.
    #[arg(long, value_name = "COLUMN", requires = "host_column")]
    query_column: Option<String>,
}

impl PartOptions {
    /// Returns the names, as [`Opening`](reptile_records::tables::open::Opening) takes them.
    pub fn names(&self) -> PartNames {
        let PartOptions { scheme_column, host_column, port_column, path_column, query_column } = self.clone();
        [scheme_column, host_column, port_column, path_column, query_column]
    }
}
