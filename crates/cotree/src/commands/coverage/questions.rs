//! Questions of `cotree coverage` besides how much of each file ran: which tests ran the code, and how much of a change
//! ran.

use super::changes::Annotations;
use clap::Args;

/// The options that fail if too little ran, but for that of lines.
pub const GATES: [&str; 4] = ["fail_under_functions", "fail_under_regions", "fail_under_branches", "fail_under_mcdc"];

/// Formats of the coverage of whole files, but for pages.
const FORMATS: [&str; 4] = ["lcov", "cobertura", "codecov", "llvm_json"];

/// Options that are for the coverage of whole files.
pub const WHOLE: [&str; 8] =
    ["lcov", "cobertura", "codecov", "llvm_json", "html", "open", "show_missing_lines", "show_mcdc"];

/// Options of the questions.
#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("remarked").multiple(true)))]
pub struct Questions {
    /// Tell which tests ran which lines, by the names that COTREE_TEST gave to the profiles
    ///
    /// As text, with --json as cotree-coverage-by-test/1, or on the pages of --html.
    #[arg(
        long,
        conflicts_with_all = GATES,
        conflicts_with_all = FORMATS,
        conflicts_with_all = ["show_missing_lines", "show_mcdc", "no_markers", "fail_under_lines"],
    )]
    pub by_test: bool,
    /// Print the names of the tests that ran these lines before they were changed: FILE:LINE, FILE:LINE-LINE, or a file
    /// with a diff (- for standard input)
    #[arg(
        long,
        value_name = "CHANGE",
        conflicts_with_all = GATES,
        conflicts_with_all = WHOLE,
        conflicts_with_all = ["no_markers", "fail_under_lines", "json", "by_test"],
    )]
    pub tests_for: Vec<String>,
    /// Only the lines that a change adds: a file with a diff, or a revision of git's
    ///
    /// `-` is a diff on standard input; a revision is what the current folder has changed since.
    #[arg(
        long,
        value_name = "CHANGE",
        conflicts_with_all = GATES,
        conflicts_with_all = WHOLE,
        conflicts_with_all = ["by_test", "tests_for"],
        group = "remarked",
    )]
    pub diff: Option<String>,
    /// Write remarks on added lines that did not run, for the service that shows the change
    #[arg(
        long,
        value_enum,
        value_name = "SERVICE",
        requires = "remarked",
        conflicts_with = "json",
        hide_short_help = true
    )]
    pub annotations: Option<Annotations>,
}
