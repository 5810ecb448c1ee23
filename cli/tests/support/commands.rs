//! Runs every command that reads a robots.txt, a set or a folder on one file, in a child process with limited and
//! measured memory. The tests assert the bounds below. The benchmark `hostile --commands` also prints times.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4;

/// Maximum memory in bytes of a command for one file of at most 16 MB, including pages of a mapped set.
pub const MAX_PEAK_BYTES: u64 = 300_000_000;

/// The same with `--all-dialects`, which makes nine sets.
pub const MAX_PEAK_BYTES_ALL_DIALECTS: u64 = 450_000_000;

/// Maximum address space of a command in KiB. A command that needs more reports an error, or aborts before the machine
/// is affected.
const MAX_ADDRESS_KIB: u64 = 4 << 20;

/// Processor time in seconds after which a command counts as hanging.
const MAX_SECONDS: u64 = 60;

/// Accepted messages on standard error: rules that take too long to decide by, the set that is therefore missing, an
/// automaton that is too large to print, a web page, and binary data.
const REFUSED: [&str; 5] = [
    "take too long for one URL",
    "set: No such file",
    "the automaton has",
    "is a web page (HTML), not a robots.txt",
    "is binary data, not a robots.txt",
];

/// A command, and the bounds of its result.
pub struct Case {
    /// Arguments after `reptile`.
    pub args: Vec<String>,
    /// Accepted exit codes.
    pub codes: &'static [i32],
    /// Maximum output in bytes for each byte of the file, in addition to [`OUTPUT_BYTES`].
    pub output_per_byte: u64,
}

/// Bytes that any command may print, however short the file is. `lint` lists up to a hundred findings of each kind.
const OUTPUT_BYTES: u64 = 1 << 20;

impl Case {
    /// Returns the maximum output in bytes for a file of this length.
    pub fn max_output(&self, body: usize) -> u64 {
        OUTPUT_BYTES + self.output_per_byte * body as u64
    }

    /// Returns the command line without long arguments.
    pub fn name(&self) -> String {
        let words: Vec<&str> = self.args.iter().map(String::as_str).filter(|word| word.len() < 40).collect();
        words.join(" ")
    }
}

/// Measurements of a run.
pub struct Measured {
    pub code: Option<i32>,
    pub peak_bytes: u64,
    /// Bytes on standard output, counted up to one over the limit.
    pub output: u64,
    /// Processor time of the command, including system time.
    pub processor: Duration,
    /// The last bytes of standard error.
    pub errors: String,
}

/// Writes the files that the commands read: the robots.txt, alone and in a folder, a changed copy, an empty file, URLs,
/// and cases and assertions for `check`.
pub fn write_files(folder: &Path, body: &str, agent: &str) -> io::Result<()> {
    fs::create_dir_all(folder.join("robots"))?;
    fs::write(folder.join("robots/h.example"), body)?;
    let mut mutated = String::with_capacity(body.len() + 64);
    for (number, line) in body.split_inclusive('\n').enumerate() {
        if number % 3 != 2 {
            mutated.push_str(line);
        }
    }
    // A file of one line is not changed, because it may have the maximum length.
    if mutated.len() < body.len() {
        mutated.push_str("\nuser-agent: *\ndisallow: /new\n");
        mutated.truncate(body.len().max(64));
    }
    fs::write(folder.join("mutated"), mutated)?;
    fs::write(folder.join("empty"), "")?;
    let urls = ["/", "/aa1*a99a", "/xaxaxaxa!?p1=1&p2=2"].map(|path| format!("http://h.example{path}\n"));
    fs::write(folder.join("urls"), urls.concat())?;
    let cases = urls.map(|url| format!("h.example\t{agent}\t{}\tALLOW\t0\n", url.trim_end()));
    fs::write(folder.join("cases"), cases.concat())?;
    let assertions =
        format!("{agent}>* <= *\nsame {agent}>* * /aa* /x*\nallow {agent}>* /\ndisallow {agent}>* /*a*9*a\n");
    fs::write(folder.join("assertions"), assertions)
}

/// Returns the commands, with `compile` before those that read the set. Commands that read a robots.txt use the given
/// dialect.
pub fn commands(agent: &str, dialect: &str) -> Vec<Case> {
    let case = |text: &str, codes, output_per_byte| {
        let words = text.replace("DIALECT", &format!("--dialect {dialect}"));
        let args = words.split(' ').map(|word| word.replace("AGENT", agent)).collect();
        Case { args, codes, output_per_byte }
    };
    const FINE: &[i32] = &[0];
    const FOUND: &[i32] = &[0, 1];
    vec![
        case("compile DIALECT --force -o set robots", FINE, 0),
        case("verify set", FINE, 0),
        case("verify --deep set", FINE, 0),
        case("verify --checksums set", FINE, 0),
        case("inspect set h.example", FINE, 8),
        case("inspect --automaton --agent AGENT set h.example", FINE, 256),
        case("classify set urls --agent AGENT --columns url,verdict,line,rule,refused,capture_time,ruleset", FINE, 1),
        case("summarize set --agent AGENT", FINE, 2),
        case("timeline robots --agent AGENT", FINE, 2),
        case("fields set h.example", FINE, 16),
        case("fields --json set h.example", FINE, 64),
        case("test DIALECT robots/h.example --agent AGENT / /aa1*a99a /xaxaxaxa!", FINE, 8),
        case("test DIALECT --json robots/h.example --agent AGENT / /aa1*a99a /xaxaxaxa!", FINE, 16),
        case("test DIALECT --all-dialects robots/h.example --agent AGENT / /aa1*a99a", FINE, 8),
        case("check DIALECT cases --robots robots", FOUND, 0),
        case("check cases --robots robots --all-dialects", FOUND, 0),
        case("check DIALECT robots/h.example --prove assertions", FOUND, 0),
        case("diff DIALECT robots/h.example robots/h.example", FINE, 0),
        case("diff DIALECT robots/h.example empty", FOUND, 16),
        case("diff DIALECT robots/h.example mutated", FOUND, 16),
        case("lint DIALECT robots", FOUND, 0),
        case("lint DIALECT --json robots/h.example", FOUND, 0),
    ]
}

/// Runs a command in a folder. Closes its output once it exceeds the maximum.
pub fn run(binary: &Path, folder: &Path, case: &Case, body: usize) -> io::Result<Measured> {
    let limits = "ulimit -v \"$1\" 2>/dev/null; ulimit -t \"$2\"; shift 2; exec \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", limits, "sh", &MAX_ADDRESS_KIB.to_string(), &MAX_SECONDS.to_string()])
        .arg(binary)
        .args(&case.args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(folder.join("errors"))?)
        .spawn()?;
    let mut output = 0;
    if let Some(pipe) = child.stdout.take() {
        output = io::copy(&mut pipe.take(case.max_output(body) + 1), &mut io::sink())?;
    }
    let used = child.wait4()?;
    let processor = used.rusage.utime + used.rusage.stime;
    let errors = fs::read(folder.join("errors"))?;
    let errors = String::from_utf8_lossy(&errors[errors.len().saturating_sub(300)..]).into_owned();
    Ok(Measured { code: used.status.code(), peak_bytes: used.rusage.maxrss, output, processor, errors })
}

/// Returns a description of an exceeded bound or an unexpected result, or `None` if the run is as expected.
pub fn fault_of(case: &Case, measured: &Measured, body: usize) -> Option<String> {
    let Measured { code, peak_bytes, output, errors, .. } = measured;
    if *output > case.max_output(body) {
        return Some(format!("printed more than {} bytes", case.max_output(body)));
    }
    let is_refused = *code == Some(2) && REFUSED.iter().any(|text| errors.contains(text));
    if !is_refused && !code.is_some_and(|code| case.codes.contains(&code)) {
        return Some(format!("ended with {code:?}: {errors}"));
    }
    let reads_by_all = case.args.iter().any(|arg| arg == "--all-dialects");
    let most = if reads_by_all { MAX_PEAK_BYTES_ALL_DIALECTS } else { MAX_PEAK_BYTES };
    (*peak_bytes > most).then(|| format!("took {peak_bytes} bytes of memory"))
}
