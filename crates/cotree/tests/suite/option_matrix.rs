//! Every option of builds with every method: each pair changes what is made, or is refused in a sentence.
//!
//! What is made is, first, what `cotree instrument` makes of a module: the bitcode with its probes, and the object with
//! counters, map and plan. Where that is the same, the executables are compared. A pair that changes neither has a line
//! of [`SAME`] with the reason. A new option fails here until it has a line of [`TRIED`]; a new method is tried by
//! itself.

use crate::project::{Project, succeed};
use clap::{Args, Command, FromArgMatches};
use cotree_core::facts::Build;
use cotree_core::method::{Family, Method};
use cotree_llvm::options::LinkOptions;
use cotree_llvm::standalone;
use cotree_options::BuildOptions;
use cotree_profile::binary::MAP_SECTION;
use cotree_profile::map;
use object::read::{Object, ObjectSection};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// An option and the values that are tried.
struct Tried {
    option: &'static str,
    /// What else the build is given, with and without the option.
    beside: &'static str,
    /// Values that say something; `""` for a switch that stands alone.
    values: &'static [&'static str],
    /// Values that say what holds anyway.
    usual: &'static [&'static str],
}

const fn tried(option: &'static str, values: &'static [&'static str]) -> Tried {
    Tried { option, beside: "", values, usual: &[] }
}

const TRIED: &[Tried] = &[
    tried("verify", &[""]),
    tried("targets", &["on", "off"]),
    tried("for-pgo", &["on"]),
    tried("coverage", &[""]),
    Tried { beside: "--coverage", ..tried("mcdc", &[""]) },
    tried("weights", &["edge.weights"]),
    tried("use", &["edge.weights"]),
    tried("profile-file", &["here.%p.cotree"]),
    Tried { usual: &["late"], ..tried("at", &["early", "inlined"]) },
    tried("lto", &["on"]),
    tried("include", &["mid"]),
    tried("exclude", &["mid"]),
    tried("exclude-file", &["*p.c"]),
    Tried { usual: &["auto"], ..tried("threads", &["on", "word", "off"]) },
    tried("parts", &[""]),
    tried("event-costs", &["costs"]),
    tried("event-limit", &[""]),
    tried("fault-paths", &[""]),
    Tried { usual: &["count"], ..tried("path-metric", &["events", "cycles"]) },
    tried("trace-ring", &["1M"]),
    tried("trace-off", &[""]),
    tried("trace-time", &[""]),
    tried("trace-addresses", &["loads", "stores", "all"]),
    Tried { usual: &["max"], ..tried("spanning-tree", &["min"]) },
    tried("affine", &["off"]),
    tried("promote", &["off"]),
    tried("branch-hints", &["off"]),
    tried("interprocedural-flow", &["off"]),
    tried("path-array", &["0"]),
    tried("path-limit", &["3"]),
    Tried { usual: &["auto"], ..tried("trace-by", &["paths", "bits", "witness"]) },
    Tried { usual: &["chords"], ..tried("event-placement", &["blocks"]) },
    tried("event-queries", &[""]),
    Tried { usual: &["segments"], ..tried("trace-placement", &["branches"]) },
    Tried { usual: &["registers"], ..tried("carry", &["stack"]) },
];

/// Pairs that change nothing, and why that is right.
struct Same {
    option: &'static str,
    value: &'static str,
    with: fn(Method) -> bool,
    /// For whoever reads this.
    _why: &'static str,
}

const SAME: &[Same] = &[
    Same {
        option: "targets",
        value: "on",
        with: |method| method == Method::EventsCalls,
        _why: "these are counted unless they are off, which acts",
    },
    Same {
        option: "targets",
        value: "off",
        with: |method| method != Method::EventsCalls,
        _why: "no other method counts them unless it is asked for",
    },
    Same {
        option: "threads",
        value: "on",
        with: |method| !method.is_none(),
        _why: "`auto` is `on` for this program, which starts a thread; `off` acts",
    },
    Same {
        option: "parts",
        value: "",
        with: |method| {
            let is_of_events = matches!(method.family(), Family::Events(_));
            !method.is_none() && !method.has_counters_alone() && !is_of_events
        },
        _why: "their runtime has what it takes in any case, and callers do not tell their counts",
    },
    Same {
        option: "trace-by",
        value: "paths",
        with: |method| method == Method::Trace,
        _why: "`auto` takes paths for these functions; others act",
    },
];

/// The method itself, which [`Method::all`] walks through.
const WALKED: &str = "profile";

const MAIN: &str = "
#include <pthread.h>
#include <stdlib.h>
int other(int);
static int (*volatile indirect)(int) = other;
static int table[64];
__attribute__((noinline)) static int leaf(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) if (table[i & 63] & 1) s += table[i & 63]; else s ^= n;
  return s;
}
__attribute__((noinline)) static int turns(const char *text) {
  int n = 0;
  while (text[n]) n++;
  return n;
}
__attribute__((noinline)) static int mid(int n) {
  if (n > 4) return 3 * n;
  if (n & 1) n += other(n);
  if (n & 2) n ^= leaf(5);
  if (n > 3 && (n & 8 || n < 9)) table[n & 63]++;
  return leaf(n) + indirect(n);
}
__attribute__((noinline)) static int words(const char *text, int n) {
  int words = 0, inside = 0;
  for (int i = 0; i < n; i++) {
    if (text[i] <= ' ') inside = 0;
    else if (!inside) { inside = 1; words++; table[text[i] & 63]++; }
  }
  return words;
}
volatile int seen;
__attribute__((noinline)) static int last(const int *of, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) { if (of[i] >= 0) seen = i; sum ^= of[i]; }
  return sum;
}
static void *thread(void *of) { return of; }
int main(int argc, char **argv) {
  int s = turns(argv[0]) + words(argv[0], 3) + last(table, 9);
  pthread_t one;
  pthread_create(&one, 0, thread, 0);
  pthread_join(one, 0);
  for (int i = 0; i < 20; i++) s += mid(i);
  return s == 1;
}
";
const OTHER: &str = "int other(int x) { for (int i = 0; i < x; i++) x ^= i * 3; return x; }\n";
const COSTS: &str = "opcode add 3\n";

/// The options of a line.
fn options(line: &str) -> BuildOptions {
    let command = BuildOptions::augment_args(Command::new("x")).no_binary_name(true);
    let matches =
        command.try_get_matches_from(line.split_whitespace()).unwrap_or_else(|error| panic!("{line}: {error}"));
    BuildOptions::from_arg_matches(&matches).expect("options")
}

/// An ELF file by its sections, the map as text, without what the map says of the options: every option would act.
type Sections = Vec<(String, Vec<u8>)>;

fn sections(elf: &[u8]) -> Sections {
    let file = object::File::parse(elf).expect("an ELF file");
    let data = |section: &object::Section<'_, '_>| section.data().unwrap_or_default().to_vec();
    let map = file.section_by_name(MAP_SECTION).map(|section| map::decode(&data(&section)).expect("a map"));
    // The unit's id is made from the whole map.
    let id = map.as_ref().map(|(_, unit)| unit.0);
    let mut sections: Sections = file
        .sections()
        .map(|section| (section.name().expect("a name").to_owned(), data(&section)))
        .filter(|(name, _)| name != MAP_SECTION && name != ".note.gnu.build-id")
        .collect();
    for (_, data) in &mut sections {
        let places = id.map(|id| places_of(data, &id)).unwrap_or_default();
        places.into_iter().for_each(|place| data[place..place + 16].fill(0));
    }
    if let Some((mut map, _)) = map {
        map.program.build = Build::default();
        sections.push((MAP_SECTION.to_owned(), format!("{map:?}").into_bytes()));
    }
    sections
}

/// Where the bytes stand.
fn places_of(data: &[u8], wanted: &[u8]) -> Vec<usize> {
    data.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted).map(|(place, _)| place).collect()
}

/// What is made with the options of a line, or why nothing is.
struct Made {
    project: Project,
    bitcode: Vec<u8>,
    instrumented: BTreeMap<String, (Vec<u8>, Sections)>,
    linked: BTreeMap<String, Sections>,
}

impl Made {
    fn new() -> Self {
        let project = Project::new(&[("p.c", MAIN), ("q.c", OTHER), ("costs", COSTS)]);
        project.ok("cc -O2 -g -c p.c q.c");
        project.ok("cc -O2 -g -o p p.c q.c -lpthread");
        let _ = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").status().expect("it runs");
        project.ok("export --format weights -o edge.weights p.cotree");
        let bitcode = fs::read(project.path("p.o")).expect("bitcode");
        Self { project, bitcode, instrumented: BTreeMap::new(), linked: BTreeMap::new() }
    }

    /// The line with names of files as the test's own folder has them.
    fn link_options(&self, line: &str) -> Result<LinkOptions, String> {
        let mut options = options(line);
        for file in [&mut options.weights, &mut options.use_profile, &mut options.event_costs].into_iter().flatten() {
            *file = self.project.path(file.file_name().and_then(|name| name.to_str()).expect("a name"));
        }
        LinkOptions::new(options).map_err(|error| error.to_string())
    }

    /// The module with its probes, and the object beside it.
    fn instrumented(&mut self, line: &str, options: &LinkOptions) -> &(Vec<u8>, Sections) {
        self.instrumented.entry(line.to_owned()).or_insert_with(|| {
            let made =
                standalone::instrument("p.o", &self.bitcode, options, true).unwrap_or_else(|e| panic!("{line}: {e}"));
            (made.bitcode, sections(&made.unit))
        })
    }

    /// The executable.
    fn linked(&mut self, line: &str) -> &Sections {
        let project = &self.project;
        self.linked.entry(line.to_owned()).or_insert_with(|| {
            // Before it is optimised, code is compiled in another way.
            let early = ["--at", "--coverage", "--for-pgo"].iter().any(|option| line.contains(option));
            let files = if early { "p.c q.c" } else { "p.o q.o" };
            project.ok(&format!("{line} cc -O2 -g -w -o p {files} -lpthread"));
            sections(&fs::read(project.path("p")).expect("an executable"))
        })
    }
}

/// What an option does.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Acts,
    Refused,
    /// A build without counters warns.
    Told,
    Nothing,
}

fn outcome(made: &mut Made, method: Method, tried: &Tried, value: &str) -> Outcome {
    let without = format!("--profile {} {}", method.name(), tried.beside);
    let equals = if value.is_empty() { "" } else { "=" };
    let with = format!("{without} --{}{equals}{value}", tried.option);
    let with_options = match made.link_options(&with) {
        Ok(options) => options,
        Err(sentence) => {
            assert!(sentence.contains(&format!("--{}", tried.option)), "{with}: {sentence}");
            assert!(!sentence.contains('\n') && !sentence.ends_with('.'), "one sentence: {sentence}");
            return Outcome::Refused;
        }
    };
    let Ok(without_options) = made.link_options(&without) else {
        panic!("{without} is refused, and with --{} it is not", tried.option)
    };
    let told = with_options.asked.idle();
    if !told.is_empty() {
        assert!(method.is_none() && told.len() == 1 && told[0].contains(tried.option), "{with}: {told:?}");
        return Outcome::Told;
    }
    let before = made.instrumented(&without, &without_options).clone();
    if *made.instrumented(&with, &with_options) != before {
        return Outcome::Acts;
    }
    let before = made.linked(&without).clone();
    if *made.linked(&with) == before { Outcome::Nothing } else { Outcome::Acts }
}

#[test]
fn every_option_acts_or_is_refused() {
    let mut made = Made::new();
    let mut wrong = Vec::new();
    let mut reasons = BTreeSet::new();
    for tried in TRIED {
        for (method, value) in Method::all().flat_map(|method| tried.values.iter().map(move |value| (method, value))) {
            let outcome = outcome(&mut made, method, tried, value);
            let is_of = |same: &Same| (same.option, same.value) == (tried.option, *value) && (same.with)(method);
            let reason = SAME.iter().position(is_of);
            reasons.extend(reason);
            if (outcome == Outcome::Nothing) != reason.is_some() {
                wrong.push(format!("--profile {} --{} {value}: {outcome:?}", method.name(), tried.option));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(reasons.len(), SAME.len(), "each reason is of some pair");
}

#[test]
fn every_option_is_tried_with_every_value() {
    let command = BuildOptions::augment_args(Command::new("x"));
    let declared: BTreeSet<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let mut here: BTreeSet<&str> = TRIED.iter().map(|tried| tried.option).collect();
    assert_eq!(here.len(), TRIED.len(), "each has one line");
    here.insert(WALKED);
    assert_eq!(here, declared, "every option has a line of TRIED");
    for tried in TRIED {
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(tried.option));
        let values = argument.expect("it is declared").get_possible_values();
        // Switches have the values of any switch.
        let values = values.iter().filter(|value| value.get_help().is_some()).map(|value| value.get_name());
        let known = |value: &&str| tried.values.contains(value) || tried.usual.contains(value);
        let left: Vec<&str> = values.filter(|value| !known(value)).collect();
        assert!(left.is_empty(), "--{} is not tried with {left:?}", tried.option);
    }
}

/// A pair that is not refused by its options alone must be of use to what reads the profile: `cotree verify` has
/// something to compare wherever `--verify` is taken.
#[test]
fn whoever_takes_verify_is_verified() {
    let project = Project::new(&[("p.c", MAIN), ("q.c", OTHER)]);
    for method in Method::all().filter(|method| !method.is_none()) {
        let name = method.name();
        project.ok(&format!("--profile {name} --verify cc -O1 -g -w -o p p.c q.c -lpthread"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let verdict = project.ok("verify p.cotree");
        assert!(verdict.starts_with("OK: 8 functions"), "{name}: {verdict}");
        let compared = match method.family() {
            Family::Calls => " calls compared",
            Family::Events(_) => " of events compared",
            _ => " blocks",
        };
        assert!(verdict.contains(compared), "{name}: {verdict}");
    }
}

/// Profiles without counts of edges place no counters, and guide no optimiser.
#[test]
fn profiles_without_edges_are_no_weights() {
    let project = Project::new(&[("p.c", MAIN), ("q.c", OTHER)]);
    for method in Method::all().filter(|method| !method.is_none()) {
        let name = method.name();
        project.ok(&format!("--profile {name} cc -O1 -w -o p p.c q.c -lpthread"));
        let file = format!("{name}.cotree");
        succeed(project.command(project.path("p")).env("COTREE_FILE", &file));
        let has_edges = method.promises().edges || method == Method::Trace;
        for option in ["--weights", "--use"] {
            let line = format!("{option} {file} cc -O1 -w -o q p.c q.c -lpthread");
            if has_edges {
                project.ok(&line);
            } else {
                let why = project.fails(&line);
                assert!(why.contains("weights are counts of edges, and the"), "{line}: {why}");
                assert!(why.contains("build it with --profile edge, "), "{line}: {why}");
            }
        }
    }
}
