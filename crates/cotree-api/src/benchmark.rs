//! Benchmarks of a program without a harness.

use std::hint::black_box;
use std::time::Instant;

/// Runs a benchmark.
///
/// A target of benchmarks with `harness = false` calls this for each benchmark, once it has prepared what that needs:
///
/// ```
/// let text = "3 + 4".repeat(100);
/// cotree_api::bench("split", || text.split('+').count());
/// ```
///
/// `cargo cotree bench` runs each in a process of its own and counts exactly what `routine` does: not what stands
/// around it, nor how its result is dropped. `cargo bench` runs all of them once and prints how long each takes.
/// `--list` prints their names, `--exact NAME` runs one of them, and words without `--` run those in whose names they
/// are. A program must have only one benchmark of a name, and names have no line breaks.
pub fn bench<T>(name: &str, routine: impl FnOnce() -> T) {
    match Chosen::of(name, std::env::args().skip(1)) {
        Chosen::No => {}
        Chosen::Listed => println!("{name}: benchmark"),
        Chosen::Run => {
            let start = Instant::now();
            begins();
            let result = black_box(routine());
            ends();
            let time = start.elapsed();
            drop(result);
            println!("{name}: {time:?}");
        }
    }
}

/// `cargo cotree bench` counts from here.
#[inline(never)]
fn begins() {
    black_box("benchmark begins");
}

/// `cargo cotree bench` counts to here.
#[inline(never)]
fn ends() {
    black_box("benchmark ends");
}

/// What a command line says of a benchmark.
#[derive(Debug, PartialEq, Eq)]
enum Chosen {
    /// Not at all.
    No,
    /// By name.
    Listed,
    /// To run.
    Run,
}

impl Chosen {
    fn of(name: &str, arguments: impl Iterator<Item = String>) -> Self {
        let (mut is_list, mut is_exact, mut parts) = (false, false, Vec::new());
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => is_list = true,
                "--exact" => is_exact = true,
                // Cargo and its kin say how to print, and that benchmarks are meant.
                "--format" => drop(arguments.next()),
                option if option.starts_with("--") => {}
                _ => parts.push(argument),
            }
        }
        let is_meant = |part: &String| if is_exact { part == name } else { name.contains(part.as_str()) };
        match (parts.is_empty() || parts.iter().any(is_meant), is_list) {
            (false, _) => Self::No,
            (true, true) => Self::Listed,
            (true, false) => Self::Run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_choose() {
        let chosen = |line: &str| Chosen::of("a/b", line.split_whitespace().map(str::to_owned));
        assert_eq!(chosen("--bench"), Chosen::Run);
        assert_eq!(chosen("--bench --list --format terse"), Chosen::Listed);
        assert_eq!(chosen("--bench --exact a/b"), Chosen::Run);
        assert_eq!(chosen("--exact a"), Chosen::No);
        assert_eq!(chosen("x b"), Chosen::Run);
        assert_eq!(chosen("c"), Chosen::No);
    }
}
