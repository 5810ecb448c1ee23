//! Sets `rust_1_89` for Rust 1.89 and newer, which stabilized AVX-512, and also `vectors` if the target is x86-64.
//! Without `vectors`, the engine uses its code for processors without vector instructions: the verdicts are the same,
//! but take longer.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(rust_1_89, vectors)");
    // A compiler whose version is unknown is treated as an old one.
    if autocfg::AutoCfg::new().is_ok_and(|compiler| compiler.probe_rustc_version(1, 89)) {
        println!("cargo::rustc-cfg=rust_1_89");
        if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
            println!("cargo::rustc-cfg=vectors");
        }
    }
}
