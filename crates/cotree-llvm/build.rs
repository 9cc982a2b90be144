//! Remembers the toolchain that builds us: its LLVM serves where no other is found at run time.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = std::env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().expect("cargo's rustc starts");
    let sysroot = String::from_utf8(output.stdout).expect("the sysroot is a path in UTF-8");
    println!("cargo::rustc-env=COTREE_BUILD_SYSROOT={}", sysroot.trim());
}
