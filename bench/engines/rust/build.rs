//! Queries the compiler's version, which engines report with their language, and compiles the RE2 binding for the
//! feature `re2`.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&said);
    println!("cargo::rustc-env=COMPILER={}", text.split(' ').nth(1).unwrap_or("of unknown version"));
    #[cfg(feature = "re2")]
    {
        println!("cargo::rerun-if-changed=src/matcher/re2.rs");
        println!("cargo::rerun-if-changed=src/matcher/re2.h");
        println!("cargo::rustc-link-lib=re2");
        let said = Command::new("dpkg-query").args(["-W", "-f", "${Version}", "libre2-dev"]).output();
        let version = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default();
        let version = if version.is_empty() { "of the system (unknown)".to_owned() } else { version };
        println!("cargo::rustc-env=RE2_VERSION={version}");
        cxx_build::bridge("src/matcher/re2.rs").std("c++17").opt_level(3).compile("reptile-judge-re2");
    }
}
