//! Tables in columns, from Parquet or Arrow IPC, as Arrow record batches.
//!
//! [`kept`] passes the columns that an output keeps from the reader to the writer.

pub mod kept;
