//! The pages of coverage, read as a browser reads them and held against the tracefile and the table.

mod page;

use crate::project::{Project, succeed};
use page::{Line, Page, check};
use std::collections::BTreeMap;
use std::fs;

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../programs/coverage/", $name)))
    };
}

/// The page of a source file, by its name without folders.
fn page_of<'p>(pages: &'p BTreeMap<String, Page>, file: &str) -> &'p Page {
    let is_its = |page: &&Page| page.all("title", "").any(|title| title.text == format!("{file} – coverage"));
    pages.values().find(is_its).unwrap_or_else(|| panic!("{file}: {:?}", pages.keys()))
}

/// Holds the pages in `coverage/html` against what `cotree coverage` says in its other forms.
fn compare(project: &Project, profile: &str) -> BTreeMap<String, Page> {
    project.ok(&format!("coverage --lcov -o lines.info {profile}"));
    let json: serde_json::Value =
        serde_json::from_str(&project.ok(&format!("coverage --json {profile}"))).expect("JSON");
    assert_eq!(project.ok(&format!("coverage --html {profile}")), "coverage/html/index.html\n");
    let pages = check(&project.path("coverage/html"));

    // Lines and branches.
    let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
    let mut branches: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let (mut counted, mut file_path) = (0, String::new());
    for record in fs::read_to_string(project.path("lines.info")).expect("a tracefile").lines() {
        let (kind, value) = record.split_once(':').unwrap_or((record, ""));
        let numbers: Vec<&str> = value.split(',').collect();
        match (kind, numbers.as_slice()) {
            ("SF", [path]) => {
                file_path = (*path).to_owned();
                lines = page_of(&pages, path.rsplit('/').next().expect("a name")).lines();
                branches = lines.keys().map(|line| (*line, (0, 0))).collect();
                counted = 0;
            }
            ("DA", [line, count]) => {
                assert_eq!(lines[&line.parse().expect("a line")].count, count.parse().ok(), "{record}");
                counted += 1;
            }
            ("BRDA", [line, _, _, count]) => {
                let (seen, all) = branches.get_mut(&line.parse().expect("a line")).expect("a line");
                *seen += u64::from(*count != "-" && *count != "0");
                *all += 1;
            }
            ("end_of_record", _) => {
                assert_eq!(lines.values().filter(|line| line.count.is_some()).count(), counted);
                // A tracefile leaves out what lcov refuses: outcomes on lines that did not run, and some that did.
                let said = |(line, outcomes): &(&u32, &(u64, u64))| outcomes.1 > 0 && lines[line].count > Some(0);
                for (line, outcomes) in branches.iter().filter(said) {
                    assert_eq!(lines[line].branches, *outcomes, "line {line}: {:?}", lines[line]);
                }
                let sum = |of: fn(&Line) -> u64| lines.values().map(of).sum::<u64>();
                let file =
                    json["files"].as_array().into_iter().flatten().find(|file| file["path"] == file_path.as_str());
                let shares = &file.expect("the file")["branches"];
                assert_eq!(shares["covered"], sum(|line| line.branches.0), "{file_path}");
                assert_eq!(shares["total"], sum(|line| line.branches.1), "{file_path}");
            }
            _ => {}
        }
    }

    // Files and their sums.
    let overview = &pages["index.html"];
    let columns: Vec<&str> = overview.all("th", "").map(|head| head.text.as_str()).collect();
    let rows: Vec<_> = overview.all("tr", "f").collect();
    let files = json["files"].as_array().expect("files");
    assert_eq!(rows.len(), files.len());
    for file in files {
        let path = file["path"].as_str().expect("a path");
        let row = rows.iter().find(|row| {
            overview.within(row, "a").next().is_some_and(|link| path.ends_with(&format!("/{}", link.text)))
        });
        let cells: Vec<&str> = overview.within(row.expect("a row"), "td").map(|cell| cell.text.as_str()).collect();
        for what in ["Lines", "Functions", "Regions", "Branches", "MC/DC"] {
            let share = |of: &serde_json::Value, part: &str| {
                of[what.to_lowercase().replace('/', "")][part].as_u64().unwrap_or(0)
            };
            let Some(column) = columns.iter().position(|column| *column == what) else {
                assert_eq!(share(&json["total"], "total"), 0, "{what}");
                continue;
            };
            let [covered, total] = ["covered", "total"].map(|part| share(file, part));
            let shown = cells[column - 1].split_once('%').map(|(_, shown)| shown.to_owned()).unwrap_or_default();
            assert_eq!(shown, if total == 0 { String::new() } else { format!("{covered}/{total}") }, "{path} {what}");
        }
    }
    for total in overview.all("div", "total") {
        let what = overview.within(total, "h2").next().expect("a title").text.to_lowercase().replace('/', "");
        let [covered, all] = ["covered", "total"].map(|part| &json["total"][&what][part]);
        assert!(total.text.ends_with(&format!("{covered} of {all}")), "{what}: {}", total.text);
    }
    pages
}

/// Counts, branches and marks in lines; folders that are replaced, and those that are not.
#[test]
fn pages_of_cxx_agree_with_the_tracefile() {
    let project = Project::new(&[source!("a.cc"), source!("b.cc"), source!("lib.h")]);
    project.ok("--coverage c++ -O1 a.cc b.cc -o ours");
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    let pages = compare(&project, "ours.cotree");
    let header = page_of(&pages, "lib.h").lines();
    let instances = header.values().find(|line| line.text.contains("instances")).expect("a template");
    assert!(instances.text.contains("pick<int>(bool, int, int)"), "{instances:?}");
    let overview = &pages["index.html"];
    let facts = overview.all("dl", "facts").next().expect("facts");
    assert!(facts.text.contains("Profileours.cotree") && facts.text.contains(" UTC"), "{}", facts.text);
    let notes: Vec<&str> = overview.all("li", "").map(|note| note.text.as_str()).collect();
    let said = project.cotree("coverage ours.cotree").output().expect("it starts").stderr;
    let said = String::from_utf8(said).expect("text");
    assert!(notes.iter().all(|note| said.contains(note)), "{notes:?} {said}");

    // The pages take the place of older ones, and of nothing else.
    project.ok("coverage --html --ignore-filename-regex lib[.]h$ ours.cotree");
    assert_eq!(check(&project.path("coverage/html")).len(), 3);
    fs::write(project.path("coverage/html/notes.txt"), "mine").expect("a file");
    let refused = project.fails("coverage --html ours.cotree");
    assert!(refused.contains("notes.txt in it was not written by cotree"), "{refused}");
    assert!(project.path("coverage/html/index.html").exists());
    assert!(project.fails("coverage --output-dir out ours.cotree").contains("--html"));
    assert!(project.fails("coverage --html --json ours.cotree").contains("cannot be used with"));

    // A browser of the user's choice opens them.
    fs::write(project.path("browser"), "#!/bin/sh\necho \"$2\" > opened\n").expect("a file");
    succeed(project.command("chmod").args(["+x", "browser"]));
    let mut open = project.cotree("coverage --open --output-dir out ours.cotree");
    succeed(open.env("BROWSER", format!("/nonexistent/browser:{} --new", project.path("browser").display())));
    assert_eq!(fs::read_to_string(project.path("opened")).expect("a page"), "out/html/index.html\n");

    // Texts that were edited or are gone.
    let text = fs::read_to_string(project.path("a.cc")).expect("a text");
    fs::write(project.path("a.cc"), text.lines().take(9).collect::<Vec<_>>().join("\n")).expect("a file");
    fs::remove_file(project.path("b.cc")).expect("a file");
    project.ok("coverage --html --output-dir out ours.cotree");
    let pages = check(&project.path("out/html"));
    let notes =
        |file: &str| page_of(&pages, file).all("ul", "notes").map(|notes| notes.text.clone()).collect::<String>();
    assert!(
        notes("a.cc").contains("edited since the program was built") && notes("a.cc").contains("behind line 9"),
        "{}",
        notes("a.cc")
    );
    assert!(notes("b.cc").contains("The source is not there"), "{}", notes("b.cc"));
    let ranges = page_of(&pages, "b.cc").all("table", "ranges").next().expect("lines by numbers");
    assert!(ranges.text.starts_with("Lines by their numbers"), "{}", ranges.text);
    assert_eq!(notes("lib.h"), "");
}

#[test]
fn pages_of_rust_agree_with_the_tracefile() {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let source = source!("generics.rs").1.replace("#[inline] fn small", "#[inline]\nfn small")
        + "fn excluded(a: bool, b: bool) -> bool { a || b } // LCOV_EXCL_BR_LINE\n\
           fn pattern(o: Option<u32>, n: u32) -> bool { if let Some(k) = o && k > n { true } else { false } }\n";
    let source = source.replace("if n > 5 {", "if n > 5 && pattern(None, excluded(true, n > 2) as u32) {");
    let manifest = manifest.replace("2021", "2024");
    let source = source.replace("fn gen<", "fn generic<").replace("gen(", "generic(");
    let project = Project::new(&[("Cargo.toml", &manifest), ("src/main.rs", &source)]);
    succeed(project.cotree("--coverage --mcdc cargo run --quiet").env("COTREE_FILE", "ours.cotree"));
    let pages = compare(&project, "ours.cotree");
    let page = page_of(&pages, "main.rs");
    let lines = page.lines();
    assert!(lines.values().any(|line| line.class == "u") && lines.values().any(|line| line.class == "r"));
    let line = |text: &str| lines.values().find(|line| line.text.contains(text)).expect("a line");
    assert!(line("fn small").text.contains("MC/DC 2/2") && line("fn small").branches == (4, 4), "{lines:?}");
    assert!(line("if n > 5").text.contains("MC/DC 0/2") && line("if n > 5").branches == (1, 4), "{lines:?}");
    assert!(line("fn pattern").text.contains("MC/DC –") && line("fn pattern").text.contains("with a pattern"));
    assert!(!line("fn excluded").text.contains("MC/DC") && line("fn excluded").branches == (0, 0), "{lines:?}");
    let condition = page.all("span", "c").find(|condition| condition.text == "n > 5").expect("a condition");
    assert_eq!(condition.attribute("title"), "true never, false once");
}

/// What a line has beyond its count: parts that did not run, what the preprocessor leaves out, macros.
#[test]
fn parts_of_lines_are_marked() {
    let source = "#include <stdio.h>\n\
        #define TWICE(x) ((x) ? (x) * 2 : 7)\n\
        static int f(int x, int y) {\n\
        \tif (x && y) return 1; else return 2;\n\
        #ifdef NEVER\n\
        \treturn 3;\n\
        #endif\n\
        }\n\
        int main(void) {\n\
        \tfor (long i = 0; i < 1234567; i++) { }\n\
        \treturn f(1, 0) == 2 && TWICE(1) == 2 ? 0 : 1;\n\
        }\n\
        int never(void) { return 1; } // LCOV_EXCL_LINE\n";
    let project = Project::new(&[("m.c", source)]);
    project.ok("--coverage cc -O1 m.c -o m");
    succeed(project.command(project.path("m")).env("COTREE_FILE", "m.cotree"));
    let pages = compare(&project, "m.cotree");
    let page = page_of(&pages, "m.c");
    let lines = page.lines();
    let classes: Vec<&str> = lines.values().map(|line| line.class.as_str()).collect();
    assert_eq!(classes, ["", "p", "r", "p", "s", "s", "s", "r", "r", "r", "p", "r", "e"], "{lines:?}");
    assert_eq!(pages["index.html"].all("p", "exact").count(), 1);
    assert_eq!((&lines[&4].marks[..], lines[&4].branches), (&["return 1".to_owned()][..], (2, 4)));
    assert!(lines[&4].text.starts_with("\tif (x && y) return 1; else return 2;"), "{:?}", lines[&4]);
    assert!(lines[&11].text.contains("in a macro, line 2"), "{:?}", lines[&11]);
    assert_eq!((lines[&10].count, lines[&11].marks.join("|")), (Some(1_234_568), "1".into()));
    let condition = page.all("span", "c").find(|condition| condition.text == "x").expect("a condition");
    assert_eq!(condition.attribute("title"), "true once, false never");
    let short = page.all("td", "").find(|cell| cell.text == "1,234,568").expect("a count");
    assert_eq!(short.attribute("title"), "1.2 million");
}

/// The decisions of a line: the vectors that occurred, and what they show.
#[test]
fn decisions_stand_at_their_lines() {
    let source = "static int f(int a, int b) {\n\
        \tif (a && b) return 1;\n\
        \treturn 0;\n\
        }\n\
        int main(void) { return f(1, 1) + f(1, 1) + f(0, 1) - 2; }\n";
    let project = Project::new(&[("m.c", source)]);
    project.ok("--coverage --mcdc cc -O1 m.c -o m");
    succeed(project.command(project.path("m")).env("COTREE_FILE", "m.cotree"));
    let pages = compare(&project, "m.cotree");
    let page = page_of(&pages, "m.c");
    let vectors = page.all("table", "vectors").next().expect("vectors");
    assert_eq!(vectors.text, "VectorC1C2decisiontimes1F-F12TTT2");
    let verdicts: Vec<&str> =
        page.within(page.all("ol", "verdicts").next().expect("verdicts"), "li").map(|li| li.text.as_str()).collect();
    assert_eq!(verdicts, ["C1 a: independent by 1 and 2", "C2 b: not shown; missing T F → F"]);
    assert!(page.lines()[&2].text.contains("MC/DC 1/2"));
}

/// The tests that ran a line stand beside it; each set of them is on the page once.
#[test]
fn tests_stand_beside_lines_and_functions() {
    let source = "#include <string.h>\n\
        static int one(void) {\n\
        \treturn 1;\n\
        }\n\
        static int two(void) { return 2; }\n\
        int main(int c, char **v) {\n\
        \tfor (int i = 1; i < c; i++)\n\
        \t\tif (strcmp(v[i], \"two\") ? one() : two()) continue;\n\
        \treturn c == 9;\n\
        }\n";
    let project = Project::new(&[("m.c", source)]);
    project.ok("--coverage cc -O1 m.c -o m");
    let run = |words: &[&str], test: Option<&str>| {
        let mut program = project.command(project.path("m"));
        program.args(words).env("COTREE_FILE", project.path("runs/%n.%p.cotree")).env_remove("COTREE_TEST");
        succeed(program.envs(test.map(|test| ("COTREE_TEST", test))));
    };
    fs::create_dir(project.path("runs")).expect("a folder");
    for (words, test) in [(&["one"][..], "<b>'1'"), (&["two"], "two"), (&["one", "two"], "both"), (&[], "none")] {
        run(words, Some(test));
    }
    project.ok("coverage --html --by-test runs");
    let pages = check(&project.path("coverage/html"));
    let page = page_of(&pages, "m.c");
    let lines = page.lines();
    let tests = |line: u32| lines[&line].tests.as_ref().map(|tests| tests.join(" "));
    for (line, expected) in [
        (1, None),
        (3, Some("<b>'1' both")),
        (5, Some("both two")),
        (8, Some("<b>'1' both two")),
        (9, Some("<b>'1' both none two")),
    ] {
        assert_eq!(tests(line).as_deref(), expected, "line {line}");
    }
    let functions: Vec<Vec<String>> = page
        .all("nav", "side")
        .flat_map(|side| page.within(side, "a").filter(|link| link.is("a", "tests")).map(|link| page.tests(link)))
        .collect();
    assert_eq!(functions, [vec!["<b>'1'", "both"], vec!["both", "two"], vec!["<b>'1'", "both", "none", "two"]]);
    let sets = page.all("details", "sets").next().expect("sets");
    assert_eq!(page.within(sets, "li").count(), 4);
    let rows: Vec<&str> = pages["tests.html"].all("tr", "").skip(1).map(|row| row.text.as_str()).collect();
    assert_eq!(rows, ["<b>'1'8021", "both9031", "none4011", "two6021"]);
    assert!(pages["index.html"].all("a", "").any(|link| link.attribute("href") == "tests.html"));

    // What only a run without a name came to is said to be of no test.
    fs::remove_dir_all(project.path("runs")).expect("removed");
    fs::create_dir(project.path("runs")).expect("a folder");
    run(&["one"], None);
    run(&[], Some("none"));
    project.ok("coverage --html --by-test runs");
    let pages = check(&project.path("coverage/html"));
    let page = page_of(&pages, "m.c");
    assert_eq!((page.lines()[&3].count, page.lines()[&3].tests.as_ref()), (Some(1), None));
    assert!(page.all("span", "").any(|span| span.attribute("title") == "No test with a name"));
}

/// Names and texts that would be code, or command a terminal, stay text.
#[test]
fn hostile_names_and_texts_are_text() {
    let project = Project::new(&[]);
    let long = "x".repeat(100_000);
    let names = ["<script>.c", "a b.c", "a-b.c", "two\nlines.c", "%2e%2e.c", "q\"'&amp;.c", "d/../d/up.c"];
    fs::create_dir(project.path("d")).expect("a folder");
    let mut build = project.cotree("--coverage cc -O1 -w main.c -o m");
    let mut main = String::from("int main(void) { int sum = 0;\n");
    for (number, name) in names.iter().enumerate() {
        let text = format!(
            "/* </script><script>alert(1)</script> <!-- & &lt; \u{202e} \u{1b}[31m \x07 */\r\n\
             int f{number}(int x) {{ return x\t? 1 : 2; }} // </td></table> ü€\r\n\
             // {long}\r\n\
             const char *s{number} = \"</textarea><img src=x onerror=alert(1)>\"; "
        );
        let mut bytes = text.into_bytes();
        bytes.extend(b"// \xff\xfe\xc3\n");
        fs::write(project.path(name), bytes).expect("a file");
        build.arg(name);
        main += &format!("int f{number}(int); sum += f{number}({number});\n");
    }
    fs::write(project.path("main.c"), main + "return sum == 0; }\n").expect("a file");
    succeed(&mut build);
    succeed(project.command(project.path("m")).env("COTREE_FILE", "m.cotree"));
    let pages = compare_names(&project, &names);
    for (path, page) in pages.iter().filter(|(path, _)| path.starts_with("files/") && !path.contains("main.c")) {
        let lines = page.lines();
        assert!(lines[&1].text.starts_with("/* </script><script>alert(1)</script> <!-- & &lt; � ␛[31m ␇ */"), "{path}");
        assert!(lines[&2].text.starts_with("int f") && lines[&2].text.contains("x\t? 1 : 2; } // </td></table> ü€"));
        assert_eq!((lines[&2].count, lines[&2].class.as_str()), (Some(1), "p"), "{path}");
        assert!(lines[&3].text.ends_with(" … 80,003 more bytes"), "{path}");
        assert!(lines[&4].text.ends_with("// ���"), "{path}: {}", lines[&4].text);
        assert_eq!(page.all("img", "").count() + page.all("textarea", "").count(), 0);
        assert_eq!(page.all("script", "").count(), 2);
    }
}

/// Writes pages; each of the files has one, and is called by its name.
fn compare_names(project: &Project, names: &[&str]) -> BTreeMap<String, Page> {
    project.ok("coverage --html m.cotree");
    let pages = check(&project.path("coverage/html"));
    assert_eq!(pages.len(), names.len() + 2, "{:?}", pages.keys());
    let overview = &pages["index.html"];
    let links: Vec<&str> = overview.all("a", "").map(|link| link.text.as_str()).collect();
    for name in names {
        let shown = name.replace('\n', "␊").replace("d/../d", "d");
        assert!(links.contains(&shown.as_str()), "{shown}: {links:?}");
    }
    pages
}
