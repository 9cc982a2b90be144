//! Pages of a program whose names are markup, quotes, control characters and very long: they show as text.

use super::asked::asked;
use crate::browser::Browser;
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::fs;
use std::process::Command;

/// What the pages say (`programs/report_hostile.js`).
#[derive(Deserialize)]
struct Answers {
    /// All names in tables of the overview.
    names: Vec<String>,
    /// Headings of all other views.
    titles: Vec<String>,
    /// Elements that no view draws.
    strange: Vec<String>,
    views: usize,
    /// By how many pixels a view is wider than the window.
    widest: i64,
    /// No script of a name has run.
    owned: bool,
}

/// Symbols of functions.
fn symbols() -> Vec<String> {
    let long = format!("long_{}", "x".repeat(10_000));
    let markup = "<img src=x onerror=owned=1>";
    let attribute = "\" onmouseover=\"owned=1\" x=\"";
    let script = "</script><script>owned=1</script>";
    let bidi = "right\u{202e}tfel\u{2066}";
    let link = "javascript:owned=1";
    [markup, attribute, script, bidi, link, "&lt;b&gt;&amp;", &long].map(str::to_owned).to_vec()
}

/// A folder and a file that would be markup.
const FOLDER: &str = "a b#?%20&\"'";
const FILE: &str = "<svg onload=owned=1>.c";

pub fn check(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("report-hostile");
    workspace::fresh(&folder)?;
    let sources = folder.join(FOLDER);
    fs::create_dir(&sources)?;
    let names = symbols();
    let literal = |text: &str| format!("{text:?}").replace("\\u{202e}", "\u{202e}").replace("\\u{2066}", "\u{2066}");
    let (mut code, mut calls) = (String::new(), String::new());
    for (number, name) in names.iter().enumerate() {
        let function = format!("f{number}");
        let spelt = literal(name);
        code += &format!("int {function}(int n) __asm__({spelt});\n");
        code += &format!("int {function}(int n) {{ return n > {number} ? n + 1 : n - 1; }} // {name}\n");
        calls += &format!("  sum += {function}(i);\n");
    }
    let main = format!(
        "int main(void) {{\n  int sum = 0;\n  for (int i = 0; i < 9; i++) {{\n{calls}  }}\n  return sum == 1;\n}}\n"
    );
    let source = sources.join(FILE);
    fs::write(&source, code + &main)?;
    let (ours, profile, pages) = (folder.join("ours"), folder.join("run.cotree"), folder.join("pages"));
    let mut build = context.cotree_cc(&["--profile", "path"], false);
    command::succeed(build.args(["-O0", "-g", "-w", "-o"]).arg(&ours).arg(&source))?;
    command::succeed(Command::new(&ours).env("COTREE_FILE", &profile))?;
    command::succeed(context.cotree().args(["html", "-o"]).arg(&pages).arg(&profile))?;
    let browser = Browser { folder: folder.clone() };
    let answers: Answers = asked(&browser, &pages, include_str!("../../programs/report_hostile.js"))?;
    ensure!(answers.strange.is_empty() && answers.owned, "a name is markup: {:?}", answers.strange);
    // What would turn the text around is made visible.
    let shown = |name: &str| name.replace(['\u{202e}', '\u{2066}'], "");
    let plain = |text: &String| text.chars().filter(|c| !matches!(c, '\u{202e}' | '\u{2066}')).collect::<String>();
    for name in &names {
        let whole = name.starts_with("right");
        let found = |text: &String| if whole { text.starts_with("right") } else { plain(text).contains(&shown(name)) };
        ensure!(answers.names.iter().any(found), "{name} is not in the tables");
        ensure!(answers.titles.iter().any(found), "{name} has no page");
    }
    ensure!(answers.titles.iter().any(|title| title.contains(FILE)), "{FILE} has no page");
    ensure!(answers.widest <= 0, "a name makes the page {} pixels wider than the window", answers.widest);
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} names, {} views", names.len(), answers.views))
}
