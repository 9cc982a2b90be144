//! Loops count the turns that the source makes: neither the compiler's vectoriser nor its unroller comes before the
//! counters, and what decides that is checked when a program is linked.

use crate::project::{Project, succeed};
use cotree_core::method::METHODS;
use std::fs;
use std::process::Command;

macro_rules! finding {
    ($name:literal) => {
        include_str!(concat!("../programs/findings/", $name))
    };
}

/// The lines of a source whose comment is their count.
fn expected(source: &str) -> Vec<(usize, u64)> {
    let count = |line: &str| line.rsplit_once("// ")?.1.parse().ok();
    let lines: Vec<_> = (1..).zip(source.lines()).filter_map(|(n, line)| Some((n, count(line)?))).collect();
    assert!(lines.len() > 2);
    lines
}

/// The profile has the counts that the source's comments tell.
fn check(project: &Project, profile: &str, source: &str, what: &str) {
    let lcov = project.ok(&format!("export --format lcov {profile}"));
    for (line, count) in expected(source) {
        assert!(lcov.contains(&format!("DA:{line},{count}\n")), "{what}: line {line} ran {count} times\n{lcov}");
    }
    fs::remove_file(project.path(profile)).expect("a profile");
}

fn run(project: &Project, program: &str) -> String {
    succeed(project.command(project.path(program)).env("COTREE_FILE", "p.cotree"))
}

/// A line in the middle of a block, to which another block leads that is only a jump there: it ran once for both. A
/// line whose other part stands behind a condition on the next one, and lines that the compiler has copied behind
/// others, or would make one with others at the end of a block.
#[test]
fn lines_in_the_middle_of_blocks() {
    for (name, source) in [
        ("into-a-loop.c", finding!("into-a-loop.c")),
        ("lines-in-copies.c", finding!("lines-in-copies.c")),
        // The optimiser evaluates short operands beside each other, and takes loops without an effect away.
        ("lines-of-conditions.c", finding!("lines-of-conditions.c")),
    ] {
        let project = Project::new(&[(name, source)]);
        let levels = if name == "lines-of-conditions.c" { &["-O0"][..] } else { &["-O0", "-O1", "-O2"] };
        for level in levels {
            project.ok(&format!("cc {level} -g {name} -o program"));
            run(&project, "program");
            check(&project, "p.cotree", source, level);
        }
    }
}

/// Each method that counts lines, and each way to say that modules are optimised together.
#[test]
fn every_turn_of_c() {
    let source = finding!("turns.c");
    let project = Project::new(&[("turns.c", source)]);
    succeed(project.command("cc").args(["turns.c", "-o", "plain"]));
    let truth = project.run("plain");
    for level in ["-O1", "-O2", "-O3"] {
        project.ok(&format!("cc {level} -c turns.c -o turns.o"));
        let methods = METHODS.iter().filter(|entry| entry.promises.blocks && (level == "-O2" || entry.name == "edge"));
        for method in methods {
            project.ok(&format!("--profile {} cc {level} turns.o -o program", method.name));
            assert_eq!(run(&project, "program"), truth, "{level} {}", method.name);
            check(&project, "p.cotree", source, &format!("{level} {}", method.name));
        }
    }
    for user in [
        "-flto",
        "-flto=full",
        "-flto=thin",
        "-fno-unroll-loops",
        "-fwhole-program-vtables",
        "-fsanitize=cfi -fvisibility=hidden",
    ] {
        project.ok(&format!("cc -O2 {user} turns.c -o program"));
        assert_eq!(run(&project, "program"), truth, "{user}");
        check(&project, "p.cotree", source, user);
    }
    project.clean();
}

#[test]
fn every_turn_of_cpp() {
    let source = finding!("vectorised.cpp");
    let project = Project::new(&[("v.cpp", source)]);
    for options in ["", "--profile path", "--affine off --promote off"] {
        project.ok(&format!("{options} c++ -O2 v.cpp -o program"));
        run(&project, "program");
        let lcov = project.ok("export --format lcov p.cotree");
        assert!(lcov.contains("DA:6,1000\nDA:7,1000\n"), "{options}: {lcov}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn every_turn_of_rust() {
    let source = finding!("turns.rs");
    let fat = "profile.release.lto = \"fat\"\n";
    for (manifest, argument, flags) in [
        ("", "", ""),
        (fat, "", ""),
        ("", "--config profile.release.lto=\"fat\" --config=term.quiet=true", ""),
        ("", "", "-C lto=fat -Cembed-bitcode=yes"),
        ("", "rustc -- -Clto=fat -Cembed-bitcode=yes", ""),
    ] {
        let manifest =
            format!("{manifest}[package]\nname = \"turns\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n");
        let project = Project::new(&[("Cargo.toml", &manifest), ("src/main.rs", source)]);
        let builds = argument.starts_with("rustc");
        let verb = if builds { "rustc --release -q" } else { "run --release -q" };
        let mut cargo = project.cotree(&format!("cargo {verb} {}", argument.trim_start_matches("rustc ")));
        // A variable that the command line beats.
        cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("COTREE_FILE", "p.cotree");
        if manifest.starts_with(fat) {
            cargo.env_remove("CARGO_PROFILE_RELEASE_LTO");
        }
        if !flags.is_empty() {
            cargo.env("RUSTFLAGS", flags);
        }
        succeed(&mut cargo);
        if builds {
            run(&project, "target/cotree/x86_64-unknown-linux-gnu/release/turns");
        }
        check(&project, "p.cotree", source, &format!("{manifest}{argument}{flags}"));
    }
}

/// The optimiser still unrolls and vectorises, behind the counters.
#[test]
fn loops_are_unrolled_by_the_link() {
    let project = Project::new(&[("turns.c", finding!("turns.c"))]);
    project.ok("--profile none cc -O2 turns.c -o program -Wl,-plugin-opt=cotree-keep-temps");
    let folders = fs::read_dir(project.path("tmp")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let kept = folders.filter(|path| path.join("0.final.ll").exists()).last().expect("the IR is kept");
    let [before, after] = ["0.before.ll", "0.final.ll"].map(|name| fs::read_to_string(kept.join(name)).expect("IR"));
    let body = |text: &str, name: &str| {
        let define = text
            .split("\ndefine ")
            .find(|part| part.lines().next().is_some_and(|line| line.contains(&format!("@{name}("))));
        define.and_then(|text| text.split("\n}").next()).expect("the function").to_owned()
    };
    for name in ["four", "asked_in_full", "nested"] {
        assert!(body(&before, name).contains("phi"), "{name} is a loop when the counters come");
        assert!(!body(&after, name).contains("phi"), "{name} is none in the end");
    }
    assert!(!before.contains("x i32>") && body(&after, "vector").contains("x i32>"));
}

/// Objects that were compiled for counts at another place than the link is for.
#[test]
fn early_and_late_objects() {
    let project = Project::new(&[("e.c", finding!("early-late.c"))]);
    for (options, link, wanted) in [
        ("", "--at early", "--cotree-at=early"),
        ("--at early", "", "--cotree-at=late"),
        ("--at early", "--profile none", "--at"),
    ] {
        project.ok(&format!("{options} cc -O2 -c e.c -o e.o"));
        let text = project.fails(&format!("{link} cc -O2 e.o -o program"));
        assert!(text.contains("e.o was compiled for --at") && text.contains(wanted), "{text}");
    }
    // The option may stand among clang's. At -O0 there is no difference.
    for line in [
        "cc -O2 --cotree-at=early -c e.c -o e.o|--at early cc -O2 e.o -o program",
        "cc -O0 -c e.c -o e.o|--at early cc -O2 e.o -o program",
    ] {
        line.split('|').for_each(|step| drop(project.ok(step)));
        run(&project, "program");
        let lcov = project.ok("export --format lcov p.cotree");
        assert!(lcov.contains("DA:3,1000\n"), "{line}: {lcov}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
    project.ok("cc -O2 -c e.c -o e.o");
    let text = project.fails("--profile events --event-limit cc -O2 e.o -o program");
    assert!(text.contains("compiled without --event-limit"), "{text}");
    assert!(project.fails("cc --cotree-at=soon -c e.c").contains("soon"));
}

/// A cache that has an object of the other kind under the same command line is found out; told by option, it keeps them
/// apart.
#[test]
fn ccache() {
    let project = Project::new(&[("e.c", finding!("early-late.c"))]);
    assert!(Command::new("ccache").arg("--version").output().is_ok(), "ccache is not installed: cargo xtask packages");
    project.ok("install-tools tools");
    let compile = |at: &str, option: &str| {
        let mut command = project.command("ccache");
        command.env("CCACHE_DIR", project.path("ccache")).env("COTREE_AT", at);
        command.arg(project.path("tools/cotree-cc")).args(["-O2", "-c", "e.c", "-o", "e.o"]);
        succeed(if option.is_empty() { &mut command } else { command.arg(option) });
    };
    compile("late", "");
    compile("early", "");
    assert!(project.fails("--at early cc -O2 e.o -o program").contains("a compiler cache does not see COTREE_AT"));
    compile("late", "--cotree-at=late");
    compile("late", "--cotree-at=early");
    project.ok("--at early cc -O2 e.o -o program");
}

/// What a command says, also on standard error; it succeeds.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// Bitcode of a plain clang may have been vectorised. The link says so, and no view vouches for its functions.
#[test]
fn bitcode_of_others() {
    let project = Project::new(&[("theirs.c", finding!("theirs.c")), ("ours.c", finding!("ours.c"))]);
    succeed(project.command("clang-22").args(["-O2", "-flto", "-g1", "-c", "theirs.c", "-o", "theirs.o"]));
    project.ok("cc -O2 -c ours.c -o ours.o");
    for method in METHODS.iter().filter(|entry| !entry.method.is_none()) {
        // Joined, functions are inlined in both directions.
        let line = format!("--profile {} cc -O2 -flto ours.o theirs.o -o program", method.name);
        let text = said(&mut project.cotree(&line));
        assert!(text.contains("theirs.o: bitcode that `cotree cc` did not compile"), "{text}");
        run(&project, "program");
        let text = project.fails("export --strict --format json p.cotree");
        assert!(text.contains("1 of ") && text.contains("cannot be vouched for"), "{}: {text}", method.name);
        let json: serde_json::Value =
            serde_json::from_str(&project.ok("export --format json p.cotree")).expect("a document");
        let functions = json["units"][0]["functions"].as_array().expect("functions");
        for function in functions {
            let expected = if function["symbol"] == "theirs" { vec!["optimised-before"] } else { Vec::new() };
            assert_eq!(function["flaws"], serde_json::json!(expected), "{}: {function}", method.name);
        }
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
    project.ok("--verify cc -O2 ours.o theirs.o -o program");
    run(&project, "program");
    let report = project.ok("report p.cotree");
    assert!(report.contains("NOT ALL EXACT") && report.contains("optimised before its counters went in"), "{report}");
    let lcov = project.ok("export --format lcov p.cotree");
    assert!(lcov.contains("DA:5,1000\n"), "the loop of ours is exact: {lcov}");
    project.ok("verify p.cotree");
    let text = said(&mut project.cotree("instrument theirs.o -o theirs.bc"));
    assert!(text.contains("theirs.o: bitcode that `cotree cc` did not compile"), "{text}");
    assert!(!said(&mut project.cotree("instrument ours.o -o ours.bc")).contains("did not compile"));
}

/// A loop that was vectorised before says so, whoever has compiled it.
#[test]
fn vectorised_loops_are_known() {
    let source = "int a[999]; int main(int n, char **v) {\n\
                  #pragma clang loop vectorize_width(8)\n for (int i = 0; i < n * 999; i++) a[i] += n;\n return a[5] - 1;\n}\n";
    let project = Project::new(&[("v.c", source)]);
    project.ok("cc -O2 -fsanitize=cfi -fvisibility=hidden v.c -o program");
    run(&project, "program");
    let json = project.ok("export --format json p.cotree");
    assert!(json.contains("\"optimised-before\""), "{json}");
}
