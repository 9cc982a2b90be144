//! Builds what the `cotree` executable carries inside: the linker plugin and the runtime.
//!
//! Both are dependencies of this crate, but with profiles and features of their own, which one cargo invocation can't
//! mix; so cargo is run again for each, with a target folder of its own beside the `OUT_DIR`s. Their build scripts tell
//! where their sources are: in this workspace, or in packages that came from a registry.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let [lto, rt] = ["LTO", "RT"].map(Sources::of);
    lto.watch();
    rt.watch();
    let plugin = build_plugin(&lto);
    println!("cargo::rustc-env=EMBEDDED_PLUGIN={}", plugin.display());
    let mut wrapped = BTreeSet::new();
    for flavour in Flavour::ALL {
        let name = flavour.name.to_uppercase();
        let (runtime, exports) = build_runtime(&rt, &flavour, Contents::All);
        let (small, same) = build_runtime(&rt, &flavour, Contents::CountersAlone);
        let names = [&exports, &same].map(|names| fs::read_to_string(names).expect("it was just written"));
        assert_eq!(names[0], names[1], "what the runtime ({name}) exports does not depend on what it records");
        println!("cargo::rustc-env=EMBEDDED_RUNTIME_{name}={}", runtime.display());
        println!("cargo::rustc-env=EMBEDDED_RUNTIME_{name}_COUNTERS_ALONE={}", small.display());
        println!("cargo::rustc-env=EMBEDDED_EXPORTS_{name}={}", exports.display());
        let exports = fs::read_to_string(exports).expect("it was just written");
        wrapped.extend(exports.lines().filter_map(|name| name.strip_prefix(WRAP)).map(str::to_owned));
    }
    let threads = BTreeSet::from(["pthread_create".to_owned()]);
    for (name, functions) in [("PASSTHROUGH", &wrapped), ("PASSTHROUGH_THREADS", &threads)] {
        let archive = build_passthrough(&name.to_lowercase(), functions);
        println!("cargo::rustc-env=EMBEDDED_{name}={}", archive.display());
    }
}

/// The runtime comes in several shapes.
struct Flavour {
    name: &'static str,
    feature: &'static str,
}

impl Flavour {
    const ALL: [Flavour; 3] = [
        Flavour { name: "dynamic", feature: "runtime" },
        Flavour { name: "static", feature: "static-executable" },
        Flavour { name: "shared", feature: "shared-library" },
    ];
}

/// Each shape comes with all that methods record, and for programs that have counters and nothing else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    All,
    CountersAlone,
}

impl Contents {
    /// What is called only where paths, traces or limits of events are recorded.
    const ENTRIES: [&'static str; 7] = [
        "__cotree_call_events",
        "__cotree_path",
        "__cotree_path_metric",
        "__cotree_target",
        "__cotree_safe_point",
        "__cotree_trace_full",
        "cotree_event_stop",
    ];

    fn has(self, symbol: &str) -> bool {
        self == Self::All || !Self::ENTRIES.contains(&symbol)
    }
}

/// A crate that is built here.
struct Sources {
    root: PathBuf,
    /// The lock file of its workspace, or of the package.
    lock: Option<PathBuf>,
}

impl Sources {
    /// The sources of a dependency, where its build script says.
    fn of(name: &str) -> Sources {
        let root =
            env::var_os(format!("DEP_COTREE_{name}_ROOT")).expect("the build script of each dependency tells it");
        let root = PathBuf::from(root);
        let lock = root.ancestors().map(|folder| folder.join("Cargo.lock")).find(|lock| lock.exists());
        Sources { root, lock }
    }

    fn watch(&self) {
        let exports = Flavour::ALL.map(|flavour| self.root.join(format!("exports-{}.txt", flavour.name)));
        let parts = ["src", "Cargo.toml", "build.rs"].map(|part| self.root.join(part));
        for path in parts.iter().chain(exports.iter().filter(|path| path.exists())).chain(&self.lock) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// The runtime is linked into the programs of others: one object, no unwinding of its own, no debug sections.
const RUNTIME: [&str; 6] =
    ["inherits=\"release\"", "debug=false", "panic=\"abort\"", "lto=\"fat\"", "codegen-units=1", "opt-level=2"];

/// The plugin is carried inside the cotree executable: small.
const PLUGIN: [&str; 5] = ["inherits=\"release\"", "debug=false", "panic=\"abort\"", "opt-level=\"s\"", "strip=true"];

/// Where what is embedded is kept.
fn out_folder() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

/// The target folder of the nested builds: `target/PROFILE/nested`. Clippy, tests and builds run this script with an
/// `OUT_DIR` for each of them, and would compile all of it three times; cargo lets only one of them build at a time in
/// `target/PROFILE`.
fn nested_target() -> PathBuf {
    let out = out_folder();
    let build = out.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "build"));
    build.and_then(Path::parent).unwrap_or(&out).join("nested")
}

/// A cargo that knows nothing of the build that we are part of, except for its toolchain and its job tokens.
/// The profile is one of our own, with these settings: a package has no profiles.
fn cargo(subcommand: &str, sources: &Sources, profile: &str, settings: &[&str]) -> Command {
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
    command.current_dir(&sources.root).arg(subcommand).arg("--lib").arg("--target-dir").arg(nested_target());
    command.args(["--profile", profile]);
    for setting in settings {
        command.arg("--config").arg(format!("profile.{profile}.{setting}"));
    }
    if sources.lock.is_some() {
        command.arg("--locked");
    }
    command
}

fn run(mut command: Command) {
    let status = command.status().unwrap_or_else(|error| panic!("can't start {command:?}: {error}"));
    assert!(status.success(), "{command:?} failed; its messages stand above");
}

fn build_plugin(sources: &Sources) -> PathBuf {
    run(cargo("build", sources, "plugin", &PLUGIN));
    let plugin = out_folder().join("libcotree_lto.so");
    fs::copy(nested_target().join("plugin/libcotree_lto.so"), &plugin).expect("OUT_DIR is writable");
    plugin
}

/// Builds one flavour of the runtime as one relocatable object, in which nothing is global but what other objects are
/// meant to see: the program may hold a Rust runtime of its own, or another copy of any function in here.
fn build_runtime(sources: &Sources, flavour: &Flavour, contents: Contents) -> (PathBuf, PathBuf) {
    let mut command = cargo("rustc", sources, "runtime", &RUNTIME);
    command.args(["--crate-type", "staticlib"]);
    let (suffix, features) = match contents {
        Contents::All => ("", flavour.feature.to_owned()),
        Contents::CountersAlone => ("-counters-alone", format!("{},counters-alone", flavour.feature)),
    };
    command.args(["--features", &features]);
    // What has to be fast is inlined by its attribute; by itself LLVM would make the runtime a third larger and no
    // faster.
    command.args(["--", "-C", "llvm-args=-inline-threshold=5"]);
    if contents == Contents::CountersAlone {
        // Loops that have to be fast are written out.
        command.args(["-C", "opt-level=s"]);
    }
    run(command);
    let archive = nested_target().join("runtime/libcotree_rt.a");

    let list = sources.root.join(format!("exports-{}.txt", flavour.name));
    let list = fs::read_to_string(list).unwrap_or_default();
    let listed: BTreeSet<_> =
        list.lines().map(str::trim).filter(|n| !n.is_empty() && !n.starts_with('#') && contents.has(n)).collect();
    let defined = symbols("nm", &["--extern-only", "--defined-only"], &archive);
    let is_api = |name: &str| ["__cotree_", "cotree_", WRAP].iter().any(|prefix| name.starts_with(prefix));
    let wanted: BTreeSet<_> =
        defined.iter().map(String::as_str).filter(|name| is_api(name) || listed.contains(name)).collect();
    let absent: Vec<_> = listed.difference(&wanted).collect();
    assert!(absent.is_empty(), "exports-{}.txt lists symbols that the runtime lacks: {absent:?}", flavour.name);

    let out = |ending: &str| out_folder().join(format!("runtime-{}{suffix}{ending}", flavour.name));
    let lines = |names: &mut dyn Iterator<Item = &&str>| names.map(|name| format!("{name}\n")).collect::<String>();
    let (keep, exports) = (out(".keep"), out(".exports"));
    fs::write(&keep, lines(&mut wanted.iter())).expect("OUT_DIR is writable");
    let mut link = Command::new("ld");
    link.arg("-r").arg("-o").arg(out(".all.o")).args(wanted.iter().map(|name| format!("--undefined={name}")));
    link.arg(&archive);
    run(link);
    let mut localize = Command::new("objcopy");
    localize.arg("--keep-global-symbols").arg(&keep).args(["--remove-section", ".comment"]);
    // What the runtime doesn't stand in front of, it calls by its own name.
    let needed = symbols("nm", &["--undefined-only"], &out(".all.o"));
    let functions = needed.iter().filter_map(|name| name.strip_prefix("__real_"));
    for name in functions.filter(|name| !wanted.contains(&*format!("{WRAP}{name}"))) {
        localize.arg(format!("--redefine-sym=__real_{name}={name}"));
    }
    localize.args([out(".all.o"), out(".o")]);
    run(localize);

    // Of these, the ones that libraries can see, and those that the linker looks for.
    let visible = visible(&out(".o"));
    let shown = wanted.iter().filter(|name| visible.contains(**name) || name.starts_with(WRAP));
    fs::write(&exports, lines(&mut shown.clone())).expect("OUT_DIR is writable");

    let undefined = symbols("nm", &["--undefined-only"], &out(".o"));
    let foreign: Vec<_> = undefined
        .iter()
        .filter(|name| ["_ZN", "_R", "rust_", "__rust"].iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    assert!(foreign.is_empty(), "the runtime ({}) needs Rust symbols that nobody has: {foreign:?}", flavour.name);
    (out(".o"), exports)
}

/// The linker's `--wrap=X` turns references to X into references to this and X.
const WRAP: &str = "__wrap_";

/// An archive that gives each wrapped function back to itself, for links that turn out to have no bitcode and hence no
/// runtime: `--wrap` has to be on the command line before that is known. The definitions are weak, so the runtime's
/// win where there is one.
fn build_passthrough(file: &str, wrapped: &BTreeSet<String>) -> PathBuf {
    let folder = out_folder().join(file);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("OUT_DIR is writable");
    let archive = folder.join(format!("libcotree_{file}.a"));
    let mut collect = Command::new("ar");
    collect.arg("rcsD").arg(&archive);
    for name in wrapped {
        let (source, object) = (folder.join(format!("{name}.s")), folder.join(format!("{name}.o")));
        // The linker makes of the second name the function itself.
        let text = format!(
            ".text\n.weak {WRAP}{name}\n.type {WRAP}{name}, @function\n{WRAP}{name}: jmp __real_{name}@PLT\n\
             .section .note.GNU-stack,\"\",@progbits\n"
        );
        fs::write(&source, text).expect("OUT_DIR is writable");
        let mut assemble = Command::new("as");
        assemble.arg("-o").arg(&object).arg(&source);
        run(assemble);
        collect.arg(object);
    }
    run(collect);
    archive
}

/// Names of symbols, by nm.
fn symbols(nm: &str, options: &[&str], file: &Path) -> BTreeSet<String> {
    let output = Command::new(nm).args(options).arg("--format=just-symbols").arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("can't start {nm}, which is part of GNU binutils: {error}"));
    assert!(output.status.success(), "{nm} failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| !line.is_empty() && !line.ends_with(':')).map(str::to_owned).collect()
}

/// Names of global symbols that are defined and not hidden.
fn visible(object: &Path) -> BTreeSet<String> {
    let output = Command::new("readelf").args(["--symbols", "--wide"]).arg(object).output();
    let output = output.unwrap_or_else(|error| panic!("can't start readelf, which is part of GNU binutils: {error}"));
    assert!(output.status.success(), "readelf failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    // Num, value, size, type, binding, visibility, section, name
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let visible = rows.filter_map(|row| match row[..] {
        [_, _, _, _, "GLOBAL" | "WEAK", "DEFAULT", section, name] if section != "UND" => Some(name.to_owned()),
        _ => None,
    });
    visible.collect()
}
