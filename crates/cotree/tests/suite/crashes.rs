//! A crash is told to its line, with the stack, wherever it was: in code, in a function of the C library, in a call by
//! name or by a jump.

use crate::project::Project;
use serde_json::Value;

macro_rules! finding {
    ($name:literal) => {
        ($name, include_str!(concat!("../programs/findings/", $name)))
    };
}

fn crash(project: &Project, program: &str, argument: &str) {
    let mut command = project.command(format!("./{program}"));
    command.args(Some(argument).filter(|argument| !argument.is_empty())).env("COTREE_FILE", "p.cotree");
    let status = command.output().expect("it starts").status;
    assert!(!status.success(), "{program} {argument}");
}

/// What was under way in the main thread, innermost first.
fn stack(project: &Project) -> Vec<String> {
    let summary: Value = serde_json::from_str(&project.ok("trace --json p.cotree")).expect("JSON");
    let stack = &summary["threads"][0]["parts"][0]["stack"];
    stack.as_array().expect("a stack").iter().map(|frame| frame.as_str().expect("text").to_owned()).collect()
}

/// The functions that are not vouched for.
fn doubted(project: &Project) -> Vec<String> {
    let json: Value = serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
    let functions = json["units"][0]["functions"].as_array().expect("functions");
    let doubted =
        functions.iter().filter(|function| function["flaws"].as_array().is_some_and(|flaws| !flaws.is_empty()));
    doubted.map(|function| function["name"].as_str().expect("a name").to_owned()).collect()
}

/// The lines on which the cases of the program crash: 0 for one that is the same line in a header.
const LIBC: [(&str, u32); 13] = [
    ("strlen", 14),
    ("strcpy", 15),
    ("strcmp", 16),
    ("", 17),
    ("", 18),
    ("strchr", 19),
    ("strtol", 0),
    ("strtol", 21),
    ("printf", 22),
    ("memcmp", 23),
    ("free", 24),
    ("puts", 25),
    ("qsort", 26),
];

#[test]
fn crashes_in_the_c_library_are_told() {
    let (name, text) = finding!("crash-in-libc-functions.c");
    let project = Project::new(&[(name, text)]);
    for (options, cases) in [("--profile trace", &LIBC[..]), ("--profile trace --trace-ring 1M", &LIBC[..2])] {
        project.ok(&format!("{options} cc -O2 -g -w -o p {name}"));
        for (case, (callee, line)) in cases.iter().enumerate() {
            crash(&project, "p", &case.to_string());
            let stack = stack(&project);
            let [innermost, outermost] = &stack[..] else { panic!("{options} {callee}: {stack:?}") };
            let is_there = *line == 0 || innermost.contains(&format!("{name}:{line}"));
            assert!(innermost.starts_with("fail ") && is_there, "{options} {callee}: {stack:?}");
            assert!(callee.is_empty() || innermost.contains(&format!("calling {callee}")), "{stack:?}");
            assert!(outermost.starts_with("main ") && outermost.ends_with("calling fail"), "{stack:?}");
            // `sum` may have been called behind the call in which it crashed.
            let doubted = doubted(&project);
            assert!(doubted.iter().all(|function| function == "fail" || function == "sum"), "{callee}: {doubted:?}");
        }
    }
    project.ok(&format!("--profile path cc -O2 -g -w -o p {name}"));
    for (case, (callee, line)) in LIBC.iter().enumerate().take(6) {
        crash(&project, "p", &case.to_string());
        let pending = project.ok("paths --pending p.cotree");
        let told = match *callee {
            "" => format!("fail  in a call at {name}:{line}"),
            callee => format!("fail  called {callee} at {name}:{line}"),
        };
        assert!(pending.contains(&told) && pending.contains("main  called fail"), "{pending}");
    }
}

/// A loop that is inlined into `main`, with nothing written between the call and the next turn.
#[test]
fn a_crash_in_an_inlined_loop_is_told() {
    let (name, text) = finding!("crash-in-libc.c");
    let project = Project::new(&[(name, text)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace cc {level} -g -o p {name}"));
        crash(&project, "p", "");
        let stack = stack(&project);
        assert!(stack[0].contains(&format!("{name}:8")) && stack[0].contains("strlen"), "{level}: {stack:?}");
    }
}

/// `main` may have left by a jump, and the functions around may have ended before the thread says that it ends.
#[test]
fn what_was_under_way_is_told_after_the_end() {
    let sources = [
        finding!("tail-main-t.c"),
        finding!("tail-main-n.c"),
        finding!("tail-main-a.c"),
        finding!("tail-main-u.c"),
        finding!("pending-flat.c"),
    ];
    let project = Project::new(&sources);
    for name in ["tail-main-t.c", "tail-main-n.c"] {
        project.ok(&format!("--profile trace cc -O2 -g -w -o p {name}"));
        crash(&project, "p", "");
        let stack = stack(&project);
        let [inner, outer, main] = &stack[..] else { panic!("{name}: {stack:?}") };
        assert_eq!(inner, &format!("inner  {name}:4"));
        assert!(outer.starts_with("outer ") && outer.ends_with("calling inner"), "{stack:?}");
        assert!(main.starts_with("main ") && main.ends_with("calling outer"), "{stack:?}");
        assert!(project.ok("trace --last 2 p.cotree").contains("under way at the end, innermost first:\n    inner "));
    }
    project.ok("--profile trace cc -O2 -g -w -o p tail-main-a.c");
    for (variable, callee) in [("X", "abort"), ("E", "exit"), ("K", "kill")] {
        let output = project.command("./p").env(variable, "1").env("COTREE_FILE", "p.cotree").output();
        assert!(!output.expect("it starts").status.success());
        let stack = stack(&project);
        assert!(stack.len() == 3 && stack[0].ends_with(&format!("calling {callee}")), "{stack:?}");
        assert!(doubted(&project).is_empty(), "{callee}");
    }
    project.ok("--profile trace cc -O2 -g -w -o p tail-main-u.c");
    crash(&project, "p", "");
    assert_eq!(doubted(&project), ["inner"]);
    project.ok("--profile path cc -O0 -g -o p pending-flat.c");
    crash(&project, "p", "");
    let pending = project.ok("paths --pending p.cotree");
    assert!(pending.contains("main  called abort at pending-flat.c:5"), "{pending}");
}
