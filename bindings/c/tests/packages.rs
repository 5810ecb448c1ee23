//! Installs the library as users do, and builds programs with pkg-config and CMake against it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::examples::ARROW_OUTPUT;

/// Returns the binding's folder.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command, which must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
    output
}

/// Returns whether programs are installed. Reports those that are not, even if the test's output is captured.
#[allow(clippy::explicit_write, reason = "`eprintln` would be captured")]
pub fn has_tools(tools: &[&str]) -> bool {
    let is_there = |tool: &&&str| {
        let version = Command::new(tool).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let missing: Vec<&str> = tools.iter().filter(|tool| !is_there(tool)).copied().collect();
    if !missing.is_empty() || !cfg!(target_os = "linux") {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        let reason =
            if missing.is_empty() { "not on Linux".into() } else { format!("not installed: {}", missing.join(", ")) };
        writeln!(std::io::stderr(), "{test}: NOT checked ({reason})").unwrap();
        return false;
    }
    true
}

/// Runs `install` with the libraries that cargo has built next to this program.
fn install(prefix: &str, variables: &[(&str, &Path)]) -> Output {
    let built = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let mut install = Command::new(here().join("install"));
    install.env_remove("DESTDIR").env_remove("LIBDIR").envs(variables.iter().copied());
    install.arg(prefix).arg(built).output().unwrap()
}

/// Returns the prefix under which the library is installed, once for all tests.
pub fn installed() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reptile-c");
        let _ = std::fs::remove_dir_all(&prefix);
        let output = install(prefix.to_str().unwrap(), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        prefix
    })
}

fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(arguments).arg("reptile").env("PKG_CONFIG_PATH", installed().join("lib/pkgconfig"));
    String::from_utf8(run(&mut command).stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Compiles a program with the strictest warnings against the installed library.
pub fn compiled(source: &Path, program: &Path, options: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-o"]).arg(program).arg(source);
    compiler.args(pkg_config(&["--cflags", "--libs"])).args(options);
    run(compiler.arg(format!("-Wl,-rpath,{}", installed().join("lib").display())));
}

#[test]
fn the_header_is_also_for_cpp() {
    if has_tools(&["c++"]) {
        let mut compiler = Command::new("c++");
        compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", "-x", "c++"]);
        run(compiler.arg(here().join("reptile.h")));
    }
}

#[test]
fn static_programs_link_with_pkg_config() {
    if !has_tools(&["cc", "pkg-config"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("examples/arrow.c");
    // Entirely static.
    let program = folder.path().join("static");
    let mut compiler = Command::new("cc");
    compiler.args(["-static", "-o"]).arg(&program).arg(&source).args(pkg_config(&["--static", "--cflags", "--libs"]));
    run(&mut compiler);
    assert_eq!(String::from_utf8(run(Command::new(&program).arg("MyBot")).stdout).unwrap(), ARROW_OUTPUT);
    // Only this library is static, because there is no shared one.
    let only = folder.path().join("lib");
    std::fs::create_dir(&only).unwrap();
    std::fs::hard_link(installed().join("lib/libreptile.a"), only.join("libreptile.a"))
        .or_else(|_| std::fs::copy(installed().join("lib/libreptile.a"), only.join("libreptile.a")).map(drop))
        .unwrap();
    let program = folder.path().join("mixed");
    let mut compiler = Command::new("cc");
    compiler.arg("-o").arg(&program).arg(&source);
    let libdir = format!("--define-variable=libdir={}", only.display());
    run(compiler.args(pkg_config(&["--static", "--cflags", "--libs", &libdir])));
    assert_eq!(String::from_utf8(run(Command::new(&program).arg("MyBot")).stdout).unwrap(), ARROW_OUTPUT);
    let needed = String::from_utf8(run(Command::new("ldd").arg(&program)).stdout).unwrap();
    assert!(!needed.contains("reptile"), "{needed}");
}

#[test]
fn programs_build_with_cmake() {
    if !has_tools(&["cc", "cmake"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The package may be moved.
    let moved = folder.path().join("moved");
    run(Command::new("cp").arg("-al").arg(installed()).arg(&moved));
    let lists = format!(
        "cmake_minimum_required(VERSION 3.10)\nproject(test ${{LANGUAGES}})\n\
         find_package(reptile ${{WANTED}} REQUIRED)\n\
         if(LANGUAGES STREQUAL NONE)\nreturn()\nendif()\nforeach(kind reptile static)\n\
         add_executable(with_${{kind}} \"{}\")\n\
         target_link_libraries(with_${{kind}} reptile::${{kind}})\nendforeach()\n",
        here().join("examples/arrow.c").display()
    );
    std::fs::write(folder.path().join("CMakeLists.txt"), lists).unwrap();
    let configure = |language: &str, version: &str| {
        let mut cmake = Command::new("cmake");
        let build = folder.path().join(format!("build{version}"));
        cmake.arg("-S").arg(folder.path()).arg("-B").arg(&build);
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", moved.display())).arg(format!("-DWANTED={version}"));
        cmake.arg(format!("-DLANGUAGES={language}"));
        (cmake.output().unwrap(), build)
    };
    let (output, build) = configure("C", "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run(Command::new("cmake").arg("--build").arg(&build));
    for (program, is_shared) in [("with_reptile", true), ("with_static", false)] {
        let program = build.join(program);
        assert_eq!(String::from_utf8(run(Command::new(&program).arg("MyBot")).stdout).unwrap(), ARROW_OUTPUT);
        let needed = String::from_utf8(run(Command::new("ldd").arg(&program)).stdout).unwrap();
        assert_eq!(needed.contains("libreptile.so"), is_shared, "{needed}");
    }
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let later: u32 = minor.parse::<u32>().unwrap() + 1;
    for (version, fits) in [
        (format!("{major}.{minor}"), true),
        (env!("CARGO_PKG_VERSION").to_owned(), true),
        (format!("{major}.{minor}.99"), false),
        (format!("{major}.{later}"), false),
        ("99".to_owned(), false),
    ] {
        let (output, _) = configure("NONE", &version);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() == fits && (fits || stderr.contains("reptile")), "{version}: {stderr}");
    }
}

#[test]
fn packagers_choose_the_layout() {
    if !has_tools(&["cc", "readelf"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let destination = ("DESTDIR", root);
    let output = install("/opt/reptile", &[destination, ("LIBDIR", Path::new("lib/x86_64-linux-gnu"))]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = Vec::new();
    list(root, root, &mut found);
    found.sort();
    let version = env!("CARGO_PKG_VERSION");
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let compatible = if major == "0" { format!("0.{minor}") } else { major.to_owned() };
    let soname = format!("libreptile.so.{compatible}");
    let mut expected = vec!["include/reptile.h".to_owned()];
    for file in [
        "cmake/reptile/reptileConfig.cmake",
        "cmake/reptile/reptileConfigVersion.cmake",
        "libreptile.a",
        "libreptile.so",
        &soname,
        &format!("libreptile.so.{version}"),
        "pkgconfig/reptile.pc",
    ] {
        expected.push(format!("lib/x86_64-linux-gnu/{file}"));
    }
    expected.push("share/doc/reptile/README.md".to_owned());
    for example in here().join("examples").read_dir().unwrap() {
        expected.push(format!("share/doc/reptile/examples/{}", example.unwrap().file_name().to_str().unwrap()));
    }
    expected.push("share/reptile/reptile.supp".to_owned());
    expected.extend(["LICENSE-APACHE", "LICENSE-MIT"].map(|file| format!("share/licenses/reptile/{file}")));
    expected.sort();
    let expected: Vec<String> = expected.iter().map(|file| format!("opt/reptile/{file}")).collect();
    assert_eq!(found, expected);

    let prefix = root.join("opt/reptile");
    let pc = std::fs::read_to_string(prefix.join("lib/x86_64-linux-gnu/pkgconfig/reptile.pc")).unwrap();
    assert!(pc.starts_with("prefix=/opt/reptile\nlibdir=${prefix}/lib/x86_64-linux-gnu\n"), "{pc}");
    for file in ["lib/x86_64-linux-gnu/cmake/reptile/reptileConfig.cmake", "lib/x86_64-linux-gnu/pkgconfig/reptile.pc"]
    {
        let text = std::fs::read_to_string(prefix.join(file)).unwrap();
        assert!(!text.contains('@') && !text.contains(root.to_str().unwrap()), "{file}: {text}");
    }
    for (file, text) in [("LICENSE-MIT", "Permission is hereby granted"), ("LICENSE-APACHE", "Apache License")] {
        let licence = std::fs::read_to_string(prefix.join("share/licenses/reptile").join(file)).unwrap();
        assert!(licence.contains(text), "{licence}");
    }
    let library = prefix.join("lib/x86_64-linux-gnu/libreptile.so");
    let dynamic = String::from_utf8(run(Command::new("readelf").arg("-dW").arg(&library)).stdout).unwrap();
    assert!(dynamic.contains(&format!("soname: [{soname}]")), "{dynamic}");
    // The library exports its functions and nothing else.
    let symbols =
        String::from_utf8(run(Command::new("readelf").args(["--dyn-syms", "-W"]).arg(&library)).stdout).unwrap();
    let is_exported = |line: &&str| line.contains(" GLOBAL ") && !line.contains(" UND ");
    let mut names: Vec<&str> =
        symbols.lines().filter(is_exported).map(|line| line.split_whitespace().last().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, functions());

    for (prefix, variables) in
        [("relative", &[destination][..]), ("/opt", &[destination, ("LIBDIR", Path::new("../lib"))])]
    {
        let output = install(prefix, variables);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains("found") || stderr.contains("expected"), "{stderr}");
    }
}

/// Returns the names of all functions in the header.
pub fn functions() -> Vec<String> {
    let header = std::fs::read_to_string(here().join("reptile.h")).unwrap();
    let declares = |line: &&str| !line.starts_with("//") && !line.starts_with(' ') && line.contains('(');
    let name = |line: &str| {
        let name = line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap();
        name.starts_with("reptile_").then(|| name.to_owned())
    };
    let mut names: Vec<String> = header.lines().filter(declares).filter_map(name).collect();
    names.sort_unstable();
    assert!(names.len() > 30, "{names:?}");
    names
}

/// Lists the files below a folder, relative to `root`.
fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(root, &entry.path(), found);
        } else {
            found.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}
