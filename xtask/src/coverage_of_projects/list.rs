//! Projects of others, how strangers build and test them, and where llvm-cov is wrong about them.

use crate::command;
use crate::debian;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project.
pub struct Project {
    pub name: &'static str,
    pub source: Source,
    /// Commands of a shell that build the project and its tests, in its folder.
    pub build: &'static str,
    /// Commands that run its tests.
    pub test: &'static str,
    /// Sources of which llvm-cov says something else, and why it is wrong.
    pub wrong: &'static [(&'static str, Wrong)],
}

/// Where sources come from.
pub enum Source {
    /// A source package of Debian and its version.
    Debian(&'static str, &'static str),
    /// A source package of PyPI with its version, and the folder in it.
    PyPi(&'static str, &'static str),
}

/// What makes llvm-cov say something else. That cotree is right there is shown by programs that tally their own lines
/// (the tests `coverage_cuts` and `endings` of cotree).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Executions leave code for good: by `exit`, `abort`, a signal or in a forked child, by `longjmp` or by an
    /// exception. Less ran than llvm-cov says.
    LeftEarly,
    /// Processes end by `_exit`, `exec`, `abort` or a signal, so that clang's own profile of them is lost, or they
    /// destroy objects after it was written. More ran than llvm-cov says.
    Lost,
    /// Both, in different functions, or `setjmp` returned once more, which llvm-cov does not see.
    Several,
    /// None is wrong: what runs is a matter of time, and differs from run to run.
    Time,
}

/// Projects by make, CMake, meson and autoconf; C and C++, templates and headers among them.
pub const PROJECTS: [Project; 8] = [
    Project {
        name: "zlib, make",
        source: Source::Debian("zlib", "1:1.2.13.dfsg-1"),
        build: "./configure --static && make",
        test: "make test",
        wrong: &[],
    },
    Project {
        name: "Lua, make",
        source: Source::PyPi("lupa==2.8", "third-party/lua54"),
        build: "make CC=$CC AR=\"$AR rc\" RANLIB=$RANLIB && make -C testes/libs CC=$CC",
        test: "cd testes && ulimit -S -s 1100 && ../lua -W -e _port=true all.lua",
        wrong: &[
            ("lauxlib.c", Wrong::LeftEarly),
            ("lbaselib.c", Wrong::LeftEarly),
            ("lcorolib.c", Wrong::LeftEarly),
            ("ldblib.c", Wrong::LeftEarly),
            ("liolib.c", Wrong::LeftEarly),
            ("llex.c", Wrong::LeftEarly),
            ("loadlib.c", Wrong::LeftEarly),
            ("loslib.c", Wrong::LeftEarly),
            ("lparser.c", Wrong::LeftEarly),
            ("lstrlib.c", Wrong::LeftEarly),
            ("lutf8lib.c", Wrong::LeftEarly),
            // Seeds of random numbers and hashes are of the time.
            ("lapi.c", Wrong::Time),
            ("ldo.c", Wrong::Time),
            ("lgc.c", Wrong::Time),
            ("lmathlib.c", Wrong::Time),
            ("lstring.c", Wrong::Time),
            ("ltable.c", Wrong::Time),
            ("ltablib.c", Wrong::Time),
            ("lvm.c", Wrong::Time),
        ],
    },
    Project {
        name: "cJSON, CMake",
        source: Source::Debian("cjson", "1.7.15-1+deb12u4"),
        build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug $TOOLCHAIN && cmake --build build",
        test: "ctest --test-dir build",
        wrong: &[("tests/print_number.c", Wrong::LeftEarly), ("tests/unity/src/unity.c", Wrong::Several)],
    },
    Project {
        name: "pugixml, CMake",
        source: Source::Debian("pugixml", "1.13-0.2"),
        build: "cmake -S . -B build -DPUGIXML_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Debug $TOOLCHAIN && cmake --build build",
        test: "ctest --test-dir build",
        wrong: &[
            ("src/pugixml.cpp", Wrong::LeftEarly),
            ("tests/test.cpp", Wrong::LeftEarly),
            ("tests/test_document.cpp", Wrong::LeftEarly),
            ("tests/test_dom_modify.cpp", Wrong::LeftEarly),
            ("tests/test_parse.cpp", Wrong::LeftEarly),
            ("tests/test_write.cpp", Wrong::LeftEarly),
            ("tests/test_xpath.cpp", Wrong::LeftEarly),
            ("tests/test_xpath_api.cpp", Wrong::LeftEarly),
            ("tests/test_xpath_functions.cpp", Wrong::LeftEarly),
            ("tests/test_xpath_parse.cpp", Wrong::LeftEarly),
            ("tests/test_xpath_variables.cpp", Wrong::LeftEarly),
            ("tests/test.hpp", Wrong::Lost),
        ],
    },
    Project {
        name: "jsoncpp, CMake",
        source: Source::Debian("libjsoncpp", "1.9.5-4"),
        build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug $TOOLCHAIN && cmake --build build",
        test: "ctest --test-dir build",
        wrong: &[
            ("src/lib_json/json_reader.cpp", Wrong::LeftEarly),
            ("src/lib_json/json_value.cpp", Wrong::LeftEarly),
            ("src/test_lib_json/main.cpp", Wrong::LeftEarly),
        ],
    },
    Project {
        name: "tinyxml2, meson",
        source: Source::Debian("tinyxml2", "9.0.0+dfsg-3.1"),
        build: "meson setup build --buildtype=debugoptimized && ninja -C build",
        test: "meson test -C build",
        wrong: &[],
    },
    Project {
        name: "wayland, meson",
        source: Source::Debian("wayland", "1.21.0-1"),
        build: "meson setup build -Ddocumentation=false --buildtype=debugoptimized && ninja -C build",
        test: "meson test -C build",
        wrong: &[
            ("src/scanner.c", Wrong::LeftEarly),
            // How full its ring buffers are when they are read, and when timers and signals come.
            ("src/connection.c", Wrong::Time),
            ("src/event-loop.c", Wrong::Time),
            ("tests/socket-test.c", Wrong::LeftEarly),
            ("src/wayland-os.c", Wrong::Lost),
            ("src/wayland-util.c", Wrong::Lost),
            ("tests/display-test.c", Wrong::Time),
            ("tests/os-wrappers-test.c", Wrong::Lost),
            ("tests/sanity-test.c", Wrong::Lost),
            ("tests/test-compositor.c", Wrong::Time),
            ("tests/test-helpers.c", Wrong::Lost),
            ("tests/test-runner.c", Wrong::Lost),
        ],
    },
    Project {
        name: "check, autoconf",
        source: Source::Debian("check", "0.15.2-2"),
        build: "./configure --disable-shared --disable-subunit MAKEINFO=: && make && make check TESTS=",
        test: "make -C tests check TESTS='check_check_export test_output.sh'",
        wrong: &[
            ("src/check_msg.c", Wrong::Lost),
            ("src/check_pack.c", Wrong::Lost),
            ("src/check.c", Wrong::Several),
            ("src/check_run.c", Wrong::Several),
            ("tests/check_check_exit.c", Wrong::Lost),
            ("tests/check_check_export_main.c", Wrong::LeftEarly),
            ("tests/check_check_fixture.c", Wrong::Several),
            ("tests/check_check_sub.c", Wrong::Lost),
            ("tests/check_nofork.c", Wrong::LeftEarly),
            ("tests/ex_output.c", Wrong::Lost),
        ],
    },
];

impl Source {
    /// Gets the sources, as the folder `source` in `folder`.
    pub fn get(&self, folder: &Path) -> Result<PathBuf> {
        let source = folder.join("source");
        match *self {
            Source::Debian(package, version) => debian::source(package, version, folder)?,
            Source::PyPi(package, part) => {
                let mut pip = Command::new("pip");
                pip.args(["download", "--quiet", "--no-deps", "--no-binary=:all:", package]).current_dir(folder);
                command::succeed(&mut pip)?;
                let unpacked = folder.join(package.replace("==", "-"));
                let archive = format!("{}.tar.gz", unpacked.display());
                command::succeed(Command::new("tar").args(["-xzf", &archive]).current_dir(folder))?;
                fs::rename(unpacked.join(part), &source).with_context(|| format!("{package} has no {part}"))?;
            }
        }
        Ok(source)
    }
}
