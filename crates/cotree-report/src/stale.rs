//! What a program was compiled by (`--use`): which functions have their counts, which have a guess, and from which
//! builds they are.

use crate::names::matches;
use crate::report::ReportOptions;
use crate::terminal::{counted, grouped, number, text};
use cotree_profile::used::{How, Used, UsedFunction};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What counts a function has, in a word and in a sentence.
fn words(how: How) -> (&'static str, &'static str) {
    match how {
        How::Counted => ("counted", "its counts"),
        How::Guessed => ("guessed", "those of an earlier version: a guess"),
        How::Changed => ("changed", "none, as little is known of the version that was counted"),
        How::Unknown => ("unknown", "none, as the profile does not have it"),
    }
}

/// Writes the view.
///
/// # Errors
/// If the output can't be written.
pub fn write(name: &str, used: &Used, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    writeln!(out, "{}", style.heading(&format!("{name}, compiled by {}", used.profile)))?;
    writeln!(out)?;
    let columns = [text("counts"), number("functions"), number("blocks"), number("with counts"), text("which")];
    let row = |how| {
        let (word, sentence) = words(how);
        let sum = |of: fn(&UsedFunction) -> u64| used.of(how).map(|f| u128::from(of(f))).sum::<u128>();
        let numbers = [used.of(how).count() as u128, sum(|f| f.blocks), sum(|f| f.known)].map(grouped);
        let [functions, blocks, known] = numbers;
        vec![word.to_owned(), functions, blocks, known, sentence.to_owned()]
    };
    let all = [How::Counted, How::Guessed, How::Changed, How::Unknown];
    let rows = all.into_iter().filter(|&how| used.of(how).next().is_some()).map(row).collect();
    writeln!(out, "{}", style.table(&columns, rows))?;
    let calls: u128 = used.functions.iter().map(|function| u128::from(function.calls)).sum();
    if calls > 0 {
        let calls = counted(calls, "call");
        writeln!(
            out,
            "{calls} through pointers: it is known whom they led to, and hot ones became direct calls where LLVM could"
        )?;
    }
    write_builds(used, options, out)?;
    write_functions(used, options, out)
}

/// How builds are called in lists: A to Z, then by number.
fn letter(build: usize) -> String {
    match u8::try_from(build) {
        Ok(letter) if letter < 26 => char::from(b'A' + letter).to_string(),
        _ => (build + 1).to_string(),
    }
}

fn letters(builds: &[usize]) -> String {
    builds.iter().map(|&build| letter(build)).collect::<Vec<_>>().join(" ")
}

fn write_builds(used: &Used, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    if used.builds.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", options.style.heading("Builds that were counted"))?;
    let columns = [text(""), text("build"), number("runs"), number("functions from it"), text("name")];
    let rows = used.builds.iter().enumerate().map(|(number, build)| {
        let functions = used.functions.iter().filter(|function| function.builds.contains(&number)).count();
        let id = build.id.chars().take(12).collect();
        vec![letter(number), id, grouped(build.runs.into()), grouped(functions as u128), build.name.clone()]
    });
    writeln!(out, "{}", options.style.table(&columns, rows.collect()))?;
    if used.builds.len() > 1 {
        let mut together: BTreeMap<&[usize], usize> = BTreeMap::new();
        for function in used.functions.iter().filter(|function| function.builds.len() > 1) {
            *together.entry(&function.builds).or_default() += 1;
        }
        for (builds, functions) in together {
            let functions = counted(functions as u128, "function");
            writeln!(out, "{functions}: the sums of {}, which have the same code", letters(builds))?;
        }
    }
    Ok(())
}

/// Lists the functions that do not have their own counts; with `--verbose`, all.
fn write_functions(used: &Used, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let wanted = |function: &&UsedFunction| {
        let named = options.function.as_ref().is_none_or(|pattern| matches(pattern, &function.symbol));
        named && (options.verbose || options.function.is_some() || function.how != How::Counted)
    };
    let mut functions: Vec<&UsedFunction> = used.functions.iter().filter(wanted).collect();
    if functions.is_empty() {
        return Ok(());
    }
    // What was counted is what most people know; largest first, since it matters most.
    functions.sort_by_key(|function| (function.how == How::Counted, function.how, std::cmp::Reverse(function.blocks)));
    let shown = if options.top == 0 { functions.len() } else { options.top.min(functions.len()) };
    let heading = match functions.len() - shown {
        0 => "Functions".to_owned(),
        more => format!("Functions ({} more: -n 0)", grouped(more as u128)),
    };
    writeln!(out, "\n{}", options.style.heading(&heading))?;
    let columns = [text("counts"), number("of blocks"), text("from"), text("function"), text("module")];
    let rows = functions[..shown].iter().map(|function| {
        let blocks = format!("{} of {}", grouped(function.known.into()), grouped(function.blocks.into()));
        let name = options.names.show(&function.symbol);
        vec![words(function.how).0.to_owned(), blocks, letters(&function.builds), name, function.module.clone()]
    });
    writeln!(out, "{}", options.style.table(&columns, rows.collect()))
}
