//! A single robots.txt: reads it, and compiles it for commands that do not need its origin.

use bumpalo::Bump;
use reptile::body::{BodyFormat, BodyKind, DiagnosticKind, DirectiveReader, parse_with};
use reptile::capture::{Capture, Outcome};
use reptile::settings::NotText;
use reptile::urls::OriginRef;
use reptile::{Compiler, Dialect, Origin, Profile, Scheme};

use crate::error::{Failure, Result, note};
use crate::outputs::summary::grouped;
use reptile_records::detect::ExpectedInput;
use reptile_records::open::{Input, read_input};
use reptile_records::place::Place;
use reptile_records::text::printable;

/// The origin of the only robots.txt in a set from [`compile_one`].
pub const ONE_ORIGIN: OriginRef<'static> = OriginRef { scheme: Scheme::Http, host: b"localhost", port: 80 };

/// The diagnostics about other directives that are left out.
pub const OVER_LIMIT: [DiagnosticKind; 2] = [DiagnosticKind::DirectiveTooLong, DiagnosticKind::TooManyDirectives];

/// Reads a single robots.txt, or another format with rules. For another format, a note says whether the dialect's
/// crawlers obey the rules.
///
/// # Errors
/// Returns an error if the input is unreadable, or is another format without rules.
pub fn read_one(path: &Place, profile: &Profile) -> Result<Vec<u8>> {
    Ok(read_input(one(Input::open(path)?.prefer_robots()?, ExpectedInput::Robots, profile)?)?)
}

/// Checks an input like [`read_one`]. Errors about another format name the expected input.
///
/// # Errors
/// The errors of [`read_one`].
pub fn one(input: Input, wanted: ExpectedInput, profile: &Profile) -> Result<Input> {
    let (input, kind) = input.one(wanted)?;
    if let BodyKind::WithRules(format, rules) = kind {
        let (name, what, rules) = (name_of(&input.path), format.describe(), grouped(rules as u64));
        let obeyed = match profile.not_text {
            NotText::Allow if matches!(format, BodyFormat::Html | BodyFormat::Xml) => {
                format!("the fetch profile {profile} ignores the rules in it ({rules}) and allows everything")
            }
            _ => format!("Google obeys the rules in it ({rules})"),
        };
        note(format_args!("{name}: is {what}; {obeyed}"));
    }
    Ok(input)
}

/// Returns an input's path for messages.
fn name_of(path: &Place) -> String {
    printable(path.as_input().as_os_str().as_encoded_bytes())
}

/// Returns the part of a body that a dialect's crawlers read. It is empty if the dialect's default fetch profile
/// ignores the body, as some profiles do with web pages.
pub fn obeyed<'b>(body: &'b [u8], dialect: &Dialect) -> &'b [u8] {
    let outcome = Profile::of_dialect(dialect).outcome(&Capture::default(), body);
    if outcome == Outcome::Use { body } else { b"" }
}

/// Returns the number of other directives that exceed a limit and are left out of sets.
pub fn left_out(body: &[u8], dialect: &Dialect) -> u64 {
    let (arena, body, mut count) = (Bump::new(), obeyed(body, dialect), 0);
    let mut reader = DirectiveReader::new(dialect, body);
    parse_with(
        body,
        dialect,
        &arena,
        |line| reader.line(line),
        |found| count += u64::from(OVER_LIMIT.contains(&found.kind)),
    );
    count
}

/// Compiles one robots.txt for [`ONE_ORIGIN`] under a dialect and its fetch profile, and returns the set's bytes. Messages
/// use the path.
///
/// # Errors
/// Returns an error if the body is too large, or the rules exceed a set limit.
pub fn compile_one(path: &Place, body: &[u8], dialect: &'static Dialect) -> Result<Vec<u8>> {
    compile_capture(path, body, dialect, Profile::of_dialect(dialect), &Capture::default())
}

/// Does the work of [`compile_one`] for a body with this capture, interpreted by a fetch profile.
///
/// # Errors
/// The errors of [`compile_one`].
pub fn compile_capture(
    path: &Place,
    body: &[u8],
    dialect: &'static Dialect,
    profile: &Profile,
    capture: &Capture,
) -> Result<Vec<u8>> {
    let mut compiler = Compiler::with_profile(dialect, profile, None);
    let parsed = compiler.parser().parse([(vec![one_origin()], capture.clone())], Some(body));
    if let Some(error) = parsed.captures().iter().find_map(|capture| capture.outcome.as_ref().err()) {
        return Err(Failure::at(path, error.to_string()));
    }
    let set = compiler.add_parsed(parsed).and_then(|()| compiler.finish());
    Ok(set.map_err(|error| Failure::at(path, error))?.to_bytes())
}

fn one_origin() -> Origin {
    Origin { host: ONE_ORIGIN.host.into(), scheme: ONE_ORIGIN.scheme, port: ONE_ORIGIN.port }
}
