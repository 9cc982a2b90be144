//! Traces for other programs.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

const CALLS: &str = "
static volatile int sink;
__attribute__((noinline)) static void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void middle(int n) { leaf(n); leaf(2 * n); sink++; }
int main(void) {
  for (int i = 1; i < 9; i++) middle(100);
  return 0;
}
";

fn traced(options: &str) -> Project {
    let project = Project::new(&[("p.c", CALLS)]);
    let (trace, level) = options.rsplit_once(' ').unwrap_or(("", options));
    project.ok(&format!("--profile trace {trace} cc {level} -g -o p p.c"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    project
}

/// The instructions of each block: all runs of it, by its number in the vectors.
fn instructions(project: &Project) -> BTreeMap<u64, u64> {
    let json: Value = serde_json::from_str(&project.ok("export p.cotree")).expect("JSON");
    let functions = json["units"][0]["functions"].as_array().expect("functions").clone();
    let blocks = functions.iter().flat_map(|function| function["blocks"].as_array().expect("blocks"));
    let number = |value: &Value| value.as_u64().expect("a number");
    let all = blocks.map(|block| number(&block["count"]) * number(&block["instructions"]["total"]));
    (1..).zip(all).filter(|&(_, instructions)| instructions > 0).collect()
}

#[test]
fn vectors_add_up_to_what_ran() {
    for level in ["-O0", "-O2"] {
        let project = traced(level);
        let vectors = project.ok("trace p.cotree --format bbv --interval 500");
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        let mut intervals = Vec::new();
        for line in vectors.lines() {
            let line = line.strip_prefix('T').expect("an interval");
            let mut interval = 0;
            for item in line.split_whitespace() {
                let (block, count) =
                    item.strip_prefix(':').and_then(|item| item.split_once(':')).expect("block and count");
                let [block, count] = [block, count].map(|number| number.parse::<u64>().expect("a number"));
                *sums.entry(block).or_default() += count;
                interval += count;
            }
            intervals.push(interval);
        }
        assert_eq!(sums, instructions(&project), "{level}");
        let (last, whole) = intervals.split_last().expect("intervals");
        assert!(whole.len() > 5 && *last > 0, "{intervals:?}");
        assert!(whole.iter().all(|interval| (500..600).contains(interval)), "{intervals:?}");
    }
}

/// A slice of a timeline: its name, how many are around it, and when it begins and ends, in nanoseconds.
type Slice = (String, usize, u64, u64);

/// The slices and the moments of a timeline, in the order in which they end.
fn slices(happenings: impl Iterator<Item = (char, Option<String>, u64)>) -> Vec<Slice> {
    let mut stack: Vec<(String, u64)> = Vec::new();
    let mut slices = Vec::new();
    for (kind, name, at) in happenings {
        match kind {
            'B' => stack.push((name.expect("a name"), at)),
            'E' => {
                let (name, began) = stack.pop().expect("it has begun");
                slices.push((name, stack.len(), began, at));
            }
            _ => slices.push((name.expect("a name"), stack.len(), at, at)),
        }
    }
    assert!(stack.is_empty());
    slices
}

/// The slices of Chrome's timeline, of one thread.
fn slices_of_chrome(timeline: &Value) -> Vec<Slice> {
    let events = timeline["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] != "M");
    slices(events.map(|event| {
        let at = (event["ts"].as_f64().expect("a time") * 1000.0).round() as u64;
        let kind = event["ph"].as_str().and_then(|kind| kind.chars().next()).expect("a phase");
        (kind, event["name"].as_str().map(str::to_owned), at)
    }))
}

/// The fields of a message: their numbers, with the number or the bytes that each has.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        number
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let number = varint(&mut bytes);
        let (content, rest) = match key & 7 {
            0 => (&bytes[..0], bytes),
            2 => bytes.split_at(number as usize),
            other => panic!("wire type {other}"),
        };
        bytes = rest;
        fields.push((key >> 3, number, content));
    }
    fields
}

/// The slices of Perfetto's timeline, of one thread: numbers of fields are those of perfetto_trace.proto.
fn slices_of_perfetto(trace: &[u8]) -> Vec<Slice> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let mut names = BTreeMap::new();
    let mut happenings = Vec::new();
    for (number, _, packet) in fields(trace) {
        assert_eq!(number, 1, "a trace is nothing but packets");
        let packet = fields(packet);
        let number = |fields: &[(u64, u64, &[u8])], wanted| fields.iter().find(|it| it.0 == wanted).map(|it| it.1);
        for (_, _, interned) in packet.iter().filter(|field| field.0 == 12) {
            for (_, _, name) in fields(interned).iter().filter(|field| field.0 == 2) {
                let name = fields(name);
                assert!(names.insert(name[0].1, text(name[1].2)).is_none(), "a name is there once");
            }
        }
        let Some((_, _, event)) = packet.iter().find(|field| field.0 == 11) else { continue };
        let event = fields(event);
        let own = event.iter().find(|field| field.0 == 23).map(|field| text(field.2));
        let name = number(&event, 10).map(|iid| names[&iid].clone()).or(own);
        let kind = ['B', 'E', 'i'][number(&event, 9).expect("a type") as usize - 1];
        happenings.push((kind, name, number(&packet, 8).expect("a time")));
    }
    slices(happenings.into_iter())
}

#[test]
fn perfetto_has_the_slices_of_chrome() {
    for options in ["-O0", "-O2", "--trace-time -O0"] {
        let project = traced(options);
        for range in ["", " --from leaf#3 --to leaf#4"] {
            let chrome: Value =
                serde_json::from_str(&project.ok(&format!("trace p.cotree --format chrome{range}"))).expect("JSON");
            project.ok(&format!("trace p.cotree --format perfetto -o p.perfetto{range}"));
            let perfetto = slices_of_perfetto(&std::fs::read(project.path("p.perfetto")).expect("a file"));
            assert!(!perfetto.is_empty());
            assert_eq!(perfetto, slices_of_chrome(&chrome), "{options}{range}");
        }
    }
}

#[test]
fn timelines_nest_as_calls_do() {
    let project = traced("-O0");
    let timeline: Value = serde_json::from_str(&project.ok("trace p.cotree --format chrome")).expect("JSON");
    let mut stack: Vec<(String, f64)> = Vec::new();
    let mut calls: BTreeMap<String, u32> = BTreeMap::new();
    let (mut now, mut in_main) = (0.0, 0.0);
    for event in timeline["traceEvents"].as_array().expect("events") {
        let kind = event["ph"].as_str().expect("a phase");
        if kind == "M" {
            continue;
        }
        let at = event["ts"].as_f64().expect("a time");
        assert!(at >= now && event["pid"] == 1 && event["tid"] == 1, "{event}");
        now = at;
        match kind {
            "B" => {
                let name = event["name"].as_str().expect("a name").to_owned();
                let around: Vec<&str> = stack.iter().map(|(name, _)| name.as_str()).collect();
                let expected: &[&str] = match name.as_str() {
                    "main" => &[],
                    "middle" => &["main"],
                    "leaf" => &["main", "middle"],
                    other => panic!("{other}"),
                };
                assert_eq!(around, expected);
                *calls.entry(name.clone()).or_default() += 1;
                stack.push((name, at));
            }
            "E" => {
                let (name, began) = stack.pop().expect("it has begun");
                if name == "main" {
                    in_main += at - began;
                }
            }
            other => assert_eq!(other, "i"),
        }
    }
    assert!(stack.is_empty());
    assert_eq!(calls, [("leaf", 16), ("main", 1), ("middle", 8)].map(|(name, calls)| (name.to_owned(), calls)).into());
    let all: u64 = instructions(&project).values().sum();
    assert_eq!((in_main * 1000.0).round() as u64, all);

    // A part of it begins with what is under way there.
    let part: Value =
        serde_json::from_str(&project.ok("trace p.cotree --format chrome --from leaf#3 --to leaf#4")).expect("JSON");
    let events = part["traceEvents"].as_array().expect("events");
    let begun: Vec<&str> =
        events.iter().filter(|event| event["ph"] == "B").filter_map(|event| event["name"].as_str()).collect();
    assert_eq!(begun, ["main", "middle", "leaf"]);
    assert_eq!(events.iter().filter(|event| event["ph"] == "E").count(), 3);
}

/// Where functions tell the time, that is the clock: what lies between two times is put between them.
#[test]
fn timelines_go_by_the_times_that_are_told() {
    let project = traced("--trace-time -O0");
    let rows = project.ok("trace p.cotree --by call --json");
    let times: Vec<u64> = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).expect("JSON"))
        .filter(|row| row["event"] == "time")
        .map(|row| row["time"].as_u64().expect("a time"))
        .collect();
    // `main` and each `middle`; `leaf` calls nobody.
    assert_eq!(times.len(), 9);
    let timeline: Value = serde_json::from_str(&project.ok("trace p.cotree --format chrome")).expect("JSON");
    assert_eq!(timeline["otherData"]["clock"], "ticks");
    let events = timeline["traceEvents"].as_array().expect("events");
    let at = |event: &&Value| event["ts"].as_f64();
    let begins = |name: &'static str| events.iter().filter(move |event| event["ph"] == "B" && event["name"] == name);
    let begun: Vec<f64> = begins("main").chain(begins("middle")).filter_map(|event| at(&event)).collect();
    let expected: Vec<f64> = times.iter().map(|time| (time - times[0]) as f64 / 1000.0).collect();
    assert_eq!(begun, expected);
    assert_eq!(begins("leaf").count(), 16);
    let all: Vec<f64> = events.iter().filter_map(|event| at(&event)).collect();
    assert!(all.is_sorted(), "{all:?}");
}
