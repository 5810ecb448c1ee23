//! Checks that the committed header matches what cbindgen generates.

use std::path::Path;

/// Environment variable that makes the test rewrite the header.
const ACCEPT: &str = "REPTILE_ACCEPT_HEADER";

#[test]
fn header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let sources = [
        "border",
        "version",
        "threads",
        "set",
        "compile",
        "directives",
        "agents",
        "decide",
        "explain",
        "access",
        "one_shot",
        "usage",
        "arrow",
    ];
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), |builder, source| {
        builder.with_src(folder.join(format!("src/{source}.rs")))
    });
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    for source in folder.join("src").read_dir().unwrap() {
        for line in std::fs::read_to_string(source.unwrap().path()).unwrap().lines() {
            let Some((_, function)) = line.split_once("extern \"C\" fn ") else { continue };
            let function = &function[..=function.find('(').unwrap()];
            assert!(made.contains(function), "{function} is missing");
        }
    }
    let path = folder.join("reptile.h");
    if std::env::var_os(ACCEPT).is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == made, "reptile.h is out of date: run {ACCEPT}=1 cargo test -p reptile-c header");
}
