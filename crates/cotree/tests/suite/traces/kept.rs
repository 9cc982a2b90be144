//! What a ring has lost is said, in every view, and what it has kept is counted as a part.

use crate::project::{Project, succeed};
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use cotree_profile::method::trace::thread::Thread;
use serde_json::Value;

/// Most of these threads and handlers are over and gone from the ring before the program ends.
const CASES: [(&str, &str, u64, &str); 2] = [
    ("threads.c", include_str!("../../programs/findings/trace-ring-many-threads.c"), 65, "work"),
    ("handlers.c", include_str!("../../programs/findings/trace-ring-signal-handlers.c"), 501, "h"),
];

fn note(project: &Project, line: &str) -> String {
    let output = project.cotree(line).output().expect("cotree starts");
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&both).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_ring_says_how_many_streams_are_gone() {
    for (name, text, streams, function) in CASES {
        let project = Project::new(&[(name, text)]);
        project.ok(&format!("--profile trace --trace-ring 1M cc -O0 -g -o p {name}"));
        succeed(project.command("./p").env("COTREE_FILE", "p.cotree"));
        let summary: Value = serde_json::from_str(&project.ok("trace --json p.cotree")).expect("JSON");
        let kept = summary["threads"].as_array().expect("threads").len() as u64;
        assert!(kept > 1 && kept < streams, "{name}: {kept}");
        let gone = streams - kept;
        assert_eq!((&summary["threads_gone"], &summary["newest_only"]), (&gone.into(), &true.into()), "{name}");
        let sentence = format!("nothing is left of {gone} threads and signal handlers");
        project.ok("merge -o m.cotree p.cotree");
        let views = [
            "report p.cotree",
            "report m.cotree",
            "trace p.cotree",
            "trace --by call p.cotree",
            "trace --last 3 p.cotree",
            "trace --first threads.c:5 p.cotree",
            "trace --profile p.cotree",
            "trace --format chrome p.cotree",
            "trace --format perfetto -o p.perfetto p.cotree",
            "diff --trace p.cotree p.cotree",
        ];
        for line in &views[..if function == "work" { views.len() } else { 3 }] {
            let said = note(&project, line);
            assert!(said.contains(&sentence), "{name}: {line}: {said}");
        }
        for profile in ["p.cotree", "m.cotree"] {
            let report = project.ok(&format!("report {profile}"));
            assert!(report.contains("NOT ALL EXACT: 2 of 2"), "{name}: {report}");
            let said = note(&project, &format!("annotate {profile}"));
            assert!(said.contains("~5 of 5 lines ran") || said.contains("~2 of 2 lines ran"), "{name}: {said}");
            for line in ["costs", "export --format json", "export --format folded"] {
                let error = project.fails(&format!("{line} --strict {profile}"));
                assert!(error.contains("cannot be vouched for"), "{error}");
                let said = note(&project, &format!("{line} {profile}"));
                assert!(said.contains("2 of 2 functions cannot be vouched for"), "{name}: {line} {profile}: {said}");
            }
        }
        let json: Value = serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
        let functions = json["units"][0]["functions"].as_array().expect("functions");
        let of_kept = functions.iter().find(|f| f["name"] == function).expect("a function");
        assert_eq!(of_kept["entries"], kept - 1, "{name}: those of the kept part");
    }
}

/// A program whose trace at -O0 is larger than its ring.
const LOOPS: &str = r#"
#include <stdlib.h>
static unsigned state = 7;
static unsigned draw(void) { return state = state * 1664525u + 1013904223u; }
static unsigned (*volatile draws)(void) = draw;
static unsigned deeper(unsigned depth) {
    if (depth == 0) abort();
    return deeper(depth - 1) + 1;
}
int main(void) {
    unsigned sum = 0;
    for (unsigned turn = 0; turn < 600000; turn++)
        if (draws() >> 30) sum++;
        else sum += 2;
    return deeper(5) + sum;
}
"#;

/// The last blocks of a ring are shown from its end alone, and are those that the whole ring has.
#[test]
fn the_end_of_a_ring_is_read_alone() {
    let project = Project::new(&[("loops.c", LOOPS)]);
    project.ok("--profile trace --trace-ring 1M cc -O0 -g -o p loops.c");
    let ended = project.command("./p").env("COTREE_FILE", "p.cotree").output().expect("it starts");
    assert!(!ended.status.success(), "it aborts");
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let tables = UnitTables::new(&binary).expect("a traced program");
    let streams = Streams::open(&project.path("p.cotree")).expect("a profile");
    let [stream] = streams.iter().as_slice() else { panic!("one thread") };
    let whole = Thread::new(&tables, &streams, stream).parts.pop().expect("a part");
    let tail = |blocks| Thread::tail(&tables, &streams, stream, blocks).parts.pop().expect("a part");
    assert!(whole.starts_late && whole.blocks > 500_000, "{}", whole.blocks);
    for blocks in [0, 20, 100_000] {
        let end = tail(blocks);
        assert!(end.blocks > blocks && end.blocks < whole.blocks, "{} for {blocks}", end.blocks);
        assert!(end.blocks < 3 * blocks + 200_000, "{} for {blocks}", end.blocks);
        assert_eq!((&end.stop, &end.taken, end.uncertain), (&whole.stop, &whole.taken, whole.uncertain));
    }
    assert_eq!(tail(u64::MAX).blocks, whole.blocks, "there are no more");

    let rows = |text: String| -> Vec<(i64, String)> {
        let numbered = text.lines().filter_map(|line| line.trim_start().split_once("  "));
        numbered.filter_map(|(number, row)| Some((number.parse().ok()?, row.to_owned()))).collect()
    };
    let last = rows(project.ok("trace --last 20 p.cotree"));
    let from = rows(project.ok(&format!("trace --thread 1 --from {} p.cotree", whole.blocks - 19)));
    let blocks = whole.blocks as i64;
    let counted_back: Vec<_> = from.into_iter().map(|(number, row)| (number - blocks, row)).collect();
    assert_eq!(last, counted_back);
    assert_eq!((last[0].0, last[last.len() - 1].0), (-19, 0));
}

/// A ring that has room for all is as exact as a whole trace.
#[test]
fn a_ring_that_lost_nothing_is_exact() {
    let (name, text, streams, function) = CASES[0];
    let project = Project::new(&[(name, text)]);
    project.ok(&format!("--profile trace --trace-ring 16M cc -O0 -g -o p {name}"));
    succeed(project.command("./p").env("COTREE_FILE", "p.cotree"));
    let json: Value = serde_json::from_str(&project.ok("export --strict --format json p.cotree")).expect("JSON");
    let functions = json["units"][0]["functions"].as_array().expect("functions");
    let all = functions.iter().find(|f| f["name"] == function).expect("a function");
    assert_eq!(all["entries"], streams - 1);
    assert!(project.ok("report p.cotree").contains("exact: every count"));
}
