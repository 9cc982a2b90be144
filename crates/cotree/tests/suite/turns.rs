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
    for manifest in ["", "[profile.release]\nlto = \"fat\"\n"] {
        let manifest =
            format!("[package]\nname = \"turns\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n{manifest}");
        let project = Project::new(&[("Cargo.toml", &manifest), ("src/main.rs", source)]);
        succeed(project.cotree("cargo run --release -q").env("COTREE_FILE", "p.cotree"));
        check(&project, "p.cotree", source, &manifest);
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

/// Bitcode of a plain clang may have been vectorised: the link says so.
#[test]
fn bitcode_of_others() {
    let project = Project::new(&[("e.c", finding!("early-late.c"))]);
    succeed(project.command("clang-22").args(["-O2", "-flto", "-c", "e.c", "-o", "e.o"]));
    let linked = project.cotree("cc -O2 e.o -o program").output().expect("cotree starts");
    let text = [linked.stdout, linked.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(linked.status.success() && text.contains("e.o: bitcode that `cotree cc` did not compile"), "{text}");
}
