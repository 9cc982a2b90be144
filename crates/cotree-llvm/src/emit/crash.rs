//! Finds functions that LLVM crashes over when their calls carry notes.
//!
//! A crash takes the process with it, so each attempt to compile the module is made in a forked child. Halves of what a
//! crash may be due to are tried until single functions are left.

use super::machine::{Machine, drop_bundles};
use crate::child::in_child;
use crate::error::Error;
use crate::module::Module;

/// Finds the functions whose notes LLVM crashes over, if it is notes that it crashes over.
pub(super) fn suspects(machine: &Machine, module: &Module, carrying: &[String]) -> Result<Vec<String>, Error> {
    if carrying.is_empty() {
        return Ok(Vec::new());
    }
    let bitcode = module.to_bitcode();
    let name = &module.name;
    let survives = |tried: &[String]| {
        in_child(|| {
            if let Ok(mut module) = Module::parse(name, &bitcode) {
                drop_bundles(&mut module, carrying.iter().filter(|name| !tried.contains(name)));
                // What fails without a crash is told of when it is compiled for good.
                let _ = machine.emit(&mut module);
            }
        })
    };
    Ok(smallest(carrying, survives))
}

/// The names by which alone an attempt fails.
fn smallest(names: &[String], survives: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut work = vec![names];
    while let Some(part) = work.pop() {
        if survives(part) {
            continue;
        }
        match part {
            [] => {}
            [one] => found.push(one.clone()),
            more => {
                let (front, back) = more.split_at(more.len() / 2);
                work.extend([back, front]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::smallest;

    #[test]
    fn halves_lead_to_the_culprits() {
        let names: Vec<String> = (0..37).map(|number| format!("f{number}")).collect();
        let bad = |name: &String| matches!(name.as_str(), "f3" | "f4" | "f36");
        let survives = |part: &[String]| !part.iter().any(bad);
        assert_eq!(smallest(&names, survives), ["f3", "f4", "f36"]);
        assert!(smallest(&names, |_| true).is_empty());
    }
}
