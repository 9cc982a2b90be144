//! Projects that are built by their own build systems, with nothing changed but the names of the tools, as
//! docs/c-projects.md tells it: make, CMake, autoconf. They do the same as when clang builds them, and every count is
//! the one of redundant counters.

use crate::real::{self, Context};
use crate::suite::Suite;
use crate::{command, rust_programs, workspace};
use anyhow::{Context as _, Result};
use cotree_options::clear_environment;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    type Case = fn(&Context, &str) -> Result<String>;
    let mut cases: Vec<(&str, Case)> = vec![("project bzip2, make", bzip2), ("project zlib-ng, CMake", zlib_ng)];
    if context.all {
        cases.push(("project jemalloc, autoconf", jemalloc));
    }
    for (name, case) in cases {
        let context = context.clone();
        suite.add(name, move || case(&context, name));
    }
}

/// A folder of its own for a case, with cotree's tools in `bin`.
struct Place {
    folder: PathBuf,
    path: OsString,
}

impl Place {
    fn new(context: &Context, case: &str) -> Result<Place> {
        let folder = workspace::scratch().join("projects").join(case.replace([' ', ','], "_"));
        let tools = folder.join("bin");
        workspace::fresh(&folder)?;
        std::fs::create_dir(&tools)?;
        for tool in ["cc", "c++", "ar", "ranlib", "nm"] {
            std::os::unix::fs::symlink(&context.cotree, tools.join(format!("cotree-{tool}")))?;
        }
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&before)))?;
        Ok(Place { folder, path })
    }

    /// A copy of the sources, to be built in.
    fn copy(&self, sources: &Path, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        rust_programs::copy(sources, &folder)?;
        Ok(folder)
    }

    /// A tool that will find ours, which verify, and leaves no profiles of what it runs.
    fn tool(&self, name: &str, context: &Context, folder: &Path) -> Command {
        let mut command = Command::new(name);
        clear_environment(&mut command);
        command.current_dir(folder).env("PATH", &self.path).env("COTREE_VERIFY", "1").env("COTREE_FILE", "");
        command.env("COTREE_CC", context.clang.c()).env("COTREE_CXX", context.clang.cxx());
        command
    }

    /// Runs both builds, which are to do the same, and verifies the profile.
    fn compare(&self, context: &Context, mut plain: Command, mut ours: Command) -> Result<String> {
        let profile = self.folder.join("profile.cotree");
        let expected = command::output(plain.current_dir(&self.folder))?;
        let found = command::output(ours.current_dir(&self.folder).env("COTREE_FILE", &profile))?;
        real::same(&expected, &found)?;
        real::verified(context, &profile)
    }
}

const MAKE: [&str; 3] = ["CC=cotree-cc", "AR=cotree-ar", "RANLIB=cotree-ranlib"];

/// The Makefile of bzip2 makes a library and a program, and compares what that makes of samples.
fn bzip2(context: &Context, name: &str) -> Result<String> {
    let place = Place::new(context, name)?;
    let (ours, plain) = (place.copy(&context.sources.bzip2(), "ours")?, place.copy(&context.sources.bzip2(), "plain")?);
    command::succeed(place.tool("make", context, &ours).args(MAKE).args(["bzip2", "bzip2recover", "test"]))?;
    command::succeed(place.tool("make", context, &plain).arg(format!("CC={}", context.clang.c())).arg("bzip2"))?;
    let compress = |folder: &Path| {
        let mut command = Command::new(folder.join("bzip2"));
        command.args(["-kc", "-9"]).arg(plain.join("sample1.ref"));
        command
    };
    place.compare(context, compress(&plain), compress(&ours))
}

/// An archive and a program that links with it. (What shared libraries need is left out of the package.)
fn zlib_ng(context: &Context, name: &str) -> Result<String> {
    let place = Place::new(context, name)?;
    let sources = place.copy(&context.sources.zlib_ng(), "sources")?;
    let toolchain = command::text(context.cotree().arg("cmake-toolchain"))?;
    let build = |folder: &str, compilers: &[String], compiler: Command| {
        let build = place.folder.join(folder);
        let mut cmake = place.tool("cmake", context, &place.folder);
        cmake.arg("-S").arg(&sources).arg("-B").arg(&build).args(compilers);
        cmake.args(["-DCMAKE_BUILD_TYPE=Release", "-DZLIB_COMPAT=ON", "-DZLIB_ENABLE_TESTS=OFF"]);
        cmake.args(["-DBUILD_SHARED_LIBS=OFF", "-DWITH_GTEST=OFF"]);
        command::succeed(&mut cmake)?;
        command::succeed(place.tool("cmake", context, &place.folder).arg("--build").arg(&build))?;
        let driver = build.join("zlib_driver");
        let mut compiler = compiler;
        compiler.arg("-O2").arg("-I").arg(&build).arg(workspace::program_file("zlib_driver.c"));
        command::succeed(compiler.arg(build.join("libz.a")).arg("-o").arg(&driver))?;
        let mut run = Command::new(driver);
        run.arg(context.sources.sqlite().join("sqlite3ext.h")).args(["1", "6", "9"]);
        anyhow::Ok(run)
    };
    let plain = [format!("-DCMAKE_C_COMPILER={}", context.clang.c())];
    let ours = [format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.trim())];
    let plain = build("plain", &plain, context.plain(false))?;
    let ours = build("ours", &ours, context.cotree_cc(&["--verify"], false))?;
    place.compare(context, plain, ours)
}

/// An allocator, which is at work before anything else is; Lua runs on it.
fn jemalloc(context: &Context, name: &str) -> Result<String> {
    let place = Place::new(context, name)?;
    let program = crate::programs::lua(&context.sources, crate::programs::Workload::Small)?;
    let build = |folder: &str, prefix: &str, compiler: &str, driver: Command| {
        let folder = place.copy(&context.sources.jemalloc(), folder)?;
        command::succeed(&mut place.tool("autoconf", context, &folder))?;
        let mut configure = place.tool("./configure", context, &folder);
        configure.env("CC", compiler);
        if !prefix.is_empty() {
            for (variable, tool) in [("AR", "ar"), ("RANLIB", "ranlib"), ("NM", "nm")] {
                configure.env(variable, format!("{prefix}{tool}"));
            }
        }
        command::succeed(configure.args(["--with-version=5.3.0-0-g0", "--disable-cxx", "--disable-doc"]))?;
        command::succeed(place.tool("make", context, &folder).arg("build_lib_static"))?;
        let executable = folder.join("program");
        let mut driver = program.build(driver, &["-O2"], &executable);
        command::succeed(driver.arg(folder.join("lib/libjemalloc.a")).args(["-lm", "-ldl", "-lpthread"]))?;
        let mut run = Command::new(executable);
        run.args(&program.runs[0]);
        anyhow::Ok(run)
    };
    let plain = build("plain", "", &context.clang.c(), context.plain(false)).context("with clang")?;
    let driver = context.cotree_cc(&["--verify"], false);
    let ours = build("ours", "cotree-", "cotree-cc", driver)?;
    place.compare(context, plain, ours)
}
