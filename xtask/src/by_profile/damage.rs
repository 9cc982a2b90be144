//! What programs and profiles are changed to: later versions of sources, and counts that no run can have.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// One of this many lines that return changes.
const EVERY: usize = 3;

/// A later version of a source of C or C++: a way out, which is never taken, in front of the first `return` and of
/// every third one after it.
pub fn with_more_code(text: &str) -> String {
    let mut changed = String::from("static volatile int changed_way_out;\n#line 1\n");
    let mut returns = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        if code.starts_with("return ") || code.starts_with("return;") || code.starts_with("return(") {
            let changes = returns % EVERY == 0;
            returns += 1;
            if changes {
                // With what follows it is one statement still, whatever stands in front of it.
                changed += "if (changed_way_out) __builtin_trap(); else ";
            }
        }
        changed += line;
    }
    changed
}

/// Changes a Rust package: a way out at the beginning of its `main`, and a branch in front of each loop of that file.
pub fn change_package(folder: &Path) -> Result<()> {
    let candidates = ["src/main.rs", "crates/core/main.rs"].map(|file| folder.join(file));
    let main = candidates.into_iter().find(|file| file.exists()).context("the package has no main.rs")?;
    let text = fs::read_to_string(&main)?;
    let way_out = "    if std::env::args_os().len() > 10_000 {\n        std::process::abort();\n    }\n";
    let mut changed = String::new();
    let mut ways_out = 0;
    for line in text.split_inclusive('\n') {
        let is_loop = line.starts_with("    for ") && line.ends_with("{\n");
        if is_loop {
            changed += way_out;
        }
        changed += line;
        let begins = line.starts_with("fn ") && line.ends_with("{\n");
        if begins {
            changed += way_out;
        }
        ways_out += usize::from(is_loop || begins);
    }
    ensure!(ways_out > 0, "{} has no function to change", main.display());
    fs::write(&main, changed)?;
    Ok(())
}

/// Numbers that look random and are the same each time (`SplitMix64`, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// A weights file with a third of its counts replaced by numbers of all sizes.
pub fn hostile_counts(weights: &str) -> Result<String> {
    let mut random = Random(31);
    let mut text = String::new();
    for (number, line) in weights.lines().enumerate() {
        if number == 0 {
            text += line;
            text.push('\n');
            continue;
        }
        let mut function: Value = serde_json::from_str(line).context("no line of weights")?;
        for counts in ["blocks", "edges"] {
            for count in function[counts].as_array_mut().with_context(|| format!("no {counts}"))? {
                if random.next().is_multiple_of(3) {
                    let size = random.next() % 65;
                    *count = random.next().checked_shr(u32::try_from(size)?).unwrap_or(0).into();
                }
            }
        }
        text += &function.to_string();
        text.push('\n');
    }
    Ok(text)
}

/// Damaged copies of the profile of a run, each with what is wrong with it.
pub fn damaged_profiles(profile: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut flipped = profile.to_vec();
    flipped[profile.len() / 3] ^= 4;
    let mut headless = profile.to_vec();
    headless[..8].fill(0xff);
    vec![
        ("cut off", profile[..profile.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("without its beginning", headless),
        ("with a bit flipped", flipped),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_return_and_every_third_gets_a_way_out() {
        let text = "int f(int a) {\n  if (a)\n    return 1;\n  else\n    return(2);\n}\nvoid g(void) {\n  return;\n}\nint h(void) {\n  return 4;\n}\n";
        let changed = with_more_code(text);
        let with_ways_out: Vec<&str> =
            changed.lines().filter(|line| line.starts_with("if (changed_way_out)")).collect();
        assert_eq!(
            with_ways_out,
            [
                "if (changed_way_out) __builtin_trap(); else     return 1;",
                "if (changed_way_out) __builtin_trap(); else   return 4;"
            ]
        );
    }

    #[test]
    fn counts_are_replaced_and_graphs_stay() {
        let weights =
            "{\"schema\":\"x\"}\n{\"symbol\":\"f\",\"shape\":7,\"blocks\":[1,2,3,4,5,6],\"edges\":[1,2,3,4,5]}\n";
        let hostile = hostile_counts(weights).expect("it is well-formed");
        let function: Value = serde_json::from_str(hostile.lines().nth(1).expect("a function")).expect("json");
        assert_eq!((&function["symbol"], &function["shape"]), (&Value::from("f"), &Value::from(7)));
        assert_eq!(function["blocks"].as_array().map(Vec::len), Some(6));
        assert_ne!(hostile, weights);
        assert!(hostile_counts("{}\n{\"blocks\":3}\n").is_err());
    }
}
