//! How the modules of a link were compiled, as far as that decides what counts mean.
//!
//! Probes go in where the compiler's simplification ends, or with `--at early` before it begins. Which of the two is
//! decided when a module is compiled, and the link has to know it: bitcode that was simplified counts something else
//! than an early build promises, and bitcode that was not would be compiled by half a pipeline. So `cotree cc` has
//! clang give each function an attribute that says how it was compiled ([`MARK`]), and a link refuses modules that do
//! not fit. (A compiler's cache that does not see the environment hands out such.) rustc gets its options from cargo,
//! which rebuilds when they change. Functions of modules that neither has compiled are not vouched for: their loops may
//! have been vectorised or unrolled before the counters go in. Where such a function is inlined into one of ours later,
//! or one of ours into it, each takes its counters along, and counts speak of the function that was counted.
//!
//! Functions that are compiled as they are written (`optnone`, all of them at `-O0`) are the same in both cases.

use crate::error::Error;
use crate::ir::At;
use crate::module::Module;
use crate::options::LinkOptions;
use std::collections::BTreeSet;

/// The attribute. Its text is one of those in [`Compiled`].
pub const MARK: &str = "cotree-compiled";

/// The attribute that names the options that `cotree cc` was given besides, with commas between.
pub const ASKED: &str = "cotree-asked";

/// How `cotree cc` has clang compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// Simplified, and functions inlined; loops are neither vectorised nor unrolled.
    Late,
    /// As `Late`, and no function is taken for one that throws nothing, since limits of events may throw anywhere.
    LateWithLimits,
    /// Not optimised at all.
    Early,
}

impl Compiled {
    /// The text of the attribute.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::LateWithLimits => "late,event-limit",
            Self::Early => "early",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Late, Self::LateWithLimits, Self::Early].into_iter().find(|compiled| compiled.name() == name)
    }
}

/// What the functions of a module say.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// What those say that are not compiled as they are written.
    found: Vec<Compiled>,
    /// The module has functions without a mark, which loops may be in, and none with one: another compiler's.
    pub(super) foreign: bool,
    /// The options of its functions ([`ASKED`]).
    asked: BTreeSet<String>,
}

impl Marks {
    /// Reads the marks of a module.
    pub(super) fn of(module: &Module) -> Self {
        let mut marks = Self::default();
        let (mut marked, mut unmarked) = (false, false);
        for function in module.functions().filter(|function| !function.is_declaration()) {
            if let Some(asked) = function.text_attribute(ASKED) {
                marks.asked.extend(asked.split(',').map(str::to_owned));
            }
            let as_written = function.has_attribute(At::Function, "optnone");
            match function.text_attribute(MARK).as_deref().and_then(Compiled::from_name) {
                Some(compiled) => {
                    marked = true;
                    if !as_written && !marks.found.contains(&compiled) {
                        marks.found.push(compiled);
                    }
                }
                // clang's own additions have no mark.
                None => unmarked |= !as_written && !is_of_sanitizer(&function.name()),
            }
        }
        marks.foreign = unmarked && !marked && !module.is_of_rustc();
        marks
    }

    /// Refuses a module that does not fit the link.
    pub(super) fn check(&self, module: &Module, options: &LinkOptions) -> Result<(), Error> {
        let misfit = self.found.iter().find(|&&compiled| (compiled == Compiled::Early) != options.early());
        if let Some(&compiled) = misfit {
            let [was, wanted] =
                [compiled == Compiled::Early, options.early()].map(|early| if early { "early" } else { "late" });
            return Err(Error::CompiledOtherwise { module: module.name.clone(), was, wanted });
        }
        if options.events().limits && self.found.contains(&Compiled::Late) {
            return Err(Error::CompiledWithoutLimits { module: module.name.clone() });
        }
        Ok(())
    }
}

/// Is it one of the constructors that sanitizers and their coverage add to a module?
fn is_of_sanitizer(name: &str) -> bool {
    [".module_ctor", ".module_dtor"].iter().any(|part| name.contains(part))
}

/// A sentence for the user where counts speak of what other compilers made of the source, in the modules of these
/// names.
pub(super) fn compiled_elsewhere(foreign: &[&str]) -> Option<String> {
    let (first, more) = foreign.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(format!(
        "{first}{more}: bitcode that `cotree cc` did not compile, with loops that may have been vectorised or unrolled already: these \
         count fewer turns than they make, and reports do not vouch for its functions; compile it with `cotree cc`"
    ))
}

/// A sentence for the user where modules, which have these names, were compiled with options that the link was not
/// given: the link decides what is counted.
pub(super) fn left_unsaid(marks: &[(String, Marks)], given: &[String]) -> Option<String> {
    let unsaid = |marks: &Marks| marks.asked.iter().any(|option| !given.contains(option));
    let (module, _) = marks.iter().find(|(_, marks)| unsaid(marks))?;
    let asked: BTreeSet<&String> = marks.iter().flat_map(|(_, marks)| &marks.asked).collect();
    let options: Vec<String> =
        asked.into_iter().filter(|option| !given.contains(option)).map(|option| format!("--{option}")).collect();
    Some(format!(
        "{module} was compiled with {options}, and the link was not: what is counted is decided at the link; give it the \
         same options",
        options = options.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> (Module, Marks) {
        let text = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}");
        let module = Module::parse_text("m.o", &text).expect("valid IR");
        let marks = Marks::of(&module);
        (module, marks)
    }

    fn fits(text: &str, options: &[&str]) -> bool {
        let (module, marks) = marks(text);
        marks.check(&module, &LinkOptions::parse(options).expect("good options")).is_ok()
    }

    const EARLY: &str = "define void @f() #0 {\n  ret void\n}\nattributes #0 = { \"cotree-compiled\"=\"early\" }\n";
    const LATE: &str = "define void @f() #0 {\n  ret void\n}\nattributes #0 = { \"cotree-compiled\"=\"late\" }\n";
    const PLAIN: &str = "define void @f() {\n  ret void\n}\n";

    #[test]
    fn modules_fit_links_of_their_kind() {
        let limits = LATE.replace("late", "late,event-limit");
        let both = [r#"cotree-options={"at":"early"}"#];
        assert!(fits(EARLY, &both) && !fits(LATE, &both) && fits(PLAIN, &both) && !fits(&limits, &both));
        assert!(!fits(EARLY, &[]) && fits(LATE, &[]) && fits(PLAIN, &[]) && fits(&limits, &[]));
        let limited = [r#"cotree-options={"profile":"events","event-limit":true}"#];
        assert!(!fits(LATE, &limited) && fits(&limits, &limited));
    }

    #[test]
    fn code_as_written_fits_both() {
        let written = LATE.replace("#0 = {", "#0 = { noinline optnone");
        assert!(fits(&written, &[r#"cotree-options={"at":"early"}"#]) && fits(&written, &[]));
        assert!(!marks(&written).1.foreign);
    }

    #[test]
    fn constructors_of_sanitizers_are_no_code_of_other_compilers() {
        let constructor = "define internal void @asan.module_ctor() {\n  ret void\n}\n";
        let written = LATE.replace("#0 = {", "#0 = { noinline optnone");
        assert!(!marks(&format!("{constructor}{written}")).1.foreign);
        assert!(!marks(constructor).1.foreign);
    }

    #[test]
    fn code_of_other_compilers_is_known() {
        assert!(marks(PLAIN).1.foreign && !marks(LATE).1.foreign);
        assert!(
            !marks(&format!("{PLAIN}define void @g() #0 {{\n  ret void\n}}\n{}", &LATE[LATE.find("attr").unwrap()..]))
                .1
                .foreign
        );
        let rust = format!("{PLAIN}!llvm.ident = !{{!0}}\n!0 = !{{!\"rustc version 1.95.0\"}}\n");
        assert!(!marks(&rust).1.foreign);
        assert!(!marks("declare void @f()\n").1.foreign);
    }
}
