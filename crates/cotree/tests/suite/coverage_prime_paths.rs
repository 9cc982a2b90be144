//! Prime paths that ran, against a look for each path in what the trace says of each activation.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a block; EXIT is the largest.
type Block = u64;

const EXIT: Block = u64::MAX;

/// All prime paths, by the definition.
fn prime_paths(edges: &BTreeSet<(Block, Block)>) -> Vec<Vec<Block>> {
    let vertices: BTreeSet<Block> = edges.iter().flat_map(|&(from, to)| [from, to]).chain([0]).collect();
    let mut simple: Vec<Vec<Block>> = vertices.into_iter().map(|vertex| vec![vertex]).collect();
    let mut at = 0;
    while let Some(path) = simple.get(at).cloned() {
        at += 1;
        let (first, last) = (path[0], path[path.len() - 1]);
        if path.len() > 1 && first == last {
            continue;
        }
        for &(_, to) in edges.range((last, 0)..=(last, EXIT)) {
            if to == first || !path.contains(&to) {
                simple.push([path.as_slice(), &[to]].concat());
            }
        }
    }
    let whole: BTreeSet<Vec<Block>> = simple.iter().cloned().collect();
    let is_longer = |path: &Vec<Block>, longer: &Vec<Block>| {
        longer.len() == path.len() + 1 && (longer.starts_with(path) || longer.ends_with(path))
    };
    let prime = |path: &&Vec<Block>| !whole.iter().any(|longer| is_longer(path, longer));
    whole.iter().filter(prime).cloned().collect()
}

/// The edges of a function as `cotree cfg` draws them, without those that a program never takes.
fn edges(drawn: &str) -> BTreeSet<(Block, Block)> {
    let block = |name: &str| match name {
        "exit" => Some(EXIT),
        name => name.strip_prefix('b').and_then(|number| number.parse().ok()),
    };
    let taken = drawn.lines().filter(|line| !line.contains("unreachable") && !line.contains("dashed"));
    let ends = taken.filter_map(|line| line.split_once('[')?.0.trim().split_once(" -> "));
    ends.filter_map(|(from, to)| Some((block(from)?, block(to)?))).collect()
}

/// What each activation of each function ran without a break: the blocks one behind the other.
fn runs(trace: &str) -> BTreeMap<String, Vec<Vec<Block>>> {
    let mut runs: BTreeMap<String, Vec<Vec<Block>>> = BTreeMap::new();
    let mut stacks: BTreeMap<u64, Vec<(String, Vec<Block>)>> = BTreeMap::new();
    let mut end = |(function, mut blocks): (String, Vec<Block>), returned: bool| {
        blocks.extend(returned.then_some(EXIT));
        runs.entry(function).or_default().push(blocks);
    };
    for row in trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let stack = stacks.entry(row["thread"].as_u64().expect("a number")).or_default();
        let depth = usize::try_from(row["depth"].as_u64().unwrap_or(0)).expect("a depth");
        let function = || row["function"].as_str().expect("a name").to_owned();
        match row["event"].as_str().expect("an event") {
            "begin" => {
                stack.drain(depth..).rev().for_each(|activation| end(activation, true));
                stack.push((function(), Vec::new()));
            }
            "block" => {
                stack.drain(depth + 1..).rev().for_each(|activation| end(activation, true));
                stack[depth].1.push(row["block"].as_u64().expect("a number"));
            }
            "abandoned" => {
                stack.drain(depth + 1..).rev().for_each(|activation| end(activation, true));
                end(stack.pop().expect("an activation"), false);
            }
            // `setjmp` is called in the first block.
            "goes-on" => stack.push((function(), vec![0])),
            "thread-ends" | "process-ends" | "call" => {}
            event => panic!("{event}"),
        }
    }
    for activation in stacks.into_values().flatten() {
        end(activation, true);
    }
    runs
}

#[test]
fn prime_paths_that_ran_are_those_of_the_trace() {
    let project = Project::new(&[("app.c", include_str!("../programs/coverage/prime_paths.c"))]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage --profile trace cc {level} -pthread app.c -o app"));
        let _ = std::fs::remove_dir_all(project.path("runs"));
        std::fs::create_dir(project.path("runs")).expect("a folder");
        let mut ran: BTreeMap<String, Vec<Vec<Block>>> = BTreeMap::new();
        let mut profile = String::new();
        for input in ["0", "3", "7", "11"] {
            profile = format!("runs/{input}.cotree");
            let mut app = project.command(project.path("app"));
            succeed(app.arg(input).env("COTREE_FILE", project.path(&profile)));
            for (function, activations) in runs(&project.ok(&format!("trace --by block --json {profile}"))) {
                ran.entry(function).or_default().extend(activations);
            }
        }
        let document: Value =
            serde_json::from_str(&project.ok("coverage --prime-paths --show-missing-paths=1000 --json runs"))
                .expect("JSON");
        assert_eq!(document["schema"], "cotree-prime-paths/1");
        let functions = document["functions"].as_array().expect("a list");
        assert_eq!(functions.len(), 8, "{level}");
        for function in functions {
            let name = function["function"].as_str().expect("a name");
            let all = prime_paths(&edges(&project.ok(&format!("cfg ={name} {profile}"))));
            let is_seen = |path: &Vec<Block>| {
                ran.get(name)
                    .is_some_and(|runs| runs.iter().any(|run| run.windows(path.len()).any(|part| part == path)))
            };
            let missing: BTreeSet<&Vec<Block>> = all.iter().filter(|path| !is_seen(path)).collect();
            let exit = |block: u64| if all.iter().flatten().all(|&it| it != block) { EXIT } else { block };
            let told: Vec<Vec<Block>> = function["missing"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|path| {
                    let blocks = path["blocks"].as_array().expect("a list");
                    blocks.iter().map(|block| exit(block.as_u64().expect("a number"))).collect()
                })
                .collect();
            assert_eq!(told.iter().collect::<BTreeSet<_>>(), missing, "{level}, {name}");
            assert!(told.windows(2).all(|pair| pair[0].len() <= pair[1].len()), "{level}, {name}: shortest first");
            assert_eq!(function["total"], all.len(), "{level}, {name}");
            assert_eq!(function["ran"], all.len() - missing.len(), "{level}, {name}");
        }
    }
    // Shares, limits and what has no trace.
    let text = project.ok("coverage --prime-paths --show-missing-paths runs");
    assert!(text.contains("Shortest prime paths that did not run"), "{text}");
    let failed = project.fails("coverage --prime-paths --fail-under-paths 99 runs");
    assert!(failed.contains("prime paths ran, less than 99 %"), "{failed}");
    let limited = project.fails("coverage --prime-paths --path-limit 30 --fail-under-paths 100 runs");
    assert!(limited.contains("more than 30 prime paths (classify, app.c:"), "{limited}");
    project.ok("--coverage cc app.c -pthread -o plain");
    succeed(project.command(project.path("plain")).env("COTREE_FILE", project.path("plain.cotree")));
    let refused = project.fails("coverage --prime-paths plain.cotree");
    assert!(refused.contains("plain.cotree has no trace of one run"), "{refused}");
}

/// Destructors of exceptions are nobody's paths, and a handler begins paths of its own.
#[test]
fn unwinding_is_on_no_path() {
    let source = "#include <cstdlib>\nstruct Guard { ~Guard() { ++closed; } static int closed; };\nint Guard::closed;\n\
        static void risky(int n) {\n    if (n > 2)\n        throw n;\n}\n\
        static int tries(int n) {\n    try {\n        Guard guard;\n        risky(n);\n    } catch (int) {\n        return 1;\n    }\n    return 0;\n}\n\
        inline int unused(int n) {\n    return n > 1 ? n : 2;\n}\n\
        int main(int, char **words) {\n    return tries(std::atoi(words[1])) > 1;\n}\n";
    let project = Project::new(&[("app.cc", source)]);
    project.ok("--coverage --profile trace c++ app.cc -o app");
    std::fs::create_dir(project.path("runs")).expect("a folder");
    let paths_of_tries = || {
        let document = project.ok("coverage --prime-paths --json runs");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let functions = document["functions"].as_array().expect("a list").clone();
        let tries = functions.into_iter().find(|function| function["function"] == "tries(int)").expect("it is there");
        (tries["ran"].as_u64().expect("a number"), tries["total"].as_u64().expect("a number"))
    };
    let run = |input: &str| {
        let mut app = project.command(project.path("app"));
        succeed(app.arg(input).env("COTREE_FILE", project.path("runs/%p.cotree")));
    };
    run("1");
    assert_eq!(paths_of_tries(), (1, 2));
    run("3");
    assert_eq!(paths_of_tries(), (2, 2));
    let said = project.cotree("coverage --prime-paths runs").output().expect("it starts");
    let note = String::from_utf8_lossy(&said.stderr);
    assert!(
        note.contains("1 function without code of their own, whose paths are not known (unused(int), app.cc:"),
        "{note}"
    );
}
