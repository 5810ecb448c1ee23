//! Sets `rust_1_89` for compilers from Rust 1.89 on, and `vectors` if they build for x86-64: that version made AVX-512
//! stable. Without `vectors`, the engine has the code for processors without vector instructions: same verdicts, more
//! time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(rust_1_89, vectors)");
    // A compiler that does not tell its version is treated as an old one.
    if autocfg::AutoCfg::new().is_ok_and(|compiler| compiler.probe_rustc_version(1, 89)) {
        println!("cargo::rustc-cfg=rust_1_89");
        if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
            println!("cargo::rustc-cfg=vectors");
        }
    }
}
