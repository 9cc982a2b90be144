//! Names, paths and command lines that would command a terminal, or make lines that look like a report's own.

use crate::project::Project;
use cotree_report::export::FORMATS;
use std::fs;

const SOURCE: &str = "#include <stdio.h>
int quoted(int x) __asm__(\"quo\\\"te;semi<lt>&amp{br}|\\\\back\");
int broken(int x) __asm__(\"line\\nexact: FORGED\\x1b[31mred\\x1b[0m\\rback\");
int escape(int x) __asm__(\"esc\\x1b]0;title\\x07\");
# 100 \"dir/ev\\033[32mil\\nexact: FORGED.c\"
int quoted(int x) { return x > 3 ? x * 2 : x + 1; }
int broken(int x) { int s = 0; for (int i = 0; i < x; i++) s += quoted(i); return s; }
# 200 \"real\\nexact: FORGED.c\"
int escape(int x) { return broken(x) + quoted(x); }
int main(int argc, char **argv) { printf(\"%d\\n\", escape(argc + 9)); return 0; }
";

const FOLDER: &str = "ev\x1b[31mil\nexact: FORGED";
const PROGRAM: &str = "pro\x1b[32mg\nexact: FORGED";

/// No line is forged, and nothing but our own colours commands the terminal.
fn harmless(what: &str, text: &str) {
    for line in text.lines() {
        assert!(!line.starts_with("exact: FORGED"), "{what}: {text}");
        // What we write in colours is painted as a whole, and then the colours end.
        for part in line.split('\x1b').skip(1) {
            assert!(
                ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"].iter().any(|own| part.starts_with(own)),
                "{what}: {line:?}"
            );
            let says = part.split_once('m').map_or("", |(_, text)| text);
            assert!(!says.starts_with("il") && !says.starts_with("red") && !says.starts_with("g␊"), "{what}: {line:?}");
        }
    }
    assert!(!text.contains(['\r', '\x07']), "{what}: {text:?}");
}

#[test]
fn names_forge_no_lines() {
    let source = "int line_1;\n\x1b[31mred\x1b[0m\n".repeat(101);
    let project = Project::new(&[("p.c", SOURCE)]);
    let folder = project.path(FOLDER);
    fs::create_dir(&folder).expect("a folder");
    fs::copy(project.path("p.c"), folder.join("p.c")).expect("a file");
    fs::write(folder.join("real\nexact: FORGED.c"), source).expect("a file");
    let run = |words: &[&str]| {
        let mut command = project.cotree("");
        let output = command.current_dir(&folder).args(words).output().expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let edge = ["cc", "-g", "-O0", "p.c", "-o"];
    for (options, program) in [
        (vec![], PROGRAM),
        (vec!["--coverage"], "covered"),
        (vec!["--profile", "path"], "paths"),
        (vec!["--profile", "trace"], "trace"),
    ] {
        assert!(run(&[&options[..], &edge, &[program]].concat()).0);
        let mut started = project.command(folder.join(program));
        started
            .current_dir(&folder)
            .env("COTREE_FILE", format!("{program}.cotree"))
            .arg("arg\nexact: FORGED \x1b[31mred");
        assert!(started.output().expect("it runs").status.success());
    }
    let profile = format!("{PROGRAM}.cotree");
    for words in [
        "report -v",
        "report --color always",
        "report -f line --width 50",
        "annotate",
        "annotate --color always",
        "costs",
        "cfg =main",
        "plan --explain main",
    ] {
        let mut words: Vec<&str> = words.split(' ').collect();
        let last = if words[0] == "plan" { PROGRAM } else { &profile };
        words.push(last);
        let (well, out, notes) = run(&words);
        assert!(well, "{words:?}: {notes}");
        harmless(words[0], &(out + &notes));
    }
    let shown = run(&["annotate", &profile]).1;
    assert!(shown.contains("real␊exact: FORGED.c") && shown.contains("␛[31mred␛[0m"), "{shown}");
    for words in [
        "coverage --show-missing-lines --color always covered.cotree",
        "coverage --lcov covered.cotree",
        "paths paths.cotree",
        "paths -v --color always paths.cotree",
        "trace trace.cotree",
        "trace --by line trace.cotree",
        "trace --by call trace.cotree",
        "trace",
    ] {
        let (well, out, notes) = run(&words.split(' ').collect::<Vec<_>>());
        assert!(well, "{words}: {notes}");
        harmless(words, &(out + &notes));
    }
    // Errors, and what they quote.
    for words in [
        ["report", "no\nexact: FORGED\x1b[31mred"],
        ["verify", &profile],
        ["paths", &profile],
        ["trace", &profile],
        ["plan", "no\nexact: FORGED"],
        ["run", "./no\nexact: FORGED"],
    ] {
        let (well, out, notes) = run(&words);
        assert!(!well, "{words:?}");
        harmless(words[0], &(out + &notes));
    }
    // Formats that have escapes hold the names as they are, all others have no line more than without them.
    for format in FORMATS.iter().filter(|format| !format.escapes).map(|format| format.name) {
        let profile = if format == "llvm-profdata" { "covered.cotree" } else { &profile };
        let (well, out, notes) = run(&["export", "--format", format, "--absent-sources", profile]);
        assert!(well, "{format}: {notes}");
        harmless(format, &(out.clone() + &notes));
        assert!(!out.contains('\x1b'), "{format}: {out:?}");
    }
    for format in ["json", "speedscope", "firefox-profiler"] {
        let (_, out, _) = run(&["export", "--format", format, &profile]);
        let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert!(value.to_string().contains(r"exact: FORGED\u001b[31mred"), "{value}");
    }
    let (_, out, _) = run(&["export", "--format", "weights", &profile]);
    assert!(out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{out}");
    let (_, out, _) = run(&["cfg", "=quo\"te;semi<lt>&amp{br}|\\back", &profile]);
    assert!(out.contains(r#"label="quo\"te;semi<lt>&amp{br}|\\back\n"#), "{out}");
}
