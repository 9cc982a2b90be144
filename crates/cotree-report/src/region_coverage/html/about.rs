//! What pages say besides counts.

use crate::names::Names;
use crate::region_coverage::by_test::CoverageByTest;
use crate::source::Sources;

/// What pages are made of.
pub struct Pages<'p> {
    /// What the overview says of the profile.
    pub about: About,
    /// Which files are shown.
    pub wanted: &'p dyn Fn(&str) -> bool,
    /// The beginning of paths that is not shown, with a `/` at its end.
    pub root: &'p str,
    /// How names of functions are shown.
    pub names: Names,
    /// The texts.
    pub sources: &'p dyn Sources,
    /// Which tests ran what, if that is shown.
    pub tests: Option<&'p CoverageByTest>,
    /// What is wrong with a text: a sentence, or `None` if it is what was built.
    pub fault: &'p dyn Fn(&str) -> Option<&'static str>,
}

/// What the overview says of the profile.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What ran: the names of programs.
    pub title: String,
    /// Where it comes from and when it was taken.
    pub facts: Vec<Fact>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
    /// The functions whose counts cannot be vouched for.
    pub doubtful: Vec<Doubtful>,
}

/// A fact about the profile.
#[derive(Clone, Debug)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// The fact.
    pub value: String,
}

/// A function whose counts cannot be vouched for.
#[derive(Clone, Debug)]
pub struct Doubtful {
    /// The name as it is shown.
    pub name: String,
    /// Why.
    pub reasons: Vec<&'static str>,
}
