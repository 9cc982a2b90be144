//! CPython, from Debian's source package, by its own `configure` and `make`: its tests end as they do without cotree.
//!
//! Three things matter. Tests of interrupts differ where SIGINT is ignored at the start, as in the background of a
//! shell. Children with an environment of their own write profiles into the folder that they stand in, which tests take
//! for a change, unless a place is built in. And a profile for each interpreter, and each of its modules, is gigabytes
//! in all.

use crate::deadline::{self, CASE};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, debian, workspace};
use anyhow::{Result, ensure};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The source package's version: Debian 12's.
const VERSION: &str = "3.11.2-6+deb12u8";

/// Options of cotree: a case each. The last one is compiled by the profile of some of the tests.
const METHODS: [(&str, &[&str]); 4] = [
    ("edge", &["--profile", "edge"]),
    ("trace ring", &["--profile", "trace", "--trace-ring", "4M"]),
    ("ipath", &["--profile", "ipath"]),
    ("by a profile", &[]),
];

/// The tests that the last one is compiled by.
const TRAINING: [&str; 3] = ["test_generators", "test_json", "test_re"];

const TESTS: [&str; 32] = [
    "test_grammar",
    "test_syntax",
    "test_generators",
    "test_coroutines",
    "test_asyncgen",
    "test_exceptions",
    "test_raise",
    "test_traceback",
    "test_contextlib",
    "test_dict",
    "test_list",
    "test_set",
    "test_unicode",
    "test_bytes",
    "test_float",
    "test_math",
    "test_decimal",
    "test_fractions",
    "test_struct",
    "test_re",
    "test_json",
    "test_pickle",
    "test_ctypes",
    "test_sqlite3",
    "test_zlib",
    "test_queue",
    "test_threading",
    "test_signal",
    "test_fork1",
    "test_subprocess",
    "test_multiprocessing_main_handling",
    "test_asyncio",
];

/// Seconds until a test that hangs is given up. `test_asyncio` takes 150, and twice that on a busy machine.
const TIMEOUT: &str = "1200";

/// A module that this version of `configure` leaves to the script.
const CTYPES: &str = "
_ctypes _ctypes/_ctypes.c _ctypes/callbacks.c _ctypes/callproc.c _ctypes/stgdict.c _ctypes/cfield.c \
-DPy_BUILD_CORE_MODULE -DHAVE_FFI_PREP_CIF_VAR -DHAVE_FFI_PREP_CLOSURE_LOC -DHAVE_FFI_CLOSURE_ALLOC -lffi -ldl
";

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    for (name, options) in METHODS {
        let context = context.clone();
        suite.add(format!("CPython, {name}"), move || {
            // The first case compiles, and the others wait for it.
            deadline::within(3 * CASE, || case(&context, name, options))
        });
    }
}

fn case(context: &Context, name: &str, options: &[&str]) -> Result<String> {
    let place = Place::prepared(context)?;
    let used;
    let options = if options.is_empty() {
        used = place.trained(context)?;
        vec!["--use", &used]
    } else {
        options.to_vec()
    };
    let ours = place.linked(context, &name.replace(' ', "-"), &options)?;
    let (mut differences, mut tests) = (String::new(), 0);
    for test in TESTS {
        let (expected, found) = (place.plain_outcome(test)?, outcome(&ours, test)?);
        ensure!(expected.count() > 0, "{test} runs nothing by the compiler alone: {expected}");
        tests += expected.count();
        if expected != found {
            writeln!(differences, "{test}: {found}, and by the compiler alone: {expected}")?;
        }
    }
    ensure!(differences.is_empty(), "tests end otherwise:\n{differences}");
    Ok(format!("{} modules, {tests} tests", TESTS.len()))
}

/// How a module of tests has ended: what unittest says of it, without its time.
#[derive(Clone, PartialEq, Eq)]
struct Outcome {
    end: String,
    said: Vec<String>,
}

impl Outcome {
    /// How many tests ran.
    fn count(&self) -> u64 {
        let ran = self.said.iter().filter_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u64>().ok());
        ran.sum()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.end, self.said.join("; "))
    }
}

/// Runs a module of tests, and removes the profiles that this leaves.
fn outcome(build: &Path, test: &str) -> Result<Outcome> {
    let mut run = tests(build);
    run.args(["-v", "--timeout", TIMEOUT, test]).env("LC_ALL", "C.UTF-8");
    let output = command::output(&mut run)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let mut said: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Ran ") && line.contains(" in ") {
            said.push(line.split(" in ").next().unwrap_or_default().to_owned());
        } else if line == "OK"
            || line.starts_with("OK (")
            || line.starts_with("FAILED (")
            || line.starts_with("ERROR: ")
            || line.starts_with("FAIL: ")
        {
            said.push(line.to_owned());
        } else if line.starts_with("Warning -- ") {
            said.push("it has changed what is around it".into());
        }
    }
    clear(&profiles(build))?;
    Ok(Outcome { end: command::ending(&output).to_string(), said })
}

/// Runs modules of tests, which are to be named.
fn tests(build: &Path) -> Command {
    let mut run = Command::new("env");
    run.args(["--default-signal=INT", "./python", "-m", "test"]).current_dir(build).env_remove("COTREE_FILE");
    run
}

/// Where a build's profiles go.
fn profiles(build: &Path) -> PathBuf {
    build.with_extension("profiles")
}

fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        workspace::fresh(folder)?;
    }
    Ok(())
}

/// The sources, a build by the compiler alone, and one by cotree, which is linked anew for each method: the bitcode is
/// the same.
struct Place {
    folder: PathBuf,
}

/// One case at a time prepares, or runs tests by the compiler alone.
static ONE: Mutex<()> = Mutex::new(());

impl Place {
    fn prepared(context: &Context) -> Result<Place> {
        let _one = ONE.lock().expect("nobody panics with it");
        let place = Place { folder: workspace::scratch().join("cpython") };
        // Both are of the cotree that made them.
        let stamp = fs::metadata(&context.cotree)?.modified()?;
        let complete = place.folder.join("complete");
        let stamp = format!("{VERSION} {stamp:?} {}", context.clang.c());
        if fs::read_to_string(&complete).is_ok_and(|made| made == stamp) {
            return Ok(place);
        }
        workspace::fresh(&place.folder)?;
        debian::source("python3.11", VERSION, &place.folder)?;
        command::succeed(context.cotree().arg("install-tools").arg(place.folder.join("bin")))?;
        place.build(context, "compiled", true)?;
        place.build(context, "plain", false)?;
        fs::write(complete, stamp)?;
        Ok(place)
    }

    fn build(&self, context: &Context, name: &str, ours: bool) -> Result<()> {
        let folder = self.folder.join(name);
        fs::create_dir(&folder)?;
        let mut configure = self.tool("../source/configure", context, &folder)?;
        configure.arg("--without-ensurepip").env("OPT", "-O1 -DNDEBUG");
        if ours {
            configure.env("CC", "cotree-cc").env("AR", "cotree-ar").env("RANLIB", "cotree-ranlib");
            configure.env("CONFIG_SITE", self.folder.join("bin/config.site"));
        } else {
            configure.env("CC", context.clang.c());
        }
        command::succeed(&mut configure)?;
        // Modules are then built by make, and not by a script that runs in the interpreter. One of them has had a
        // patch since that asks for headers of the interpreter itself.
        let modules = fs::read_to_string(folder.join("Modules/Setup.stdlib"))?;
        let modules = modules.replace("\npyexpat pyexpat.c\n", "\npyexpat pyexpat.c -DPy_BUILD_CORE_MODULE\n");
        fs::write(folder.join("Modules/Setup.local"), modules + CTYPES)?;
        self.make(context, &folder, &[])
    }

    fn make(&self, context: &Context, folder: &Path, options: &[&str]) -> Result<()> {
        let mut make = self.tool("make", context, folder)?;
        for option in options.chunks(2) {
            if let [name, value] = option {
                make.env(format!("COTREE_{}", name.trim_start_matches('-').to_uppercase().replace('-', "_")), value);
            }
        }
        command::succeed(make.args(["-j2", "python", "oldsharedmods"]))?;
        Ok(())
    }

    /// A tool that finds ours, and leaves no profiles of what it runs.
    fn tool(&self, name: &str, context: &Context, folder: &Path) -> Result<Command> {
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(self.folder.join("bin")).chain(std::env::split_paths(&before)))?;
        let mut command = Command::new(name);
        command.current_dir(folder).env("PATH", path).env("COTREE_FILE", "").env("COTREE_CC", context.clang.c());
        Ok(command)
    }

    /// A copy of what cotree compiled, linked anew with these options.
    fn linked(&self, context: &Context, name: &str, options: &[&str]) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        let profiles = profiles(&folder);
        workspace::fresh(&folder)?;
        workspace::fresh(&profiles)?;
        let mut copy = Command::new("cp");
        command::succeed(
            copy.args(["--archive", "--no-target-directory"]).arg(self.folder.join("compiled")).arg(&folder),
        )?;
        fs::remove_file(folder.join("python"))?;
        for entry in fs::read_dir(folder.join("Modules"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "so") {
                fs::remove_file(path)?;
            }
        }
        let pattern = profiles.join("%n.%p.cotree").display().to_string();
        let mut all = options.to_vec();
        if !options.contains(&"--use") {
            all.extend(["--profile-file", &pattern]);
        }
        self.make(context, &folder, &all)?;
        Ok(folder)
    }

    /// The sum of profiles of some tests.
    fn trained(&self, context: &Context) -> Result<String> {
        let build = self.linked(context, "training", &["--profile", "edge"])?;
        for test in TRAINING {
            command::succeed(tests(&build).arg(test))?;
        }
        let sum = self.folder.join("training.weights");
        let mut export = context.cotree();
        export.args(["export", "--format", "weights", "-o"]).arg(&sum).arg(profiles(&build));
        command::succeed(&mut export)?;
        Ok(sum.display().to_string())
    }

    /// What the build by the compiler alone has said; it runs each module of tests once.
    fn plain_outcome(&self, test: &str) -> Result<Outcome> {
        static KNOWN: Mutex<Vec<(String, Outcome)>> = Mutex::new(Vec::new());
        let _one = ONE.lock().expect("nobody panics with it");
        let known = KNOWN.lock().expect("nobody panics with it").iter().find(|(name, _)| name == test).cloned();
        if let Some((_, outcome)) = known {
            return Ok(outcome);
        }
        let outcome = outcome(&self.folder.join("plain"), test)?;
        KNOWN.lock().expect("nobody panics with it").push((test.to_owned(), outcome.clone()));
        Ok(outcome)
    }
}
