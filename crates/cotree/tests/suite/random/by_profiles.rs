//! Random programs compiled by profiles (`--use`): they do the same by the profile of their own run, by that of a run
//! with other data, by that of a program with other functions of the same names, and by one whose counts and targets of
//! calls are damaged.

use super::functions::Random;
use super::programs::{self, Program};
use super::{keeping, seeds};
use crate::project::{Project, succeed};
use std::fs;
use std::process::{ExitStatus, Stdio};

/// How programs are built, as what is counted and as what is compiled by it.
const BUILDS: [(&str, &str); 6] =
    [("-O2", "-O2"), ("-O2", "-O2 -flto"), ("-O1", "-O1"), ("-O3", "-O3 -flto=thin"), ("-Os", "-Os"), ("-O0", "-O0")];

/// What a program reads in the beginning: other data take other paths.
const DATA: &str = "(i * 167 + 13)";

/// A program that runs longer than this does not do what it did.
const DEADLINE: &str = "60";

/// Compiles by profiles; gives how many were tried.
fn check_program(seed: u64) -> usize {
    let (counted, used) = BUILDS[usize::try_from(seed).expect("small") % BUILDS.len()];
    // Where something is counted by `--for-pgo`, the builds that use it see that by the profile.
    let (of_all, of_counting) = match seed % 5 {
        4 => ("--at early", ""),
        1 => ("", "--for-pgo"),
        3 => ("", "--at inlined"),
        _ => ("", ""),
    };
    let ours = programs::program(seed, false);
    // Its functions have the names of ours, and so has what it needs of the language.
    let Some(other) = (1..).map(|more| programs::program(seed + 1000 * more, false)).find(|o| o.cxx == ours.cxx) else {
        unreachable!("there are enough")
    };
    let (driver, name) = if ours.cxx { ("c++", "p.cpp") } else { ("cc", "p.c") };
    keeping(Project::new(&[]), |project| {
        let build = |text: &str, options: &str, level: &str, program: &str| {
            fs::write(project.path(name), text).expect("a file");
            let line = format!("{options} {of_all} {driver} {level} -g -w -pthread -o {program} {name}");
            let output = project.cotree(&line).output().expect("cotree starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "seed {seed}, {line}: {said}");
        };
        let run = |program: &str| -> (String, ExitStatus) {
            let mut command = project.command("timeout");
            command.arg(DEADLINE).arg(project.path(program)).stderr(Stdio::null());
            let output = command.env("COTREE_FILE", format!("{program}.cotree")).output().expect("it starts");
            (String::from_utf8(output.stdout).expect("text"), output.status)
        };
        build(&ours.text, "--profile none", counted, "plain");
        let truth = run("plain");
        let weights = |what: &str, text: &str| {
            build(text, &format!("--targets {of_counting}"), counted, what);
            run(what);
            project.ok(&format!("export --format weights {what}.cotree"))
        };
        let own = weights("own", &ours.text);
        let profiles = [
            ("own", own.clone()),
            ("data", weights("data", &with_other_data(&ours))),
            ("changed", weights("changed", &with_more_code(&ours))),
            ("other", weights("other", &other.text)),
            ("hostile", damaged(&own, seed)),
        ];
        for (what, weights) in &profiles {
            fs::write(project.path("weights"), weights).expect("a file");
            build(&ours.text, "--use weights", used, "used");
            assert_eq!(run("used"), truth, "seed {seed}, {used} {of_all} {of_counting}, by the profile `{what}`");
        }
        refuses_damaged_files(project, &ours, driver, name, seed);
        profiles.len()
    })
}

/// The program, over other data.
fn with_other_data(program: &Program) -> String {
    assert!(program.text.contains(DATA));
    program.text.replace(DATA, "(i * 91 + 200)")
}

/// A later version of the program: some lines more in each function that others may call.
fn with_more_code(program: &Program) -> String {
    let (mut text, mut inside) = (String::new(), false);
    for line in program.text.lines() {
        text += line;
        text.push('\n');
        inside |= line.contains(" f") && line.ends_with("u8 *out) {");
        if inside && line.ends_with('{') {
            inside = false;
            text += "    if (n == 123456789) {\n        marks[3] += 2;\n        return 7;\n    }\n";
        }
    }
    text
}

/// A weights file with some counts replaced, by numbers of all sizes, and some targets of calls, by other functions and
/// by none.
fn damaged(weights: &str, seed: u64) -> String {
    let mut random = Random(seed ^ 0xDA3A6E);
    let mut text = String::new();
    for line in weights.lines() {
        let Some((head, counts)) = line.split_once("\"blocks\":") else {
            text += &format!("{line}\n");
            continue;
        };
        let (counts, rest) = counts.split_once("],\"build\"").expect("counts, then the build");
        let rest = with_other_targets(rest, &mut random);
        text += &format!("{head}\"blocks\":");
        for piece in counts.split_inclusive([',', '[', ']']) {
            let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let replaced = digits > 0 && random.one_in(3);
            if replaced {
                let bits = random.below(65);
                let number = random.next().checked_shr(u32::try_from(bits).expect("small")).unwrap_or(0);
                text += &number.to_string();
                text += &piece[digits..];
            } else {
                text += piece;
            }
        }
        text += &format!("],\"build\"{rest}\n");
    }
    text
}

/// Functions of all types, some of which a program has.
const OTHERS: [&str; 10] = ["f0", "f1", "f2", "leaf0", "leave", "main", "printf", "rounds", "no such function", ""];

fn with_other_targets(text: &str, random: &mut Random) -> String {
    const SYMBOL: &str = "{\"symbol\":\"";
    const COUNT: &str = "\",\"count\":";
    let mut pieces = text.split(SYMBOL);
    let mut changed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (symbol, rest) = piece.split_once(COUNT).expect("a symbol, then its count");
        let (count, rest) = rest.split_once('}').expect("the count comes last");
        let symbol = if random.one_in(2) { random.of(&OTHERS) } else { symbol };
        let bits = u32::try_from(random.below(65)).expect("small");
        let number = random.next().checked_shr(bits).unwrap_or(0).to_string();
        let count = if random.one_in(4) { &number } else { count };
        let target = format!("{SYMBOL}{symbol}{COUNT}{count}}}");
        // Some stand there twice.
        let again = if random.one_in(5) { format!(",{target}") } else { String::new() };
        changed += &format!("{target}{again}{rest}");
    }
    changed
}

/// Damaged profiles of a run that are read at all are as good as any.
fn refuses_damaged_files(project: &Project, program: &Program, driver: &str, name: &str, seed: u64) {
    let mut random = Random(seed ^ 0xF11E);
    let mut bytes = fs::read(project.path("own.cotree")).expect("a profile");
    let at = usize::try_from(random.below(bytes.len() as u64)).expect("small");
    if random.one_in(2) {
        bytes.truncate(at);
    } else {
        bytes[at] ^= 1 << random.below(8);
    }
    fs::write(project.path("damaged.cotree"), bytes).expect("a file");
    fs::write(project.path(name), &program.text).expect("a file");
    let line = format!("--use damaged.cotree {driver} -O2 -w -pthread -o damaged {name}");
    let output = project.cotree(&line).output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        succeed(project.command("test").arg("-x").arg(project.path("damaged")));
    } else {
        assert!(said.contains("damaged.cotree") && !said.contains("panicked"), "seed {seed}: {said}");
        assert!(!project.path("damaged").exists(), "seed {seed}: a refused profile makes no program");
    }
}

/// Seeds 0 to 7, unless the environment says `COTREE_BY_PROFILES=100..400`.
fn check_seeds(belongs: impl Fn(u64) -> bool) {
    let seeds = seeds("COTREE_BY_PROFILES", 0..8);
    let (programs, tried) = seeds
        .filter(|&seed| belongs(seed))
        .fold((0, 0), |(programs, tried), seed| (programs + 1, tried + check_program(seed)));
    println!("{programs} programs; compiled by {tried} profiles");
    assert!(programs > 0 && tried == programs * 5);
}

#[test]
fn random_programs_by_profiles_1() {
    check_seeds(|seed| seed % 2 == 1);
}

/// Beside the other.
#[test]
fn random_programs_by_profiles_2() {
    check_seeds(|seed| seed % 2 == 0);
}
