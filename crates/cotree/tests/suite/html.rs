//! `cotree html`: what stands in the folder, and when there is none. What the pages show is read in a browser by
//! `cargo xtask test`.

use crate::project::{Project, succeed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

const PROGRAM: &str = r#"
extern "C" int puts(const char *);
template <class T> __attribute__((noinline)) static T twice(T n) { return n > 0 ? n + n : 0; }
__attribute__((noinline)) static int never(int n) { return n * 3; }
int main(int c, char **) {
  long sum = 0;
  for (int i = 0; i < 7; i++) sum += twice<long>(i);
  if (c > 5) sum += never(c);
  puts("done");
  return sum != 42;
}
"#;

/// The data of a script.
pub fn data(project: &Project, name: &str) -> Value {
    let script = fs::read_to_string(project.path(&format!("pages/data/{name}.js"))).expect("a script");
    let call = format!("cotreeData(\"{name}\",\"");
    let packed = script.strip_prefix(&call).and_then(|rest| rest.strip_suffix("\");\n")).expect("one call");
    serde_json::from_reader(GzDecoder::new(&STANDARD.decode(packed).expect("base 64")[..])).expect("JSON")
}

#[test]
fn pages_hold_the_profile() {
    let project = Project::new(&[("p</script>.cc", PROGRAM)]);
    project.ok("c++ -O1 -g -o p p</script>.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let said = project.ok("html -o pages p.cotree");
    assert_eq!(said.trim(), "pages/index.html");
    let index = data(&project, "index");
    let names: Vec<&str> =
        index["functions"]["name"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    let number = names.iter().position(|name| name.starts_with("long twice<long>")).expect("its name in the source");
    assert_eq!(index["functions"]["entries"][number], 7, "{names:?}");
    assert!(index["units"][0]["exact"].as_bool().expect("whether it is exact"));
    let details = &data(&project, "functions/0")[number];
    let caller = &details["callers"][0];
    assert_eq!(
        (caller["count"].as_u64(), names[caller["function"].as_u64().expect("main") as usize]),
        (Some(7), "main")
    );
    let file = index["files"]["paths"]
        .as_array()
        .expect("paths")
        .iter()
        .position(|path| path.as_str().expect("a path").ends_with("p</script>.cc"));
    let source = data(&project, &format!("files/{}", file.expect("the source")));
    let line = |wanted: u64| source["lines"].as_array().expect("lines").iter().find(|line| line["line"] == wanted);
    assert_eq!(line(3).expect("of twice")["count"], 7);
    assert_eq!(line(4).expect("of never")["count"], 0);
    // The loop of main stands in the overview, and at its line.
    let found = &index["loops"][0];
    let at = line(found["place"][1].as_u64().expect("a line")).expect("code");
    assert_eq!((found["trips"].as_u64(), &at["loops"][0]), (Some(7), &json!([found["entries"], found["trips"]])));
    assert_eq!(source["text"][3], PROGRAM.lines().nth(3).expect("its text"));
    // No text of the program stands in a script as it is.
    let page = fs::read_to_string(project.path("pages/index.html")).expect("the page");
    assert!(page.contains("Content-Security-Policy") && !page.contains("twice"));

    // It is replaced as a whole; what is not ours is not.
    project.ok("html -o pages p.cotree");
    fs::write(project.path("pages/mine.txt"), "mine").expect("a file");
    assert!(project.fails("html -o pages p.cotree").contains("mine.txt"));
}

/// Profiles without counts of blocks show what they count; where that is nothing of functions, there are no pages.
#[test]
fn other_profiles_show_what_they_count() {
    let project = Project::new(&[("p.cc", PROGRAM)]);
    for (method, kind, entries, inclusive) in [
        ("calls", "calls", Some(7), None),
        ("events-calls", "IR instructions", Some(7), Some(true)),
        ("trace", "IR instructions", Some(7), Some(true)),
    ] {
        project.ok(&format!("--profile {method} c++ -O1 -g -o p p.cc"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        project.ok("html -o pages p.cotree");
        let index = data(&project, "index");
        assert_eq!(index["kind"], kind, "{method}");
        let functions = &index["functions"];
        let names = functions["name"].as_array().expect("names");
        let named = |wanted: &str| names.iter().position(|name| name.as_str().expect("a name").starts_with(wanted));
        let (main, twice) = (named("main").expect("main"), named("long twice<long>").expect("twice"));
        assert_eq!(functions["entries"][twice].as_u64(), entries, "{method}");
        let amounts = |column: &str| [main, twice].map(|function| functions[column][function].as_u64());
        assert!(amounts("own")[0].expect("of main") > 0, "{method}");
        assert_eq!(functions["inclusive"].is_array().then_some(true), inclusive, "{method}");
        if inclusive.is_some() {
            let (own, inclusive) = (amounts("own"), amounts("inclusive"));
            assert_eq!(inclusive[0], own[0].zip(own[1]).map(|(main, twice)| main + twice), "{method}");
        }
        let flame = data(&project, "flame");
        let sum = |column: &Value| column.as_array().expect("amounts").iter().filter_map(Value::as_u64).sum::<u64>();
        assert_eq!(sum(&flame["own"]), sum(&functions["own"]), "{method}");
    }
    project.ok("--profile events c++ -O1 -g -o p p.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let said = project.fails("html -o none p.cotree");
    assert!(said.contains("has no counts of blocks") && !project.path("none").exists(), "{said}");
}

/// An inlined copy that calls a function on two lines is one box of the flame graph, with what it costs itself.
#[test]
fn a_copy_that_calls_on_two_lines_is_one_box() {
    let project = Project::new(&[(
        "p.c",
        "__attribute__((noinline)) static int leaf(int n) { return n > 3 ? n * 7 : n; }
__attribute__((always_inline)) static inline int both(int n) {
  int one = leaf(n);
  return one % 5 + leaf(one + 1);
}
int main(int c, char **v) { int sum = 0; for (int i = 0; i < 9; i++) sum += both(i * c); return sum == 0; }
",
    )]);
    project.ok("cc -O1 -g -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    project.ok("html -o pages p.cotree");
    let flame = data(&project, "flame");
    let names: Vec<_> = flame["names"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    assert_eq!(names.iter().filter(|name| **name == "both (inlined)").count(), 1, "{names:?}");
    assert!(names.contains(&"leaf") && names.contains(&"main"), "{names:?}");
}

/// Files and lines, each once where several pieces of code on end are of one line.
fn lines(list: &Value) -> Vec<[u64; 2]> {
    let number = |line: &Value, at: usize| line[at].as_u64().expect("a number");
    let mut lines: Vec<_> =
        list.as_array().into_iter().flatten().map(|line| [number(line, 0), number(line, 1)]).collect();
    lines.dedup();
    lines
}

/// The paths of pages are those of `cotree paths`, the hottest first.
#[test]
fn pages_show_paths() {
    // A call amid a block.
    let program = PROGRAM.replace("puts(\"done", "sum += twice<long>(0);\n  puts(\"done");
    let project = Project::new(&[("p.cc", &program)]);
    for method in ["path", "path-context", "ipath", "ipath-piecewise"] {
        project.ok(&format!("--profile {method} c++ -O0 -g -o p p.cc"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        project.ok("html -o pages p.cotree");
        let told: Value = serde_json::from_str(&project.ok("paths --json p.cotree")).expect("JSON");
        let unit = &told["units"][0];
        let of_functions = unit["functions"].as_array().expect("functions").iter().map(|function| &function["paths"]);
        let lists: Vec<&Value> =
            if method.starts_with("ipath") { vec![&unit["paths"]] } else { of_functions.collect() };
        let paths = lists.iter().filter_map(|list| list.as_array()).flatten();
        let mut expected: Vec<(u64, u64)> = paths
            .map(|path| {
                (path["instructions"].as_u64().expect("instructions"), path["count"].as_u64().expect("a count"))
            })
            .map(|(instructions, count)| (instructions * count, count))
            .filter(|&(_, count)| count > 0)
            .collect();
        let shown = data(&project, "paths");
        let shown = shown.as_array().expect("paths");
        let mut found: Vec<(u64, u64)> = (shown.iter())
            .map(|path| {
                (path["instructions"].as_u64().expect("instructions"), path["count"].as_u64().expect("a count"))
            })
            .collect();
        assert!(found.is_sorted_by(|a, b| a.0 >= b.0), "{method}: {found:?}");
        expected.sort_unstable();
        found.sort_unstable();
        assert!(found.len() >= 3, "{method}: {found:?}");
        assert_eq!(found, expected, "{method}");
        // So are the lines that a path goes through: of a block that a call divides, those on its side of the call.
        let told: BTreeSet<_> = lists
            .iter()
            .flat_map(|list| list.as_array().into_iter().flatten())
            .filter(|path| path["count"] != 0)
            .map(|path| {
                let within = ["context_lines", "lines"].map(|key| &path[key]);
                let across = ["context", "active"].map(|key| path[key].as_array().into_iter().flatten());
                let across = across.into_iter().flatten().map(|part| &part["lines"]);
                let all = within.into_iter().chain(across).map(lines).filter(|lines| !lines.is_empty());
                (path["number"].to_string(), all.collect::<Vec<_>>())
            })
            .collect();
        let shown_lines = |path: &Value| {
            let parts = path["parts"].as_array().expect("parts").iter().map(|part| lines(&part["lines"]));
            parts.filter(|lines| !lines.is_empty()).collect::<Vec<_>>()
        };
        let number = |path: &Value| path["number"].as_str().expect("digits").to_owned();
        let drawn: BTreeSet<_> = shown.iter().map(|path| (number(path), shown_lines(path))).collect();
        assert_eq!(drawn, told, "{method}");
        let index = data(&project, "index");
        assert!(index["paths"].as_u64().expect("how many ran") >= found.len() as u64, "{method}");
        let names = index["functions"]["name"].as_array().expect("names");
        let crosses = shown.iter().any(|path| {
            let parts = path["parts"].as_array().expect("parts").iter().filter(|part| part["context"] == false);
            let functions = parts.map(|part| &names[part["function"].as_u64().expect("a function") as usize]);
            functions.map(|name| name.to_string()).collect::<BTreeSet<_>>().len() > 1
        });
        assert_eq!(crosses, method.starts_with("ipath"), "{method}");
    }
}

/// `cotree open` writes the newest profile's pages beside it, and has a browser show them.
#[test]
fn pages_are_opened() {
    let project = Project::new(&[("p.cc", PROGRAM), ("browser", "#!/bin/sh\necho \"$1\" >> opened\n")]);
    succeed(project.command("chmod").args(["+x", "browser"]));
    project.ok("c++ -O1 -g -o p p.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "runs/p.cotree"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "newest.cotree"));
    let open = |line: &str| succeed(project.cotree(line).env("BROWSER", project.path("browser")));
    assert_eq!(open("open"), "cotree-html/index.html\n");
    assert_eq!(open("open runs/p.cotree"), "runs/cotree-html/index.html\n");
    assert_eq!(open("open -o here runs"), "here/index.html\n");
    let opened = fs::read_to_string(project.path("opened")).expect("pages");
    assert_eq!(opened, "cotree-html/index.html\nruns/cotree-html/index.html\nhere/index.html\n");
    // A command of $BROWSER says where the page stands.
    let own = format!("absent:{} file=%s --new", project.path("browser").display());
    succeed(project.cotree("open -o here runs").env("BROWSER", own));
    assert!(fs::read_to_string(project.path("opened")).expect("pages").ends_with("\nfile=here/index.html\n"));
    assert!(project.path("cotree-html/data/index.js").exists());

    fs::write(project.path("cotree-html/mine"), "").expect("a file");
    let refused = project.fails("open");
    assert!(refused.contains("mine") && refused.contains("--output-dir"), "{refused}");
    let mut without = project.cotree("open -o here");
    let output = without.env("BROWSER", "").env("PATH", "").output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("open here/index.html yourself"), "{said}");
}

/// What pages say of another run is what `cotree diff` and that run's own pages say.
#[test]
fn pages_compare_two_runs() {
    let project = Project::new(&[("p.cc", PROGRAM)]);
    let numbers =
        |list: &Value| -> Vec<Option<u64>> { list.as_array().expect("counts").iter().map(Value::as_u64).collect() };
    for method in ["edge", "path", "ipath"] {
        project.ok(&format!("--profile {method} c++ -O1 -g -o p p.cc"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "before.cotree"));
        let mut more = project.command(project.path("p"));
        let ended = more.args(["2", "3", "4", "5", "6"]).env("COTREE_FILE", "after.cotree").output();
        assert_eq!(ended.expect("it runs").status.code(), Some(1), "the sum is another one");
        project.ok("html -o pages before.cotree");
        let names = |index: &Value| -> Vec<String> {
            let all = index["functions"]["name"].as_array().expect("names").iter();
            all.map(|name| name.as_str().expect("a name").to_owned()).collect()
        };
        let (names_then, then) = (names(&data(&project, "index")), data(&project, "functions/0"));
        let paths_then = (method != "edge").then(|| data(&project, "paths"));
        project.ok("html -o pages --against before.cotree after.cotree");
        let index = data(&project, "index");
        assert_eq!(index["before"], "before.cotree");
        assert_eq!(names(&index), names_then);

        let told: Value = serde_json::from_str(&project.ok("diff --json before.cotree after.cotree")).expect("JSON");
        let shown = data(&project, "compare/index");
        assert!(shown["same_build"].as_bool().expect("whether it is"));
        let part = |value: &Value, list: &str, columns: [&str; 2]| -> Vec<(String, String)> {
            let rows = value[list].as_array().expect("a list").iter();
            rows.map(|row| (row[columns[0]].to_string(), row[columns[1]].to_string())).collect()
        };
        for (list, columns) in [("functions", ["entries", "instructions"]), ("lines", ["line", "counts"])] {
            assert_eq!(part(&shown, list, columns), part(&told, list, columns), "{method}: {list}");
            assert_eq!(part(&shown, list, ["change", "change"]), part(&told, list, ["change", "change"]), "{method}");
        }
        assert!(shown["functions"].as_array().expect("functions").iter().any(|row| row["change"] == "newly-run"));
        for (bodies, then) in data(&project, "compare/functions/0")
            .as_array()
            .expect("functions")
            .iter()
            .zip(then.as_array().expect("functions"))
        {
            for (body, then) in
                bodies.as_array().expect("bodies").iter().zip(then["bodies"].as_array().expect("bodies"))
            {
                let counts = |list: &str| -> Vec<Option<u64>> {
                    then[list].as_array().expect("a list").iter().map(|row| row["count"].as_u64()).collect()
                };
                assert_eq!(numbers(&body["blocks"]), counts("blocks"), "{method}");
                assert_eq!(numbers(&body["edges"]), counts("edges"), "{method}");
            }
        }

        // Each path of the run before is there, with its count, and those that only one run took.
        let Some(paths_then) = paths_then else { continue };
        let key = |path: &Value| (path["parts"].to_string(), path["number"].to_string());
        let before: BTreeSet<_> = (paths_then.as_array().expect("paths").iter())
            .map(|path| (key(path), path["count"].as_u64().expect("a count")))
            .collect();
        let paths = data(&project, "paths");
        let paths = paths.as_array().expect("paths");
        let counts = |path: &Value| ["before", "count"].map(|count| path[count].as_u64().expect("a count"));
        let found: BTreeSet<_> = paths.iter().map(|path| (key(path), counts(path)[0])).filter(|it| it.1 > 0).collect();
        assert_eq!(found, before, "{method}");
        assert!(paths.iter().any(|path| counts(path)[0] == 0) && paths.iter().any(|path| counts(path)[1] == 0));
    }
    // Of another build only functions and lines are compared.
    project.ok("c++ -O2 -g -o q p.cc");
    succeed(project.command(project.path("q")).env("COTREE_FILE", "other.cotree"));
    project.ok("html -o pages --against before.cotree other.cotree");
    assert!(!data(&project, "compare/index")["same_build"].as_bool().expect("whether it is"));
    assert!(!project.path("pages/data/compare/functions").exists());
    project.ok("--profile calls c++ -O1 -g -o p p.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "calls.cotree"));
    assert!(project.fails("html -o pages --against calls.cotree other.cotree").contains("compare two of one method"));
}

/// Several profiles are added up; sources that were edited are told, and codes are explained.
#[test]
fn pages_of_several_runs_tell_what_is_amiss() {
    let project = Project::new(&[("p.cc", PROGRAM)]);
    project.ok("c++ -O1 -g -o p p.cc");
    for profile in ["a.cotree", "b.cotree", "more/c.cotree"] {
        succeed(project.command(project.path("p")).env("COTREE_FILE", profile));
    }
    project.ok("merge -o sum.cotree a.cotree");
    project.ok("html -o pages sum.cotree b.cotree more ./b.cotree more/c.cotree");
    let index = data(&project, "index");
    let of = |index: &Value, name: &str| {
        let names = index["functions"]["name"].as_array().expect("names");
        names.iter().position(|own| own == name).expect("a function")
    };
    assert_eq!(index["functions"]["entries"][of(&index, "main")], 3);
    let facts = index["facts"].to_string();
    assert!(
        facts.contains("b.cotree") && facts.contains("sum.cotree") && facts.contains("[\"Runs\",\"3\"]"),
        "{facts}"
    );
    assert_eq!(index["files"]["faults"], json!([]));

    fs::write(project.path("p.cc"), format!("// edited\n{PROGRAM}")).expect("a file");
    project.ok("html -o pages a.cotree");
    let index = data(&project, "index");
    let (file, why) = (&index["files"]["faults"][0][0], &index["files"]["faults"][0][1]);
    assert!(why.as_str().is_some_and(|why| why.contains("it")), "{why}");
    assert_eq!(data(&project, &format!("files/{file}"))["fault"], *why);

    let killed = "#include <signal.h>\n\
        __attribute__((noinline)) static int deep(int n) { if (n > 3) raise(SIGKILL); return n + 1; }\n\
        int main(void) { int n = 0; for (int i = 0; i < 9; i++) n += deep(i); return n; }\n";
    fs::write(project.path("k.c"), killed).expect("a file");
    project.ok("cc -O1 -o k k.c");
    let run = project.command("sh").args(["-c", "COTREE_FILE=k.cotree ./k; mv k.cotree.*.live k.live"]).output();
    run.expect("it starts");
    project.ok("html -o pages k.live");
    let index = data(&project, "index");
    let unit = &index["units"][0];
    for remark in [&unit["notes"][0], &unit["doubts"][0][0], &data(&project, "functions/0")[0]["doubts"][0]] {
        let code = remark[1].as_str().expect("a code");
        assert_eq!(index["explanations"][code].as_array().map(Vec::len), Some(3), "{remark}");
    }
}
