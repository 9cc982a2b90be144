//! Counting the different instructions of a program that are executed, as CFGGrind does (Frenot & Pereira 2024,
//! Fig. 10): by callgrind, which can write a cost for each address.

use crate::bench::instructions::environment;
use crate::bench::subject::Subject;
use crate::command;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Runs the whole workload. Gives the number of different addresses, those of libraries left out.
pub fn distinct(executable: &Path, subject: &Subject, folder: &Path) -> Result<u64> {
    let mut addresses = BTreeSet::new();
    for (index, arguments) in subject.runs().iter().enumerate() {
        let costs = folder.join("addresses.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no"]);
        valgrind.arg(format!("--callgrind-out-file={}", costs.display())).arg("--log-file=/dev/null");
        valgrind.arg(executable).args(arguments).current_dir(folder).envs(environment(folder, index));
        command::output(&mut valgrind)?;
        let text = std::fs::read(&costs).with_context(|| format!("no costs from {}", command::line(&valgrind)))?;
        let object = executable.to_string_lossy();
        addresses.extend(of_object(&String::from_utf8_lossy(&text), &object));
        std::fs::remove_file(costs)?;
    }
    Ok(addresses.len() as u64)
}

/// The addresses of an object that have a cost. The line behind `calls=` is what the callee costs, which is the cost of
/// no instruction.
fn of_object(text: &str, object: &str) -> Vec<u64> {
    let (mut within, mut inclusive, mut addresses) = (false, false, Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("ob=") {
            within = name == object;
        } else if line.starts_with("calls=") {
            inclusive = true;
        } else if let Some(cost) = line.strip_prefix("0x") {
            let address = cost.split(' ').next().and_then(|digits| u64::from_str_radix(digits, 16).ok());
            if within && !inclusive {
                addresses.extend(address);
            }
            inclusive = false;
        }
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_program_are_told_from_those_of_libraries_and_calls() {
        let text = "positions: instr line\nevents: Ir\n\nob=/lib/libc.so\nfn=puts\n0x10 0 5\n\nob=/a/program\nfn=main\n\
                    0x401000 0 1\n0x401003 0 7\ncob=/lib/libc.so\ncfn=puts\ncalls=1 0x10 0\n0x401008 0 5\n\
                    0x401008 0 1\n";
        assert_eq!(of_object(text, "/a/program"), [0x40_1000, 0x40_1003, 0x40_1008]);
    }
}
