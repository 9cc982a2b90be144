//! Programs compiled by a profile (`--use`): nothing is counted, and they do what they did, whatever the profile says.

use crate::project::{Project, succeed};
use std::fs;

/// A switch, loops, calls through pointers, `longjmp`, and code that no run reaches; the argument chooses what is hot.
const PROGRAM: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#define ALONE __attribute__((noinline)) static
static jmp_buf out;
ALONE long add(long x) { return x + 3; }
ALONE long twice(long x) { return x * 2 % 1000003; }
ALONE long jump(long x) { if (x % 97 == 5) longjmp(out, (int)(x % 7) + 1); return x ^ 1; }
ALONE long never(long x) { long sum = 0; for (int i = 0; i < x; i++) sum += i * x; return sum; }
static long (*const operations[])(long) = {add, twice, jump};
ALONE long step(int kind, long x) {
    switch (kind) {
    case 0: return add(x);
    case 1: return twice(x) + 1;
    case 2: case 3: return x / 2;
    case 7: return never(x);
    default: return operations[x % 3](x);
    }
}
ALONE int collatz(unsigned long n) { int steps = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } return steps; }
ALONE long all(int kind, int n) {
    volatile long sum = 1;
    for (volatile int i = 1; i < n; i++) {
        int code = setjmp(out);
        sum += code ? code : step(i % 2 ? kind : 5, sum & 65535) + collatz(i);
    }
    return sum;
}
int main(int argc, char **argv) { printf("%ld\n", all(argc > 1 ? atoi(argv[1]) : 0, 4000)); return 0; }
"#;

/// A program with the profile of a run with this argument.
fn profiled(argument: &str) -> Project {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O2 -g -w -o counted p.c");
    let mut run = project.command(project.path("counted"));
    assert!(run.arg(argument).env("COTREE_FILE", "p.cotree").status().expect("it runs").success());
    project
}

/// What a program says for each of some arguments.
fn outputs(project: &Project, program: &str) -> Vec<String> {
    let run = |argument: &str| {
        let output = project.command(project.path(program)).arg(argument).output().expect("it runs");
        assert!(output.status.success(), "{program} {argument}");
        String::from_utf8(output.stdout).expect("text")
    };
    ["0", "1", "2", "4", "7"].map(run).to_vec()
}

/// Builds by a profile; what the build says.
fn build(project: &Project, options: &str, program: &str) -> String {
    let output = project.cotree(&format!("{options} cc -O2 -w -o {program} p.c")).output().expect("cotree starts");
    // GNU ld prints what plugins warn of to standard output.
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
    assert!(!project.is_profiled(program), "nothing is counted");
    said
}

#[test]
fn programs_do_the_same_whatever_profile_they_are_compiled_by() {
    let project = profiled("1");
    build(&project, "--profile none", "plain");
    let truth = outputs(&project, "plain");
    assert_eq!(build(&project, "--use p.cotree", "used"), "", "each function has its counts");
    assert_eq!(outputs(&project, "used"), truth);
    assert_ne!(fs::read(project.path("used")).ok(), fs::read(project.path("plain")).ok(), "counts tell LLVM something");
    build(&project, "--use p.cotree --at early", "early");
    assert_eq!(outputs(&project, "early"), truth);

    // Counts that no run can have, of the right graphs.
    let weights = project.ok("export --format weights p.cotree");
    for count in ["0", "1", "4294967295", "9223372036854775807", "18446744073709551615"] {
        let hostile: String = (weights.lines().enumerate())
            .map(|(number, line)| {
                let Some((head, counts)) = line.split_once("\"blocks\":") else { return format!("{line}\n") };
                let (counts, rest) = counts.split_once("],\"build\"").expect("counts, then the build");
                let (mut digit, mut changed) = (0, String::new());
                let mut inside = false;
                for c in counts.chars() {
                    match (c.is_ascii_digit(), inside) {
                        (true, false) => {
                            digit += 1;
                            changed.push_str(if (digit + number) % 3 == 0 { "2" } else { count });
                        }
                        (true, true) => {}
                        (false, _) => changed.push(c),
                    }
                    inside = c.is_ascii_digit();
                }
                format!("{head}\"blocks\":{changed}],\"build\"{rest}\n")
            })
            .collect();
        fs::write(project.path("hostile"), hostile).expect("a file");
        build(&project, "--use hostile", "used");
        assert_eq!(outputs(&project, "used"), truth, "{count}");
    }
    // As many numbers as it pleases.
    let short: String =
        weights.lines().map(|line| format!("{}\n", line.replacen("\"blocks\":[", "\"blocks\":[5,", 1))).collect();
    fs::write(project.path("hostile"), short).expect("a file");
    build(&project, "--use hostile", "used");
    assert_eq!(outputs(&project, "used"), truth);
}

/// The rows of a view's lists in which a word stands, words apart.
fn rows(text: &str, word: &str) -> Vec<Vec<String>> {
    let rows = text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.filter(|row| row.iter().any(|cell| cell == word)).collect()
}

#[test]
fn functions_that_have_changed_get_a_guess_which_is_said() {
    let project = profiled("0");
    let changed = PROGRAM.replace("return x / 2;", "while (x % 5 == 1) x = add(x); return x / 2;");
    fs::write(project.path("p.c"), &changed).expect("a file");
    build(&project, "--profile none", "plain");
    let said = build(&project, "--use p.cotree", "used");
    assert!(said.contains("1 have changed since the profile (step); 1 of these have guessed counts"), "{said}");
    assert_eq!(outputs(&project, "used"), outputs(&project, "plain"));
    let view = project.ok("report --stale used");
    let [step] = &rows(&view, "step")[..] else { panic!("{view}") };
    // The loop is new; where it is called, and all other calls, are as they were.
    let [how, known, _, blocks, ..] = &step[..] else { panic!("{view}") };
    let [known, blocks] = [known, blocks].map(|number| number.parse::<u32>().expect("a number"));
    assert!(how == "guessed" && known < blocks && known + 4 >= blocks, "{view}");
    assert!(view.contains("guess"), "{view}");

    // Lines that moved are the only difference: no guess is needed for the rest, and none is made of the graph.
    let commented = PROGRAM.replace("    case 1: return", "    // Twice.\n    case 1: return");
    fs::write(project.path("p.c"), commented).expect("a file");
    let said = build(&project, "--use p.cotree", "used");
    assert!(said.contains("(step); 1 of these have guessed counts"), "{said}");
    let view = project.ok("report --stale used -f step");
    let [step] = &rows(&view, "step")[..] else { panic!("{view}") };
    assert_eq!(step[1], step[3], "all blocks are known: {view}");

    let said = project.fails("report --stale plain");
    assert!(said.contains("was not compiled by a profile"), "{said}");
}

/// What other calls a function makes is another function, although it has the same graph.
#[test]
fn functions_of_the_same_graph_that_call_others_are_others() {
    let project = profiled("0");
    let changed = PROGRAM.replace("case 1: return twice(x) + 1;", "case 1: return add(x) + 1;");
    fs::write(project.path("p.c"), &changed).expect("a file");
    build(&project, "--profile none", "plain");
    let said = build(&project, "--use p.cotree", "used");
    assert!(said.contains("1 have changed since the profile (step)"), "{said}");
    assert_eq!(outputs(&project, "used"), outputs(&project, "plain"));
}

/// Ten thousand runs of three versions of a program, in one profile.
#[test]
fn the_profile_of_many_runs_of_several_builds() {
    let project = Project::new(&[]);
    let versions = [
        PROGRAM.to_owned(),
        PROGRAM.replace("return x / 2;", "if (x % 5 == 1) x = add(x); return x / 2;"),
        PROGRAM.replace("return x / 2;", "if (x % 5 == 1) x = add(x); return x / 3;").replace(
            "ALONE long add(long x) {",
            "ALONE long twice(long x);\nALONE long add(long x) { if (x > 60000) x = twice(x);",
        ),
    ];
    for (number, text) in versions.iter().enumerate() {
        fs::write(project.path("p.c"), text).expect("a file");
        project.ok(&format!("cc -O2 -g -w -o version{number} p.c"));
        let profile = format!("{number}.cotree");
        let mut run = project.command(project.path(&format!("version{number}")));
        assert!(run.arg("0").env("COTREE_FILE", profile).status().expect("it runs").success());
    }
    let merge = |output: &str, inputs: &str| {
        project.ok(&format!("merge --several-units -o {output} {inputs}"));
    };
    let times = |count: usize, inputs: &str| vec![inputs; count].join(" ");
    merge("m30.cotree", &times(10, "0.cotree 1.cotree 2.cotree"));
    merge("m300.cotree", &times(10, "m30.cotree"));
    merge("m3000.cotree", &times(10, "m300.cotree"));
    let rest = format!("{} {} {}", times(3, "m300.cotree"), times(3, "m30.cotree"), times(10, "2.cotree"));
    merge("all.cotree", &format!("{} {rest}", times(3, "m3000.cotree")));

    build(&project, "--profile none", "plain");
    assert_eq!(build(&project, "--use all.cotree", "used"), "", "the last version is one of those that ran");
    assert_eq!(outputs(&project, "used"), outputs(&project, "plain"));
    let view = project.ok("report --stale used --verbose");
    assert!(view.starts_with("used, compiled by all.cotree\n"), "{view}");
    let runs: Vec<u32> = (0..3)
        .map(|number| {
            let [row] = &rows(&view, &format!("version{number}"))[..] else { panic!("{view}") };
            row[2].replace(',', "").parse().expect("a number")
        })
        .collect();
    assert_eq!((runs.iter().sum::<u32>(), &runs[..2]), (10_000, &[3330, 3330][..]), "{view}");
    // From all builds, from the second and the third, and from the third alone.
    for (function, from) in [("collatz", 3), ("step", 2), ("add", 1), ("twice", 3)] {
        let [row] = &rows(&view, function)[..] else { panic!("{view}") };
        let letters = row[4..].iter().take_while(|cell| cell.len() == 1).count();
        assert_eq!((&*row[0], letters), ("counted", from), "{function}: {view}");
    }
    let counted = |weights: &str, symbol: &str| -> u64 {
        let lines = weights.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.filter(|line| line["symbol"] == symbol).filter_map(|line| line["blocks"][0].as_u64()).sum()
    };
    let [one, other, last, all] = ["0", "1", "2", "all"]
        .map(|name| counted(&project.ok(&format!("export --format weights {name}.cotree")), "collatz"));
    assert_eq!(all, 3330 * (one + other) + 3340 * last);
    assert!(one > 0 && last > 0);
}

/// One profile for all that a build system links: a library that it does not know, and a helper program.
#[test]
fn links_that_the_profile_does_not_know_are_compiled_without_it() {
    let project = profiled("0");
    let renamed = ["add", "twice", "jump", "never", "step", "collatz", "all", "main"]
        .iter()
        .fold(PROGRAM.to_owned(), |text, name| text.replace(&format!("{name}("), &format!("{name}_of_another(")));
    let renamed = renamed.replace("{add, twice, jump}", "{add_of_another, twice_of_another, jump_of_another}");
    fs::write(
        project.path("p.c"),
        format!("{renamed}\nint main(int n, char **v) {{ return main_of_another(n, v); }}\n"),
    )
    .expect("a file");
    let said = project.fails("--use other cc -O2 -w -o used p.c");
    assert!(said.contains("cannot read"), "{said}");
    // Of its nine functions `main` alone has a namesake: that is little, but it may be a program that has changed much.
    project.ok("--use p.cotree cc -O2 -w -o used p.c");
    let flags = "-O2 -w -fPIC -shared -Dmain=main_of_yet_another -Wl,--build-id=none";
    let library = |options: &str, name: &str| project.ok(&format!("{options} cc {flags} -o {name} p.c"));
    let said = library("--use p.cotree", "used.so");
    let sentence =
        "used.so is compiled without counts: p.cotree is a profile of other programs and has none of its 9 functions";
    assert_eq!(said.matches("is compiled without counts").count(), 1, "{said}");
    assert!(said.contains(sentence), "{said}");
    let view = project.ok("report --stale used.so");
    assert_eq!(rows(&view, "unknown")[0][1], "9", "{view}");
    // The code is that of a build without a profile.
    library("--profile none", "plain.so");
    let code = |name: &str| {
        let bytes = fs::read(project.path(name)).expect("a library");
        let elf = object::File::parse(&*bytes).expect("an ELF file");
        object::Object::section_by_name(&elf, ".text")
            .and_then(|section| object::ObjectSection::data(&section).ok().map(<[u8]>::to_vec))
            .expect("code")
    };
    assert_eq!(code("used.so"), code("plain.so"));
    // Whoever wants no such link says so to the linker.
    let strict = format!("--use p.cotree cc {flags} -Wl,--fatal-warnings -o strict.so p.c");
    let said = project.cotree(&strict).output().expect("cotree starts");
    assert!(!said.status.success() && !project.path("strict.so").exists(), "a warning is an error then");

    fs::write(project.path("helper.c"), "int help(int n) { return n * 3; }").expect("a file");
    let said = project.ok("--use p.cotree cc -O2 -fPIC -shared -o helper.so helper.c");
    assert!(
        said.contains("helper.so is compiled without counts") && said.contains("does not have its only function"),
        "{said}"
    );

    // A folder has the profiles of both.
    fs::create_dir(project.path("profiles")).expect("a folder");
    fs::copy(project.path("p.cotree"), project.path("profiles/p.cotree")).expect("a profile");
    project.ok(&format!("cc {flags} -g -o counted.so p.c"));
    fs::write(
        project.path("caller.c"),
        "int main_of_yet_another(int, char **); int main(int n, char **v) { return main_of_yet_another(n, v); }",
    )
    .expect("a file");
    project.ok("--profile none cc -o caller caller.c ./counted.so");
    let run = project.command(project.path("caller")).env("COTREE_FILE", "profiles/so.cotree").status();
    assert!(run.expect("it runs").success());
    assert_eq!(library("--use profiles", "used.so"), "");
    fs::write(project.path("p.c"), PROGRAM).expect("a file");
    assert_eq!(build(&project, "--use profiles", "used"), "");
    let said = project.fails("--use p.cotree --profile edge cc -O2 -w -o used p.c");
    assert!(said.contains("counts nothing"), "{said}");
}

/// How often a constant stands in a program: in each function that has it, and in each that one was inlined into.
fn occurrences(project: &Project, program: &str, constant: u32) -> usize {
    let bytes = fs::read(project.path(program)).expect("a program");
    bytes.windows(4).filter(|word| *word == constant.to_le_bytes()).count()
}

#[test]
fn usual_targets_of_pointers_are_called_directly() {
    let source = include_str!("../programs/promoted.cpp");
    let project = Project::new(&[("p.cpp", source)]);
    let run = |program: &str, arguments: &[&str]| {
        succeed(project.command(project.path(program)).args(arguments).env("COTREE_FILE", "p.cotree"))
    };
    let arguments: [&[&str]; 3] = [&[], &["3001"], &["3000", "others"]];
    let outputs = |program: &str| arguments.map(|arguments| run(program, arguments));
    for (number, options) in ["-O2", "-O2 -flto", "--at early -O2", "-Os", "-O0"].into_iter().enumerate() {
        let (early, level) = options.strip_prefix("--at early").map_or(("", options), |level| ("--at early", level));
        let build = |options: &str, program: &str| {
            project.ok(&format!("{options} {early} c++ {level} -w -o {program} p.cpp"));
        };
        build("--profile none", "plain");
        let truth = outputs("plain");
        build("--targets", "counted");
        run("counted", &[]);
        build("--use p.cotree", "used");
        assert_eq!(outputs("used"), truth, "{options}");
        for constant in [0x1234_5677, 0x0135_7135] {
            let [plain, used] = ["plain", "used"].map(|program| occurrences(&project, program, constant));
            assert_eq!(used > plain, level != "-O0", "{options}: {constant:x} stands {used} times, {plain} before");
        }
        let known = project.ok("report --stale used").contains("calls through pointers");
        assert!(known, "{options}");
        if number == 0 {
            // Without targets nothing is made of them.
            build("", "counted");
            run("counted", &[]);
            build("--use p.cotree", "used");
            assert!(!project.ok("report --stale used").contains("through pointers"));
            assert_eq!(outputs("used"), truth);
            build("--targets", "counted");
            run("counted", &[]);
        }
        // Whatever else the profile names, of whatever type: each function in turn at each call.
        let weights = project.ok("export --format weights p.cotree");
        let mut symbols: Vec<String> = (weights.lines().skip(1))
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).expect("JSON")["symbol"]
                    .as_str()
                    .expect("a name")
                    .into()
            })
            .collect();
        symbols.extend(["puts".into(), "no such function".into()]);
        let marker = "{\"symbol\":\"";
        for shift in (0..symbols.len()).step_by(if number == 0 { 1 } else { 7 }) {
            let mut next = symbols.iter().cycle().skip(shift);
            let mut hostile = String::new();
            for (number, piece) in weights.split(marker).enumerate() {
                // The second piece begins the first function: lines do so as targets do.
                let is_target = number > 0 && !hostile.ends_with('\n');
                let rest = if is_target { piece.split_once('"').expect("a symbol").1 } else { piece };
                let symbol = if is_target { next.next().map_or("", |symbol| symbol) } else { "" };
                hostile += &match (number, is_target) {
                    (0, _) => piece.to_owned(),
                    (_, true) => format!("{marker}{symbol}\"{rest}"),
                    (_, false) => format!("{marker}{rest}"),
                };
            }
            assert_ne!(hostile, weights);
            fs::write(project.path("hostile"), hostile).expect("a file");
            build("--use hostile", "used");
            assert_eq!(outputs("used"), truth, "{options}, {shift}");
        }
    }
}

/// Modules with local functions of one name, and a call in one that leads to those of both and to one that all see.
#[test]
fn targets_in_other_modules_are_found_across_modules() {
    let caller = r#"
#include <stdio.h>
typedef long op(long);
long outside(long x);
extern op *const theirs;
static long local(long x) { return x * 5 ^ 0x1357135; }
static op *volatile ours[6];
__attribute__((noinline)) long dispatch(int n) { unsigned long s = 1; for (int i = 0; i < n; i++) s += ours[i % 6](s); return s; }
int main(void) {
    ours[0] = ours[1] = outside; ours[2] = ours[3] = theirs; ours[4] = ours[5] = local;
    printf("%ld\n", dispatch(6000));
    return 0;
}
"#;
    let called = r#"
typedef long op(long);
static long local(long x) { return x * 9 ^ 0x2468ACE; }
op *const theirs = local;
long outside(long x) { return x * 3 ^ 0x7654321; }
"#;
    let project = Project::new(&[("a.c", caller), ("b.c", called)]);
    let files = "a.c b.c";
    project.ok(&format!("--targets cc -O2 -o counted {files}"));
    let truth = succeed(project.command(project.path("counted")).env("COTREE_FILE", "p.cotree"));
    for (options, across) in [("-O2", false), ("-O2 -flto", true), ("-O1", false)] {
        project.ok(&format!("--profile none cc {options} -o plain {files}"));
        project.ok(&format!("--use p.cotree cc {options} -o used {files}"));
        assert_eq!(succeed(&mut project.command(project.path("used"))), truth, "{options}");
        let more = [0x0135_7135, 0x0246_8ACE, 0x0765_4321].map(|constant| {
            let [plain, used] = ["plain", "used"].map(|program| occurrences(&project, program, constant));
            used > plain
        });
        assert_eq!(more, [true, across, across], "{options}");
    }
}
