//! What `cotree costs --json` says: costs with all that was called, and who called whom.

use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Costs of functions and calls.
#[derive(Deserialize)]
pub struct CostsJson {
    functions: Vec<FunctionCosts>,
    calls: Option<Vec<CallCosts>>,
}

#[derive(Deserialize)]
struct FunctionCosts {
    symbol: String,
    inclusive: Option<BTreeMap<String, u64>>,
}

#[derive(Deserialize)]
struct CallCosts {
    caller: usize,
    callee: usize,
    line: Option<u32>,
    calls: u64,
}

/// A call: the symbols of caller and callee, the line, and how often it was made.
pub type Made<'a> = (&'a str, &'a str, Option<u32>, u128);

impl CostsJson {
    /// Asks for the costs of a profile; `None` where those of calls are not known.
    pub fn of(profile: &Path, context: &Context) -> Result<Option<CostsJson>> {
        let text = command::succeed(context.cotree().args(["costs", "--json"]).arg(profile))?;
        let costs: CostsJson = serde_json::from_slice(&text).context("the costs")?;
        Ok(Some(costs).filter(|costs| costs.calls.is_some()))
    }

    /// Instructions of functions with all that they called, by symbol.
    pub fn inclusive(&self) -> Result<HashMap<&str, u128>> {
        let mut sums = HashMap::new();
        for function in &self.functions {
            let Some(inclusive) = &function.inclusive else { continue };
            let amount = inclusive.get("instructions").copied().unwrap_or(0);
            *sums.entry(function.symbol.as_str()).or_default() += u128::from(amount);
        }
        Ok(sums)
    }

    /// All calls.
    pub fn calls(&self) -> impl Iterator<Item = Made<'_>> {
        let symbol = |number: usize| self.functions.get(number).map_or("?", |function| function.symbol.as_str());
        let made = move |call: &CallCosts| (symbol(call.caller), symbol(call.callee), call.line, call.calls.into());
        self.calls.iter().flatten().map(made)
    }
}
