//! The runtime takes little of the program's stacks, whatever it does.

use crate::project::{Project, succeed};
use std::collections::BTreeMap;

/// Bytes that docs/platforms.md states: for anything, for an exception, and for what happens in every signal handler
/// and while code runs.
const MOST: u64 = 4096;
const MOST_OF_EXCEPTION: u64 = 2048;
const MOST_OFTEN: u64 = 1024;

/// Per case, how much of its stack a thread has used.
fn needs(project: &Project, program: &str) -> BTreeMap<String, u64> {
    let text = succeed(project.command(program).env("COTREE_FILE", "profiles/%p.cotree").env("LD_BIND_NOW", "1"));
    let parse = |line: &str| {
        let (name, bytes) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), bytes.parse().expect("a number"))
    };
    text.lines().map(parse).collect()
}

#[test]
fn hooks_take_little_of_the_stack() {
    let header = include_str!("../../../../include/cotree.h");
    let source = include_str!("../programs/findings/stack-need.cc");
    let project = Project::new(&[("stack-need.cc", source), ("cotree.h", header), ("profiles/.keep", "")]);
    // What the dynamic linker takes for a function's first call would hide what the runtime takes.
    let build = "-O2 -w -I. -Wl,-z,now -o";
    succeed(project.command("clang++-22").args(build.split(' ')).args(["plain", "stack-need.cc"]));
    let plain = needs(&project, "./plain");
    assert!(plain.len() > 12, "{plain:?}");
    for method in ["edge", "path", "ipath", "trace --trace-ring 1M"] {
        project.ok(&format!("--profile {method} c++ {build} counted stack-need.cc"));
        let counted = needs(&project, "./counted");
        for (case, &bytes) in &counted {
            let more = match case.as_str() {
                "nothing" | "work" | "handler" | "fork" | "thread" => MOST_OFTEN,
                "throw" => MOST_OF_EXCEPTION,
                _ => MOST,
            };
            let most = plain[case] + more;
            assert!(bytes <= most, "{method}, {case}: {bytes} bytes, and {} without counters", plain[case]);
        }
    }
}

/// A handler on a stack of which the kernel takes nearly all.
#[test]
fn small_alternate_stacks_suffice_for_traces() {
    let source = include_str!("../programs/findings/trace-small-alternate-stack.c");
    let project = Project::new(&[("p.c", source)]);
    let auxiliary = succeed(project.command("/bin/true").env("LD_SHOW_AUXV", "1"));
    let least = auxiliary.lines().find_map(|line| line.strip_prefix("AT_MINSIGSTKSZ:")?.trim().parse::<u64>().ok());
    let size = (least.unwrap_or(2048) + MOST_OFTEN).to_string();
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace cc {level} -g -o p p.c"));
        succeed(project.command("./p").args([&size, "300"]).env("COTREE_FILE", "p.cotree"));
        project.ok("export --strict --format json p.cotree");
    }
}
