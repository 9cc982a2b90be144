//! An explanation, and how it looks in a terminal.

use crate::terminal::Style;
use std::io::{self, Write};

/// What a code means.
#[derive(Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code.
    pub code: &'static str,
    /// What happened, in a few words.
    pub what: &'static str,
    /// Why it happens.
    pub why: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// What can still be trusted.
    pub trusted: &'static str,
}

impl Explanation {
    /// Names and texts of the parts that follow what happened.
    pub(super) fn parts(&self) -> [(&'static str, &'static str); 3] {
        [("Why", self.why), ("What to do", self.remedy), ("Still true", self.trusted)]
    }

    /// Writes the explanation for people.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", style.heading(&style.wrap(&format!("{}: {}", self.code, self.what), 2)))?;
        for (name, text) in self.parts() {
            writeln!(out, "\n{}", style.wrap(&format!("{name}: {text}"), 2))?;
        }
        Ok(())
    }
}

/// Declares explanations, and the list of them.
macro_rules! explanations {
    ($list:ident: $($name:ident = $code:literal: $what:literal,
        why: $why:literal,
        remedy: $remedy:literal,
        trusted: $trusted:literal;)*) => {
        $(#[doc = $what]
        pub static $name: $crate::explain::Explanation = $crate::explain::Explanation {
            code: $code, what: $what, why: $why, remedy: $remedy, trusted: $trusted,
        };)*
        pub(super) static $list: &[&$crate::explain::Explanation] = &[$(&$name),*];
    };
}
pub(super) use explanations;
