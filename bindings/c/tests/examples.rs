//! Compiles the C examples against the installed library, found with pkg-config, and runs them alone and under
//! valgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use reptile::{Capture, Compiler, Dialect};

/// Returns the folder of this program, where cargo also puts the libraries.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Runs a command, which must succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
    output
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Installs the library and compiles an example against it, as a shared or static library.
fn compiled(folder: &Path, name: &str, is_static: bool) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let prefix = folder.join("installed");
    run(Command::new(here.join("install")).arg(&prefix).arg(built()));
    let mut wanted = Command::new("pkg-config");
    wanted.args(["--cflags", "--libs", "reptile"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    if is_static {
        wanted.arg("--static");
        // Force the linker to use the static library.
        for entry in prefix.join("lib").read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(".so") {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    let options = String::from_utf8(run(&mut wanted).stdout).unwrap();
    let program = folder.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-o"]).arg(&program);
    compiler.arg(here.join(format!("examples/{name}.c"))).args(options.split_whitespace());
    run(compiler.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())));
    program
}

/// Returns a program's output. If valgrind is installed, it must find neither errors nor leaks.
fn printed(program: &Path, arguments: &[&str]) -> String {
    let alone = String::from_utf8(run(Command::new(program).args(arguments)).stdout).unwrap();
    if is_there("valgrind") {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
        let output = run(valgrind.arg(program).args(arguments));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), alone);
    } else {
        println!("valgrind is not installed: did NOT check for errors and leaks");
    }
    alone
}

fn has_tools() -> bool {
    let missing: Vec<&str> = ["cc", "pkg-config"].into_iter().filter(|tool| !is_there(tool)).collect();
    if !missing.is_empty() {
        println!("not installed: {}; did NOT test the C examples", missing.join(", "));
    }
    missing.is_empty() && cfg!(target_os = "linux")
}

#[test]
fn decide_example_prints_verdicts_and_errors() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("web.reptile");
    let mut compiler = Compiler::new(Dialect::google());
    let body = "user-agent: *\ndisallow: /cart\n";
    compiler.add(Capture::new("https://shop.example/robots.txt", body).unwrap()).unwrap();
    compiler.finish().unwrap().write_file(&set).unwrap();
    let set = set.to_str().unwrap();
    let program = compiled(folder.path(), "decide", false);
    let urls = ["https://shop.example/cart", "https://shop.example/", "https://no.example/", "nonsense"];
    let expected = "https://shop.example/cart\tdisallow\nhttps://shop.example/\tallow\nhttps://no.example/\tunknown\n\
                    nonsense\tinvalid\n1 of 4 refused\ndisallow: line 2, /cart (rule)\n";
    let arguments: Vec<&str> = [set, "GPTBot"].into_iter().chain(urls).collect();
    assert_eq!(printed(&program, &arguments), format!("{expected}reptile {}\n", env!("CARGO_PKG_VERSION")));
    for (arguments, text) in [
        (["/nowhere", "GPTBot", "x"], "error 2: /nowhere: the file cannot be read"),
        ([file!(), "GPTBot", "x"], "error 2"),
        (
            [set, "Googelbot", "x"],
            "error 4: no robots.txt names the crawler \"Googelbot\", which is nearly \"Googlebot\"",
        ),
    ] {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && stderr.contains(text), "{arguments:?}: {stderr}");
    }
}

#[test]
fn arrow_example_works_with_the_static_library() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "arrow", true);
    let expected = "MyBot:verdict, MyBot:line\ndisallow by line 2\nnull\nallow by line 3\nallow\nreleased 2 of 2\n";
    assert_eq!(printed(&program, &["MyBot"]), expected);
}
