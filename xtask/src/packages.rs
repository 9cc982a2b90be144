//! Packages that the tests need, installed where the machine is a Debian and we may.

use crate::{command, compiler_tests, tools};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// What has to be there, and the package that has it.
struct Need {
    /// A tool in PATH, or a file.
    sign: String,
    package: String,
}

fn need(sign: &str, package: &str) -> Need {
    Need { sign: sign.into(), package: package.into() }
}

impl Need {
    fn is_met(&self) -> bool {
        if self.sign.starts_with('/') { Path::new(&self.sign).exists() } else { tools::find(&self.sign).is_some() }
    }
}

/// The versions of clang to install: the newest for all suites, the oldest for its old bitcode; all of them for
/// `--all`.
fn clangs(all: bool) -> Vec<u32> {
    let candidates: Vec<u32> =
        tools::CLANG_VERSIONS.into_iter().filter(|v| is_available(&format!("clang-{v}"))).collect();
    match candidates.as_slice() {
        [newest, .., oldest] if !all => vec![*newest, *oldest],
        _ => candidates,
    }
}

fn needs(all: bool) -> Vec<Need> {
    let mut needs = vec![
        need("g++", "g++"),
        need("valgrind", "valgrind"),
        need("gdb", "gdb"),
        need("go", "golang-go"),
        need("npm", "npm"),
        need("chromium", "chromium"),
        need("genhtml", "lcov"),
        need("dot", "graphviz"),
        need("mold", "mold"),
        need("ccache", "ccache"),
        need("make", "make"),
        need("cmake", "cmake"),
        need("autoconf", "autoconf"),
        need("pkg-config", "pkg-config"),
        need("/usr/lib/x86_64-linux-gnu/pkgconfig/glib-2.0.pc", "libglib2.0-dev"),
    ];
    if all {
        needs.push(need(compiler_tests::GCC_SOURCES, "gcc-12-source"));
        needs.push(need("csmith", "csmith"));
        needs.push(need("/usr/include/csmith", "libcsmith-dev"));
        needs.push(need("dpkg-source", "dpkg-dev"));
        // Projects whose coverage is compared.
        needs.push(need("meson", "meson"));
        needs.push(need("pip", "python3-pip"));
        needs.push(need("/usr/include/readline/readline.h", "libreadline-dev"));
        needs.push(need("/usr/include/expat.h", "libexpat1-dev"));
        needs.push(need("/usr/include/libxml2", "libxml2-dev"));
        // Modules of lcov 2, which comes from a newer Debian.
        for module in ["libcapture-tiny-perl", "libdatetime-perl", "libtimedate-perl"] {
            needs.push(need(&format!("/usr/share/doc/{module}/copyright"), module));
        }
        // Modules of CPython.
        needs.push(need("/usr/include/x86_64-linux-gnu/ffi.h", "libffi-dev"));
        needs.push(need("/usr/include/sqlite3.h", "libsqlite3-dev"));
        needs.push(need("/usr/include/zlib.h", "zlib1g-dev"));
    }
    for version in clangs(all) {
        // The profile runtime stands in a folder of the full version before clang 16.
        let profile_runtime = format!("/usr/share/doc/libclang-rt-{version}-dev/copyright");
        needs.push(need(&format!("clang-{version}"), &format!("clang-{version}")));
        needs.push(need(&format!("llvm-cov-{version}"), &format!("llvm-{version}")));
        needs.push(need(&profile_runtime, &format!("libclang-rt-{version}-dev")));
    }
    if let Some(version) = clangs(all).first() {
        needs.push(need(&format!("llvm-bolt-{version}"), &format!("bolt-{version}")));
        needs.push(need(&format!("/usr/lib/llvm-{version}/lib/LLVMgold.so"), &format!("llvm-{version}-linker-tools")));
        needs.push(need(&format!("/usr/lib/llvm-{version}/lib/libomp.so"), &format!("libomp-{version}-dev")));
    }
    needs
}

/// Installs what is missing, or says what to install.
pub fn install(all: bool) -> Result<()> {
    if tools::find("apt-get").is_none() {
        let tools = ["clang", "llvm-cov", "valgrind", "genhtml", "dot", "mold", "g++"];
        let missing: Vec<&str> = tools.into_iter().filter(|tool| tools::find(tool).is_none()).collect();
        if missing.contains(&"clang") && tools::Clang::installed().is_empty() {
            bail!("this is no Debian: install clang (14 or newer) with its version in its name, and {missing:?}");
        }
        return Ok(());
    }
    if !clangs(all).is_empty() && missing(all).is_empty() {
        return Ok(());
    }
    // The lists of a new machine are older than the packages on the mirror, and may lack the newest clang.
    apt(&["update", "--quiet=2"])?;
    let missing = missing(all);
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    let arguments: Vec<&str> = ["install", "--yes", "--quiet=2", "--no-install-recommends"]
        .into_iter()
        .chain(missing.iter().map(String::as_str))
        .collect();
    apt(&arguments)
}

fn missing(all: bool) -> Vec<String> {
    let mut missing: Vec<String> = needs(all).into_iter().filter(|n| !n.is_met()).map(|n| n.package).collect();
    missing.retain(|package| is_available(package));
    missing.dedup();
    missing
}

fn is_available(package: &str) -> bool {
    let policy = command::text(Command::new("apt-cache").args(["policy", package])).unwrap_or_default();
    policy.lines().any(|line| line.trim().strip_prefix("Candidate:").is_some_and(|version| version.trim() != "(none)"))
}

/// apt-get, through sudo where we are not root.
fn apt(arguments: &[&str]) -> Result<()> {
    let root = command::text(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut apt = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        apt.args(["--non-interactive", "apt-get"]);
    }
    command::succeed(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}
