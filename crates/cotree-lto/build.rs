//! Tells the build script of `cotree` where these sources are, be it in a workspace or in a registry's folder: there
//! they are compiled once more, as the plugin that `cotree` carries.

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={root}");
}
