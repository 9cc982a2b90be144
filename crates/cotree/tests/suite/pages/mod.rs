//! README.md and docs/*.md, tried: their commands are run as printed, and what they print is compared with what the
//! page shows.
//!
//! Each page has a folder of its own, a checkout of cotree as far as examples go. One shell runs all of the page, in a
//! terminal of 80 columns. What a block of code is stands behind its fence:
//!
//! | fence | what happens |
//! | --- | --- |
//! | `console` | commands behind `$ `, which are run, and below each what it prints, which is compared |
//! | `sh` | commands, which are run; the page does not show what they print |
//! | `LANGUAGE file=NAME` | the text is written to the file NAME |
//! | `LANGUAGE not-run` | nothing: it can't be run here. [`PAGES`] says how many of these a page has |
//!
//! `wide` behind `console` allows lines of more than 80 columns. `<!-- run: COMMAND -->` is a command that readers do
//! not see; so are the lines between `<!-- run:` and `-->`. Every command must succeed, unless the page shows that it
//! fails. How lines are compared, and what may differ, is in [`compare`].
//!
//! `COTREE_WRITE_DOCS=1 cargo test -p cotree --test suite -- pages` puts into the pages what commands print now.

mod blocks;
mod compare;
mod session;

use blocks::{Block, BlockKind, Shown};
use session::Session;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The widest line that a page may show, unless the block says `wide`.
const COLUMNS: usize = 80;

/// Declares a test for each page: its name, the page, and how many of its blocks can't be run.
macro_rules! pages {
    ($($name:ident: $page:literal, $not_run:literal;)*) => {
        /// All pages, and how many of their blocks are not run.
        const PAGES: &[(&str, usize)] = &[$(($page, $not_run)),*];
        $(#[test] fn $name() { try_page($page, $not_run) })*
    };
}

pages! {
    readme: "README.md", 1;
    bench_in_ci: "docs/bench-in-ci.md", 8;
    c_projects: "docs/c-projects.md", 1;
    coverage: "docs/coverage.md", 2;
    events: "docs/events.md", 1;
    exactness: "docs/exactness.md", 0;
    explain: "docs/explain.md", 0;
    finding_a_crash: "docs/finding-a-crash.md", 3;
    for_compiler_engineers: "docs/for-compiler-engineers.md", 0;
    for_performance_engineers: "docs/for-performance-engineers.md", 0;
    formats: "docs/formats.md", 0;
    gcov: "docs/gcov.md", 2;
    internals: "docs/internals.md", 0;
    interprocedural_paths: "docs/interprocedural-paths.md", 1;
    json: "docs/json.md", 1;
    options: "docs/options.md", 0;
    paths: "docs/paths.md", 1;
    pgo: "docs/pgo.md", 3;
    platforms: "docs/platforms.md", 0;
    reading_the_report: "docs/reading-the-report.md", 0;
    rust_crates: "docs/rust-crates.md", 0;
    sanitizers: "docs/sanitizers.md", 0;
    security: "docs/security.md", 0;
    tracing: "docs/tracing.md", 5;
    troubleshooting: "docs/troubleshooting.md", 2;
}

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a checkout")
}

fn try_page(page: &str, not_run: usize) {
    let path = root().join(page);
    let text = fs::read_to_string(&path).expect("a page");
    let tried = tried(&text, not_run);
    if std::env::var_os("COTREE_WRITE_DOCS").is_some() {
        fs::write(path, &tried.text).expect("a page");
    }
    assert!(tried.faults.is_empty(), "{page}{}", tried.faults);
}

/// What came of trying a page.
struct Tried {
    /// What is wrong, each with its line.
    faults: String,
    /// The page with what its commands print now.
    text: String,
}

/// Tries a page of which `not_run` blocks can't be run.
fn tried(text: &str, not_run: usize) -> Tried {
    let (mut faults, mut written) = (String::new(), text.to_owned());
    let blocks = match blocks::parse(text) {
        Ok(blocks) => blocks,
        Err(fault) => return Tried { faults: fault, text: written },
    };
    let found = blocks.iter().filter(|block| matches!(block.kind, BlockKind::NotRun)).count();
    if found != not_run {
        let _ = write!(faults, ": {found} blocks are not run; the list of pages says {not_run}");
    }
    let session = Session::new(&root());
    let mut steps = Vec::new();
    for block in &blocks {
        match &block.kind {
            BlockKind::File { name, text } => session.write(name, text),
            BlockKind::Commands(commands) => {
                steps.extend(commands.iter().map(|command| (block, command.clone(), None)))
            }
            BlockKind::Console(all) => steps.extend(all.iter().map(|shown| (block, shown.typed(), Some(shown)))),
            BlockKind::NotRun => {}
        }
    }
    let ran = session.run(steps.iter().map(|(_, command, _)| command.as_str()));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // From the last on: lines before a change keep their numbers.
    let mut found = Vec::new();
    for ((block, command, shown), ran) in steps.iter().zip(ran).rev() {
        let line = shown.map_or(block.line, |shown| shown.line);
        let Some(fault) = fault(block, *shown, &ran) else { continue };
        found.push(format!("\nline {line}: `{command}` {fault}"));
        if let Some(shown) = shown {
            let printed = shown.with_prompts(compare::without_end(&ran.lines)).into_iter();
            let printed = printed.map(|line| format!("{}{line}", shown.indent).trim_end().to_owned());
            lines.splice(shown.output_line - 1..shown.output_line - 1 + shown.output.len(), printed);
            written = lines.join("\n") + "\n";
        }
    }
    faults.extend(found.into_iter().rev());
    Tried { faults, text: written }
}

/// What is wrong with a command that ran, and with what it printed if the page shows that.
fn fault(block: &Block, shown: Option<&Shown>, ran: &session::Ran) -> Option<String> {
    if ran.status != 0 && !shown.is_some_and(Shown::says_that_it_fails) {
        return Some(format!("ends with {}:\n{}", ran.status, ran.text()));
    }
    let shown = shown?;
    if !compare::alike(&shown.output_without_input(), &ran.lines) {
        return Some(format!("prints\n{}\n- - - where the page shows\n{}", ran.text(), shown.output.join("\n")));
    }
    let wide = shown.output.iter().find(|line| line.chars().count() > COLUMNS && !block.wide)?;
    Some(format!("is shown with more than {COLUMNS} columns: {wide}"))
}

#[test]
fn all_pages_are_tried() {
    let docs = fs::read_dir(root().join("docs")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let pages = docs.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
    let mut found: Vec<_> = pages.map(|name| format!("docs/{}", name.to_string_lossy())).collect();
    found.push("README.md".into());
    found.sort();
    let mut listed: Vec<_> = PAGES.iter().map(|&(page, _)| page.to_owned()).collect();
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn a_page_that_is_wrong_is_found_out() {
    let right = "```console\n$ echo 12 cakes\n12 cakes\n$ cat absent\ncat: absent: No such file or directory\n```\n";
    for (text, why) in [
        ("```console\n$ echo 12 cakes\n13 cakes\n```\n", "line 2: `echo 12 cakes` prints\n12 cakes"),
        ("```console\n$ false\n```\n", "line 2: `false` ends with 1"),
        ("```sh\ntrue\nfalse\n```\n", "`false` ends with 1"),
        ("<!-- run: false -->\n", "`false` ends with 1"),
        ("```console\n$ cotree report\n```\n", "`cotree report` ends with 1:"),
        ("```\ntext\n```\n", "line 1: "),
        ("```text\ntext\n```\n", "line 1: "),
        ("```c not-run\nint i;\n```\n", "1 blocks are not run; the list of pages says 0"),
        ("Code:\n\n    int i;\n", "line 3: "),
        ("```console\nno command\n```\n", "line 2: "),
        ("```console\n$ printf %081d 0\n0…\n```\n", ""),
        (right, ""),
    ] {
        let tried = tried(text, 0);
        assert!(tried.faults.contains(why) && why.is_empty() == tried.faults.is_empty(), "{text}{}", tried.faults);
    }
    let wrong = right.replace("12 cakes\n$", "13 cakes\n14 cakes\n$");
    assert_eq!(tried(&wrong, 0).text, right);
}
