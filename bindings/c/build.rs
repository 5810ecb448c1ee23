//! Sets the shared library's soname, which programs look up at startup. It includes the version, so that a later,
//! incompatible library can be installed next to it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libreptile.so.0");
    }
}
