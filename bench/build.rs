//! Compiles the binding of RE2 for the feature `re2`; does nothing without it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "re2")]
    {
        println!("cargo::rerun-if-changed=src/re2.rs");
        println!("cargo::rerun-if-changed=src/re2.h");
        println!("cargo::rustc-link-lib=re2");
        cxx_build::bridge("src/re2.rs").std("c++17").opt_level(3).compile("reptile-bench-re2");
    }
}
