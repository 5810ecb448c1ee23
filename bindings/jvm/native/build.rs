//! Keeps the library loaded once it is loaded. A virtual machine unloads a library with the class loader that loaded
//! it, but the threads that compile sets would continue to run its code.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
