//! A program that lives in its dependencies: it takes sources apart with regular expressions, writes what it found as
//! JSON, reads that back as text and as types, and survives a panic and a few errors on its way.
//!
//!     json-regex ROUNDS FILE…
//!
//! Nothing of the output depends on time, addresses or chance.

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Line {
    number: usize,
    words: Vec<String>,
    value: Option<f64>,
    kind: Kind,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone, Copy, PartialOrd, Ord, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Comment,
    Directive,
    Code,
    Empty,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().and_then(|rounds| rounds.parse().ok()).expect("a number of rounds");
    for file in arguments {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        for _ in 0..rounds {
            analyse(&text);
        }
    }
    let caught = std::panic::catch_unwind(|| deep(20)).is_err();
    println!("caught: {caught}");
    std::process::exit(5);
}

fn deep(levels: u32) -> u32 {
    let guard = vec![levels; 4];
    if levels == 0 {
        std::panic::resume_unwind(Box::new("the bottom"));
    }
    deep(levels - 1) + guard[0]
}

fn analyse(text: &str) {
    let word = Regex::new(r"\b[A-Za-z_][A-Za-z0-9_]*\b").unwrap();
    let number = Regex::new(r"(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)").unwrap();
    let directive = Regex::new(r"^\s*#\s*(?P<name>define|include|if|ifdef|ifndef|endif|else)\b").unwrap();
    let call = Regex::new(r"(\w+)\s*\(([^()]*)\)").unwrap();
    let mut lines = Vec::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let kind = if line.trim().is_empty() {
            Kind::Empty
        } else if directive.is_match(line) {
            Kind::Directive
        } else if line.trim_start().starts_with(['/', '*']) {
            Kind::Comment
        } else {
            Kind::Code
        };
        for found in call.captures_iter(line) {
            *calls.entry(found[1].to_owned()).or_default() += 1;
        }
        let words = word.find_iter(line).map(|found| found.as_str().to_owned()).collect();
        let value = number.find(line).and_then(|found| found.as_str().parse().ok());
        lines.push(Line { number: index + 1, words, value, kind });
    }
    let json = serde_json::to_string_pretty(&lines).unwrap();
    let back: Vec<Line> = serde_json::from_str(&json).unwrap();
    let tree: Value = serde_json::from_str(&json).unwrap();
    let words = tree.as_array().unwrap().iter().filter_map(|line| line["words"].as_array()).map(Vec::len).sum::<usize>();
    let broken = serde_json::from_str::<Value>(&json[..json.len() / 2]).unwrap_err();
    let replaced = number.replace_all(&json, "<$0>");
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for line in &back {
        *kinds.entry(line.kind).or_default() += 1;
    }
    let mut ranking: Vec<_> = calls.into_iter().collect();
    ranking.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranking.truncate(5);
    println!("{} bytes of JSON, same: {}, {words} words, {kinds:?}", json.len(), back == lines);
    println!("{ranking:?} {} {broken}", replaced.len());
}
