//! Any bytes as messages of the judge's protocol: the judge and the engines read the same fields, and write them back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_fuzz::memory;
use reptile_judge_engines::{Hello, Implementation, Question, Session, message};

#[allow(dead_code, unreachable_pub, reason = "the judge uses the rest")]
#[path = "../../bench/judge/src/frame.rs"]
mod frame;

/// Memory of one execution in bytes, in addition to [`BYTES_PER_BYTE`] for each byte of input.
const BASE_BYTES: usize = 1 << 20;
const BYTES_PER_BYTE: usize = 64;

/// Allows what a file contains.
struct Contained;

impl Implementation for Contained {
    type File<'a> = &'a [u8];
    type Ready<'f> = &'f [u8];
    const PER_AGENT: bool = false;
    const LINES: bool = true;

    fn hello(&self) -> Hello {
        Hello { name: "contained".into(), version: "1".into(), dialect: "google".into(), notes: Vec::new() }
    }

    fn parse<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], String> {
        Ok(body)
    }

    fn ready<'f>(&self, file: &'f &[u8], _: &Question<'f>) -> Option<&'f [u8]> {
        Some(file)
    }

    fn allows(&self, ready: &&[u8], row: &Question<'_>) -> Option<bool> {
        Some(row.url.is_empty() || ready.windows(row.url.len()).any(|part| part == row.url))
    }
}

fuzz_target!(|data: &[u8]| {
    memory::within(BASE_BYTES + BYTES_PER_BYTE * data.len(), || {
        let (mut judge, mut engine) = (data, data);
        let mut session = Session::new(Contained);
        while let Ok(Some(read)) = frame::read(&mut judge) {
            let fields = message::read(&mut engine).expect("a valid message").expect("a message");
            assert_eq!(read.fields, fields);
            let bytes = read.to_bytes().expect("a message that was read");
            assert_eq!(frame::read(&mut &bytes[..]), Ok(Some(read)));
            // Measuring takes as long as the request says.
            if fields.first().is_some_and(|(_, value)| value != b"bench") {
                let reply = session.reply(&fields);
                let mut written = Vec::new();
                message::write(&mut written, &reply).expect("memory");
                let read = frame::read(&mut &written[..]).expect("a reply").expect("a reply");
                assert_eq!(read.fields.len(), reply.len());
            }
        }
        while let Ok(Some(_)) = message::read(&mut engine) {}
    });
});
