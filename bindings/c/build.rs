//! Sets the shared library's soname, which programs look up at startup. It contains the version's numbers up to the
//! first nonzero one (`0.1`, later `1`), so that a later, incompatible library can be installed next to it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let number = |name: &str| std::env::var(name).unwrap_or_default();
    let (major, minor) = (number("CARGO_PKG_VERSION_MAJOR"), number("CARGO_PKG_VERSION_MINOR"));
    let version = if major == "0" { format!("{major}.{minor}") } else { major };
    // Linkers on other systems lack such an option. `install` sets the name for macOS.
    let has_soname = ["linux", "freebsd", "netbsd", "openbsd", "dragonfly", "android"];
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| has_soname.contains(&&*os)) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libreptile.so.{version}");
    }
}
