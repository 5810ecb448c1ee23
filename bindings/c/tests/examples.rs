//! Compiles the C examples, and a program that calls every function from several threads, against the installed
//! library. Runs them alone and under valgrind.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use reptile::{Capture, Compiler, Dialect};

use crate::packages::{compiled, functions, has_tools, here, installed};

/// The Arrow example's output for `MyBot`.
pub const ARROW_OUTPUT: &str =
    "MyBot:verdict, MyBot:line\ndisallow by line 2\nnull\nallow by line 3\nallow\nreleased 2 of 2\n";

/// Returns a program's output. If valgrind is installed, it must find neither errors nor leaks.
pub fn printed(program: &Path, arguments: &[&str], input: &[u8]) -> String {
    let run = |command: &mut Command| {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    };
    let alone = run(Command::new(program).args(arguments));
    if has_tools(&["valgrind"]) {
        let mut valgrind = Command::new("valgrind");
        let suppressions = installed().join("share/reptile/reptile.supp");
        valgrind.arg(format!("--suppressions={}", suppressions.display()));
        valgrind.args(["-q", "--leak-check=full", "--error-exitcode=1"]).arg(program).args(arguments);
        assert_eq!(run(&mut valgrind), alone);
    }
    alone
}

/// Compiles an example and returns its output.
fn example(name: &str, arguments: &[&str], input: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    compiled(&here().join(format!("examples/{name}.c")), &program, &[]);
    printed(&program, arguments, input)
}

#[test]
fn decide_example_prints_verdicts_and_errors() {
    if !has_tools(&["cc", "pkg-config"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("web.reptile");
    let mut compiler = Compiler::new(Dialect::google());
    let body = "user-agent: *\ndisallow: /cart\n";
    compiler.add(Capture::new("https://shop.example/robots.txt", body).unwrap()).unwrap();
    compiler.finish().unwrap().write_file(&set).unwrap();
    let set = set.to_str().unwrap();
    let program = folder.path().join("decide");
    compiled(&here().join("examples/decide.c"), &program, &[]);
    let urls = ["https://shop.example/cart", "https://shop.example/", "https://no.example/", "nonsense"];
    let expected = "https://shop.example/cart\tdisallow\nhttps://shop.example/\tallow\nhttps://no.example/\tunknown\n\
                    nonsense\tinvalid\n1 of 4 refused\ndisallow: line 2, Disallow: /cart (rule)\n";
    let arguments: Vec<&str> = [set, "GPTBot"].into_iter().chain(urls).collect();
    assert_eq!(printed(&program, &arguments, b""), format!("{expected}reptile {}\n", env!("CARGO_PKG_VERSION")));
    for (arguments, text) in [
        (["/nowhere", "GPTBot", "x"], "error 2: /nowhere: the file cannot be read"),
        ([file!(), "GPTBot", "x"], "error 2"),
        (
            [set, "Googelbot", "x"],
            "error 4: no robots.txt names the crawler \"Googelbot\", which is nearly the crawler \"Googlebot\"",
        ),
    ] {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && stderr.contains(text), "{arguments:?}: {stderr}");
    }
}

#[test]
fn compile_example_writes_a_set() {
    if !has_tools(&["cc", "pkg-config"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("web.reptile");
    let expected = "not allowed https://shop.example/cart (rule)\nallow https://gone.example/ (404)\n\
                    not allowed https://down.example/ (network error)\nsitemap https://shop.example/map.xml\n";
    assert_eq!(example("compile", &[set.to_str().unwrap()], b""), expected);
    assert_eq!(reptile::Set::read(set).unwrap().len(), 3);
}

#[test]
fn one_shot_example_reads_standard_input() {
    if !has_tools(&["cc", "pkg-config"]) {
        return;
    }
    let body = b"user-agent: *\ndisallow: /cart\n";
    let expected = "disallow line 2 https://shop.example/cart/1\nallow line 0 /\n";
    assert_eq!(example("one_shot", &["MyBot", "https://shop.example/cart/1", "/"], body), expected);
}

#[test]
fn arrow_example_prints_rows() {
    if has_tools(&["cc", "pkg-config"]) {
        assert_eq!(example("arrow", &["MyBot"], b""), ARROW_OUTPUT);
    }
}

#[test]
fn every_function_runs_from_several_threads() {
    if !has_tools(&["cc", "pkg-config"]) {
        return;
    }
    let source = here().join("tests/all.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let missing: Vec<String> = functions().into_iter().filter(|name| !text.contains(&format!("{name}("))).collect();
    assert!(missing.is_empty(), "tests/all.c does not call {missing:?}");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("all");
    compiled(&source, &program, &["-D_POSIX_C_SOURCE=200809L", "-pthread"]);
    let set = folder.path().join("all.reptile");
    let set = set.to_str().unwrap();
    assert_eq!(printed(&program, &[set], b""), "all functions work\n");
    let forked = Command::new(&program).args([set, "fork"]).output().unwrap();
    assert_eq!(String::from_utf8(forked.stdout).unwrap(), "all functions work\n");
}
