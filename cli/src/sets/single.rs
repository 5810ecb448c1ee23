//! Sets with a single robots.txt, for commands that do not need its origin.

use std::path::Path;

use reptile::capture::Capture;
use reptile::urls::OriginRef;
use reptile::{Compiler, Dialect, Origin, Parsed, Profile, Scheme};

use crate::error::{Failure, Result};

/// The origin of the only robots.txt in a set from [`compile_one`].
pub const ONE_ORIGIN: OriginRef<'static> = OriginRef { scheme: Scheme::Http, host: b"localhost", port: 80 };

/// Compiles one robots.txt for [`ONE_ORIGIN`], and returns the set's bytes. Messages use the path.
///
/// # Errors
/// Returns an error if the body is too large, or the rules exceed a set limit.
pub fn compile_one(path: &Path, body: &[u8], dialect: &'static Dialect) -> Result<Vec<u8>> {
    let compiler = Compiler::new(dialect);
    let parsed = compiler.parser().parse_file(vec![one_origin()], body);
    finish(path, compiler, parsed)
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
    let compiler = Compiler::with_profile(dialect, profile, None);
    let parsed = compiler.parser().parse([(vec![one_origin()], capture.clone())], Some(body));
    finish(path, compiler, parsed)
}

fn finish(path: &Path, mut compiler: Compiler, parsed: Parsed) -> Result<Vec<u8>> {
    if let Some(error) = parsed.captures().iter().find_map(|capture| capture.outcome.as_ref().err()) {
        return Err(Failure::at(path, error.to_string()));
    }
    let set = compiler.add_parsed(parsed).and_then(|()| compiler.finish());
    Ok(set.map_err(|error| Failure::at(path, error))?.to_bytes())
}

fn one_origin() -> Origin {
    Origin { host: ONE_ORIGIN.host.into(), scheme: ONE_ORIGIN.scheme, port: ONE_ORIGIN.port }
}
