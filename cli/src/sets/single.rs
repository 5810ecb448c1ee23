//! Sets with a single robots.txt, for commands that do not need its origin.

use std::path::Path;

use bumpalo::Bump;
use reptile::build::{SetBuilder, Strategy, prepare, prepare_capture};
use reptile::capture::Capture;
use reptile::urls::OriginRef;
use reptile::{Dialect, Origin, Profile, Scheme};

use crate::error::{Failure, Result};

/// The origin of the only robots.txt in a set from [`compile_one`].
pub const ONE_ORIGIN: OriginRef<'static> = OriginRef { scheme: Scheme::Http, host: b"localhost", port: 80 };

/// Compiles one robots.txt for [`ONE_ORIGIN`], and returns the set's bytes. Messages use the path.
///
/// # Errors
/// Returns an error if the body is too large, or the rules exceed a set limit.
pub fn compile_one(path: &Path, body: &[u8], dialect: &'static Dialect) -> Result<Vec<u8>> {
    let prepared = prepare(body, dialect, &Bump::new()).map_err(|error| Failure::at(path, error))?;
    let mut builder = SetBuilder::new(dialect);
    builder.add([one_origin()], prepared);
    let set = builder.finish(Strategy::default()).map_err(|error| Failure::at(path, error))?;
    Ok(set.to_bytes())
}

/// Does the work of [`compile_one`] for a body with this capture, interpreted by a fetch profile.
///
/// # Errors
/// The errors of [`compile_one`].
pub fn compile_capture(
    path: &Path,
    body: &[u8],
    dialect: &'static Dialect,
    profile: &Profile,
    capture: &Capture,
) -> Result<Vec<u8>> {
    let arena = Bump::new();
    let read = prepare_capture(capture, Some(body), profile, |body| prepare(body, dialect, &arena));
    let (outcome, prepared) = read.map_err(|error| Failure::at(path, error))?;
    let mut builder = SetBuilder::with_profile(dialect, profile, None);
    builder.add_capture([one_origin()], capture, outcome, prepared);
    let set = builder.finish(Strategy::default()).map_err(|error| Failure::at(path, error))?;
    Ok(set.to_bytes())
}

fn one_origin() -> Origin {
    Origin { host: ONE_ORIGIN.host.into(), scheme: ONE_ORIGIN.scheme, port: ONE_ORIGIN.port }
}
