//! Builds what the `cotree` executable carries inside: the linker plugin and the runtime.
//!
//! Both are crates of this workspace, but with profiles and features of their own, which one cargo invocation can't mix;
//! so cargo is run again for each, with a target folder below `OUT_DIR`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let workspace = workspace();
    watch(&workspace, "cotree-lto");
    println!("cargo::rerun-if-changed={}", workspace.join("Cargo.toml").display());
    println!("cargo::rerun-if-changed={}", workspace.join("Cargo.lock").display());
    let plugin = build_plugin(&workspace);
    println!("cargo::rustc-env=COTREE_EMBEDDED_PLUGIN={}", plugin.display());
}

fn workspace() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    Path::new(&manifest).ancestors().nth(2).expect("the crate is in crates/cotree").to_owned()
}

fn watch(workspace: &Path, name: &str) {
    let crate_folder = workspace.join("crates").join(name);
    for part in ["src", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", crate_folder.join(part).display());
    }
}

fn nested_target() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("nested")
}

/// A cargo that knows nothing of the build that we are part of, except for its toolchain and its job tokens.
fn cargo(workspace: &Path, subcommand: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    // What is set for us would be flags for them: other profiles, another target, flags of instrumentation.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let ours = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_PROFILE_", "CARGO_BUILD_", "DEP_"];
        let single = [
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_MANIFEST_DIR",
            "CARGO_MANIFEST_PATH",
            "RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "TARGET",
            "HOST",
            "OUT_DIR",
            "PROFILE",
            "DEBUG",
            "OPT_LEVEL",
            "NUM_JOBS",
        ];
        let target_specific = name.starts_with("CARGO_TARGET_");
        if target_specific || single.contains(&&*name) || ours.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.current_dir(workspace).arg(subcommand).arg("--target-dir").arg(nested_target());
    if workspace.join("Cargo.lock").exists() {
        command.arg("--locked");
    }
    command
}

fn run(mut command: Command) {
    let status = command.status().unwrap_or_else(|error| panic!("can't start {command:?}: {error}"));
    assert!(status.success(), "{command:?} failed; its messages stand above");
}

fn build_plugin(workspace: &Path) -> PathBuf {
    let mut command = cargo(workspace, "build");
    command.args(["--package", "cotree-lto", "--lib", "--profile", "plugin"]);
    run(command);
    nested_target().join("plugin/libcotree_lto.so")
}
