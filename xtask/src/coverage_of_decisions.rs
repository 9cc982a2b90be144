//! MC/DC of C and C++ programs, decision by decision, held against llvm-cov's.
//!
//! llvm-cov takes the outcome of the last condition for that of the decision, which is wrong where a part of several
//! conditions is negated, and has no vectors of some decisions that choose between objects or are negated themselves.
//! No other decision may differ.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Function, file, and where the decision begins and ends.
type Key = (String, PathBuf, [u64; 4]);

/// Per decision of each instance, how many conditions were shown to be independent, and how many there are.
type Decisions = BTreeMap<Key, Vec<(usize, usize)>>;

/// Compares the decisions of both documents; tells how many there are, and how many llvm-cov tells otherwise.
pub fn compare(ours: &Value, theirs: &Value) -> Result<(usize, usize)> {
    let (ours, theirs) = (of_ours(ours)?, of_theirs(theirs)?);
    let mut otherwise = 0;
    for key in ours.keys().chain(theirs.keys()) {
        let place = || format!("the decision of {} in {}, {:?}", key.0, key.1.display(), key.2);
        let (Some(ours), Some(theirs)) = (ours.get(key), theirs.get(key)) else {
            anyhow::bail!("{} is in one of both alone", place());
        };
        let of = |all: &[(usize, usize)]| all.iter().map(|(_, of)| *of).collect::<Vec<_>>();
        ensure!(of(ours) == of(theirs), "{}: {ours:?} conditions, and llvm-cov has {theirs:?}", place());
        if ours != theirs {
            let is_told = has_negation(&key.1, key.2)?;
            ensure!(is_told, "{}: {ours:?} are independent, and llvm-cov has {theirs:?}", place());
            otherwise += 1;
        }
    }
    Ok((ours.len(), otherwise / 2))
}

/// Whether the text of a decision has a `!`, or what it chooses may be clang's reason to forget it.
fn has_negation(path: &Path, [first, _, last, _]: [u64; 4]) -> Result<bool> {
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    let lines = text.lines().skip(first.saturating_sub(1) as usize).take((last + 1 - first) as usize);
    Ok(lines.into_iter().any(|line| line.contains('!') || line.contains('?')))
}

fn place(list: &[Value]) -> Result<[u64; 4]> {
    let numbers: Option<Vec<u64>> = list.iter().take(4).map(Value::as_u64).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).context("a decision without a place")
}

fn add(decisions: &mut Decisions, key: Key, shown: (usize, usize)) {
    let all = decisions.entry(key).or_default();
    all.push(shown);
    all.sort_unstable();
}

fn of_ours(document: &Value) -> Result<Decisions> {
    let mut decisions = Decisions::new();
    for decision in
        document["files"].as_array().into_iter().flatten().flat_map(|file| file["decisions"].as_array()).flatten()
    {
        let text = |word: &str| decision[word].as_str().map(str::to_owned).with_context(|| format!("no {word}"));
        let list = |word: &str| decision[word].as_array().cloned().with_context(|| format!("no {word}"));
        let conditions = list("conditions")?;
        let shown = conditions
            .iter()
            .filter(|condition| condition["unique_cause"].is_array() && condition["constant"] == false);
        let key = (
            text("function")?,
            std::fs::canonicalize(text("path")?)?,
            place(&[list("start")?, list("end")?].concat())?,
        );
        add(&mut decisions, key, (shown.count(), conditions.len()));
    }
    Ok(decisions)
}

fn of_theirs(document: &Value) -> Result<Decisions> {
    let mut decisions = Decisions::new();
    for function in document["data"][0]["functions"].as_array().into_iter().flatten() {
        let name = function["name"].as_str().context("a function without a name")?;
        let symbol = name.rsplit([':', ';']).next().unwrap_or(name);
        for record in function["mcdc_records"].as_array().into_iter().flatten() {
            let parts = record.as_array().context("no record of a decision")?;
            let file = parts.get(6).and_then(Value::as_u64).context("a decision without a file")?;
            let path = function["filenames"][file as usize].as_str().context("a file without a name")?;
            let conditions = parts.iter().find_map(Value::as_array).context("a decision without conditions")?;
            let shown = conditions.iter().filter(|condition| condition.as_bool() == Some(true)).count();
            add(
                &mut decisions,
                (symbol.to_owned(), std::fs::canonicalize(path)?, place(parts)?),
                (shown, conditions.len()),
            );
        }
    }
    Ok(decisions)
}
