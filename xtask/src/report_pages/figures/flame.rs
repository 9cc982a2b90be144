//! The flame graph, against `cotree export --format speedscope`.
//!
//! Folded stacks would not do: they are of names, and functions may share one.

use super::shown::{figure, share};
use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::path::Path;

#[derive(Deserialize)]
struct Speedscope {
    shared: Frames,
    profiles: Vec<Stacks>,
}

#[derive(Deserialize)]
struct Frames {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
}

/// Stacks of one kind of events, as numbers of frames, and what each cost itself.
#[derive(Deserialize)]
struct Stacks {
    name: String,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Checks boxes: titles, amounts and where they stand. Gives how many there are.
pub fn check(boxes: &[[String; 3]], profile: &Path, kind: &str, whole: u128, context: &Context) -> Result<usize> {
    let text = command::succeed(context.cotree().args(["export", "--format", "speedscope"]).arg(profile))?;
    let exported: Speedscope = serde_json::from_slice(&text).context("the export for speedscope")?;
    // What each stack cost with all within, and itself.
    let mut sums: HashMap<&[usize], [u128; 2]> = HashMap::new();
    for stacks in exported.profiles.iter().filter(|stacks| stacks.name == kind) {
        for (stack, &weight) in stacks.samples.iter().zip(&stacks.weights) {
            (1..=stack.len()).for_each(|end| sums.entry(&stack[..end]).or_default()[0] += u128::from(weight));
            sums.entry(stack).or_default()[1] += u128::from(weight);
        }
    }
    let name = |stack: &[usize]| stack.last().and_then(|&frame| exported.shared.frames.get(frame));
    let known: HashSet<(&str, u128, u128)> =
        sums.iter().filter_map(|(stack, [total, own])| Some((name(stack)?.name.as_str(), *total, *own))).collect();
    let mut roots = 0;
    for [title, total, y] in boxes {
        let (rest, own) = title.rsplit_once("; itself ").context("what it cost itself")?;
        let (name, amounts) = rest.rsplit_once(": ").context("a name")?;
        let (amount, part) = amounts.rsplit_once(", ").context("a share")?;
        let amount = figure(amount.split(' ').next().unwrap_or_default())?.context("an amount")?;
        ensure!(Some(amount) == total.parse().ok(), "{title}: {total}");
        let one = (name, amount, figure(own)?.context("an amount")?);
        ensure!(known.contains(&one), "{one:?} is no stack that is exported");
        share(if part == "0%" { "" } else { part }, amount, whole)?;
        if y == "0" {
            roots += amount;
        }
    }
    // Boxes that are too narrow to be seen are left out.
    ensure!(roots <= whole && roots * 100 > whole * 98, "the flame graph has {roots} instructions of {whole}");
    Ok(boxes.len())
}
