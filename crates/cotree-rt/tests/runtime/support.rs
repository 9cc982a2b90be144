//! Builds the runtime and small programs with gcc, runs them, and reads their raw profiles back.

use cotree_rt::layout::{
    AT_LANDING_PAD, Access, BodyChecksum, EarlyEntry, Flags, INTERRUPTED, MAGIC, PAGE, PathBucket, RawHeader,
    SEGMENT_MAGIC, SegmentHeader, SegmentKind, State, checksum, segment_size,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Which runtime.
#[derive(Clone, Copy, PartialEq)]
pub enum Flavour {
    Dynamic,
    Static,
    Shared,
}

impl Flavour {
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Dynamic => ("dynamic", "runtime"),
            Self::Static => ("static", "static-executable"),
            Self::Shared => ("shared", "shared-library"),
        }
    }

    /// One relocatable object, all symbols local but the exported ones: what the build of `cotree` makes too.
    pub fn object(self) -> PathBuf {
        static OBJECTS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        OBJECTS[self as usize].get_or_init(|| self.build()).clone()
    }

    fn build(self) -> PathBuf {
        let (name, feature) = self.names();
        let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "-q", "-p", "cotree-rt", "--lib", "--crate-type", "staticlib", "--profile", "runtime"]);
        for setting in PROFILE {
            cargo.arg("--config").arg(format!("profile.runtime.{setting}"));
        }
        cargo.args(["--features", feature, "--target-dir"]).arg(&target).current_dir(crate_dir);
        cargo.args(["--", "-C", "llvm-args=-inline-threshold=5"]);
        check(&mut cargo);
        let exports = crate_dir.join(format!("exports-{name}.txt"));
        let raw = target.join(format!("{name}.raw.o"));
        let object = target.join(format!("{name}.o"));
        let mut link = Command::new("ld");
        link.args(["-r", "--gc-sections", "-o"]).arg(&raw);
        for symbol in std::fs::read_to_string(&exports).unwrap().lines() {
            link.args(["-u", symbol]);
        }
        check(link.arg(target.join("runtime/libcotree_rt.a")));
        check(
            Command::new("objcopy").arg(format!("--keep-global-symbols={}", exports.display())).args([&raw, &object]),
        );
        object
    }
}

/// The profile that the build script of `cotree` compiles the runtime with.
const PROFILE: [&str; 6] =
    ["inherits=\"release\"", "debug=false", "panic=\"abort\"", "lto=\"fat\"", "codegen-units=1", "opt-level=2"];

/// Runs a command that must succeed.
pub fn check(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The counters of `early.c`: a thousand pages.
pub const MANY_COUNTERS: usize = 500_000;

/// A folder of its own for each test, emptied first.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("places").join(test);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Compiles a program of `tests/programs` with a hand-made unit and the runtime.
    pub fn build(&self, source: &str, options: &[&str]) -> Program {
        self.build_as(source, "prog", Flavour::Dynamic, Access::SEGMENT, options)
    }

    pub fn build_as(&self, source: &str, name: &str, flavour: Flavour, access: u32, options: &[&str]) -> Program {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let unit = self.0.join(format!("{name}.unit.o"));
        let executable = flavour != Flavour::Shared;
        let (counters, path_words) = match source {
            "early.c" => (MANY_COUNTERS, MANY_COUNTERS),
            "sparse.c" => (1 << 20, 1024),
            _ => (1024, 1024),
        };
        let counters = format!("-DCOUNTERS={counters}");
        check(
            Command::new("gcc")
                .args(["-O2", "-fPIC", "-c", "-o"])
                .args([&unit, &programs.join("unit.c")])
                .arg(&counters)
                .arg(format!("-DUNIT_PATH_WORDS={path_words}"))
                .arg(format!("-DUNIT_THREADED={access}"))
                .arg(format!("-DUNIT_EXECUTABLE={}", i32::from(executable)))
                .arg(format!("-DUNIT_CACHES={}", if source.starts_with("paths") { 4 } else { 0 }))
                .arg(format!("-DUNIT_NAME=\"{name}\"")),
        );
        let path = self.0.join(name);
        let mut compiler = Command::new(if source.ends_with(".cc") { "g++" } else { "gcc" });
        compiler.args(["-O2", "-g", "-pthread", "-I"]).arg(include).arg("-o").arg(&path).arg(programs.join(source));
        compiler.arg(&counters).arg(format!("-DTHREADED={access}"));
        let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let wrap = match flavour {
            Flavour::Dynamic => {
                let list = crate_dir.join("dynamic-list.txt");
                compiler.arg(format!("-Wl,--gc-sections,--dynamic-list={}", list.display()));
                std::fs::read_to_string(crate_dir.join("wrap-dynamic.txt")).unwrap()
            }
            Flavour::Static => {
                compiler.args(["-static", "-Wl,--eh-frame-hdr"]);
                std::fs::read_to_string(crate_dir.join("wrap-static.txt")).unwrap()
            }
            Flavour::Shared => {
                compiler.args(["-shared", "-fPIC"]);
                String::new()
            }
        };
        for symbol in wrap.lines() {
            compiler.arg(format!("-Wl,--wrap={symbol}"));
        }
        check(compiler.args([&unit, &flavour.object()]).args(options));
        Program { path, folder: self.0.clone() }
    }

    /// All the profiles there, finished or not, by file name.
    pub fn profiles(&self) -> Vec<Profile> {
        let mut names: Vec<_> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "cotree" || e == "live"))
            .collect();
        names.sort();
        names.iter().map(|path| Profile::read(path)).collect()
    }

    /// The only profile.
    pub fn profile(&self) -> Profile {
        let mut all = self.profiles();
        assert_eq!(all.len(), 1, "{:?}", all.iter().map(|p| &p.path).collect::<Vec<_>>());
        all.pop().unwrap()
    }
}

/// A compiled program.
pub struct Program {
    pub path: PathBuf,
    folder: PathBuf,
}

impl Program {
    /// A run in the test's folder; the profile is `PID.cotree`.
    pub fn command(&self) -> Command {
        self.command_of(&self.path)
    }

    /// Another program in the same surroundings.
    pub fn command_of(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("COTREE_FILE", "%n.%p.cotree");
        command
    }

    /// Runs it and expects the exit status.
    pub fn run(&self, status: i32) -> Run {
        Run::of(&mut self.command(), status)
    }
}

/// What a program printed.
pub struct Run {
    pub output: String,
    pub errors: String,
}

impl Run {
    pub fn of(command: &mut Command, status: i32) -> Self {
        let output = command.output().unwrap();
        let run = Self {
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        };
        assert_eq!(output.status.code(), Some(status), "{:?} {}\n{}", output.status, run.output, run.errors);
        run
    }

    /// The return address that the program printed as `site NAME ADDRESS`.
    pub fn site(&self, name: &str) -> u64 {
        let prefix = format!("site {name} ");
        let line = self.output.lines().find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("no site {name} in\n{}", self.output)).parse().unwrap()
    }
}

/// A raw profile.
pub struct Profile {
    pub path: PathBuf,
    pub header: RawHeader,
    pub counters: Vec<u64>,
    pub early: BTreeMap<u64, i64>,
    /// By function (from 1, or with tags) and path number.
    pub paths: BTreeMap<(u64, u64), u64>,
    /// The metrics of the same.
    pub sums: BTreeMap<(u64, u64), u64>,
}

impl Profile {
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.len() >= PAGE as usize, "{} is too short", path.display());
        // SAFETY: a page of bytes is a header; all bit patterns are valid.
        let header = unsafe { bytes.as_ptr().cast::<RawHeader>().read_unaligned() };
        assert_eq!(header.magic, MAGIC);
        let end = header.slabs_offset + header.slab_count * header.slab_stride;
        assert_eq!(bytes.len() as u64, end, "{}", path.display());
        if header.state != State::RUNNING {
            let mut page = bytes[..PAGE as usize].to_vec();
            let field = std::mem::offset_of!(RawHeader, header_checksum);
            page[field..field + 8].fill(0);
            assert_eq!(header.header_checksum, checksum(&page), "header checksum");
            if header.threads_alive == 0 {
                let mut body = BodyChecksum::new(end - PAGE);
                body.add(&bytes[PAGE as usize..]);
                assert_eq!(header.body_checksum, body.finish(), "body checksum");
            }
        }
        let word = |at: u64| u64::from_le_bytes(bytes[at as usize..][..8].try_into().unwrap());
        let mut segments = Vec::new();
        let (mut paths, mut sums) = (BTreeMap::new(), BTreeMap::new());
        let mut at = header.segment_head;
        while at != 0 {
            // SAFETY: so many bytes of the file; all bit patterns are valid.
            let segment: SegmentHeader = unsafe {
                bytes[at as usize..][..size_of::<SegmentHeader>()].as_ptr().cast::<SegmentHeader>().read_unaligned()
            };
            let SegmentHeader { magic, kind, entry_size, capacity, next, used, owner, offset, streams } = segment;
            assert_eq!((magic, streams), (SEGMENT_MAGIC, 0));
            if kind == SegmentKind::STACK {
                segments.push(at..at + segment_size(entry_size, capacity));
                at = next;
                continue;
            }
            assert_eq!(kind, SegmentKind::PATHS);
            assert_eq!((entry_size as usize, offset), (size_of::<PathBucket>(), at));
            assert!(used <= capacity, "{used} of {capacity}");
            let slab = owner.checked_sub(header.slabs_offset);
            assert!(owner == 0 || slab.is_some_and(|slab| slab % header.slab_stride == 0), "owner {owner}");
            let buckets = at + size_of::<SegmentHeader>() as u64;
            for bucket in (0..capacity).map(|i| buckets + i * size_of::<PathBucket>() as u64) {
                let (function, key, count) = (word(bucket), word(bucket + 8), word(bucket + 16));
                let path = if function >> 63 == 0 { key.wrapping_sub(1) } else { key };
                if count != 0 {
                    let sum: &mut u64 = paths.entry((function, path)).or_default();
                    *sum = sum.wrapping_add(count);
                    *sums.entry((function, path)).or_default() += word(bucket + 24);
                }
            }
            segments.push(at..buckets + capacity * size_of::<PathBucket>() as u64);
            at = next;
        }
        let is_slab = |slab: &u64| {
            let start = header.slabs_offset + slab * header.slab_stride;
            !segments.iter().any(|segment| segment.start < start + header.slab_stride && start < segment.end)
        };
        let slabs: Vec<u64> = (0..header.slab_count).filter(is_slab).collect();
        let counter = |index: u64| {
            slabs.iter().map(|slab| word(header.slabs_offset + slab * header.slab_stride + 8 * index)).sum()
        };
        let counters = (0..header.counter_count).map(counter).collect();
        let early = (0..header.early_capacity)
            .map(|slot| header.early_offset + slot * size_of::<EarlyEntry>() as u64)
            .map(|at| (word(at), word(at + 8) as i64))
            .filter(|&(address, _)| address != 0)
            .collect();
        Self { path: path.to_owned(), header, counters, early, paths, sums }
    }

    /// Activations abandoned at the return address.
    pub fn at(&self, site: u64) -> i64 {
        self.early.get(&site).copied().unwrap_or(0)
    }

    /// The count where an exception reached a landing pad.
    pub fn at_landing_pad(&self, site: u64) -> i64 {
        self.at(site | AT_LANDING_PAD)
    }

    /// Activations abandoned in the middle of something.
    pub fn interrupted(&self) -> i64 {
        self.early.iter().filter(|(address, _)| *address & INTERRUPTED != 0).map(|(_, count)| count).sum()
    }

    pub fn state(&self) -> u32 {
        self.header.state
    }

    pub fn flags(&self) -> Flags {
        self.header.flags
    }
}
