//! The options for reading captures, and the context that every reader gets.

use reptile::Scheme;

use crate::place::Place;
use crate::time::Zone;
use crate::warc::InputPlace;
use crate::warc::redirects::Redirects;

/// Options of [`Reading`](crate::Reading).
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The schemes that a file named after a host counts for. None means both.
    pub schemes: Vec<Scheme>,
    /// The host or robots.txt URL for an input that is a single robots.txt.
    pub host: Option<String>,
    /// The time zone for times without one.
    pub timezone: Zone,
    /// Whether to search damaged archives for records. A website may have written the records that are found.
    pub resync: bool,
    /// Whether to skip files in a folder that the system cannot read, as [`Item::Bad`](crate::Item::Bad). Otherwise they are errors.
    pub skip_unreadable: bool,
    /// The folder with the WARC files that an index of WARC records names. If given, each input must be such an index.
    pub warc_root: Option<Place>,
}

/// Options for inputs that can be read in several ways.
#[derive(Clone, Copy)]
pub(crate) struct InputOptions<'o> {
    /// The time zone for times without one.
    pub zone: &'o Zone,
    /// Whether to search damaged archives for records.
    pub resync: bool,
    /// Whether to skip files in a folder that the system cannot read.
    pub skips_unreadable: bool,
    /// The folder of the WARC files in an index.
    pub warc_root: Option<&'o Place>,
}

impl<'o> InputOptions<'o> {
    pub fn of(options: &'o ReadOptions) -> InputOptions<'o> {
        InputOptions {
            zone: &options.timezone,
            resync: options.resync,
            skips_unreadable: options.skip_unreadable,
            warc_root: options.warc_root.as_ref(),
        }
    }
}

/// The context for reading captures.
#[derive(Clone, Copy)]
pub(crate) struct Captures<'r> {
    pub redirects: &'r Redirects,
    pub place: InputPlace,
    pub how: InputOptions<'r>,
}
