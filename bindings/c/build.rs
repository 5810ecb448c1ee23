//! Gives the shared library the name that programs ask for when they start: its version is part of it, so that a later,
//! incompatible one can be installed beside it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libreptile.so.0");
    }
}
