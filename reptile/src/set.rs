//! A compiled set: [`Set`]. Opening it, checking it, and the questions that [`Agent`](crate::Agent)s put to it.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reptile_engine::set as engine;
use reptile_engine::url::{self, UrlRef};
use reptile_engine::verdict::Verdict;

use crate::agent::{Agent, Chain, Columns, Crawler, Kind};
use crate::error::{CrawlerError, Error};
use crate::{Directive, Explanation, Group, Origin, Rule, Site};

/// The bytes of a set.
pub(crate) enum Bytes {
    Owned(Vec<u8>),
    #[cfg(feature = "mmap")]
    Mapped(reptile_engine::platform::MappedFile),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            #[cfg(feature = "mmap")]
            Bytes::Mapped(file) => file.as_ref(),
        }
    }
}
