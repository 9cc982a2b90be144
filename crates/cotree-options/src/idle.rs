//! Options that change nothing in a build. Whoever gives one expects something of it, so each is worth a warning.
//!
//! Options of *another* method are refused ([`check`](crate::check)). These here are no contradictions: a build without
//! counters may get all options of the one that it is compared with, and switches for experts may stand in the
//! environment for many builds.

use crate::options::{Carry, EventPlacement, SpanningTree};
use crate::values::{Detail, Profile};
use crate::{At, BuildOptions};
use cotree_core::facts::events::EventKind;
use cotree_core::method::{Family, Method};

impl BuildOptions {
    /// Sentences about the options that change nothing in a build with all of these.
    #[must_use]
    pub fn idle(&self) -> Vec<String> {
        // A build by a profile gets the options of the build that the profile is of.
        if self.use_profile.is_some() {
            return Vec::new();
        }
        let Profile(method, detail) = self.profile.unwrap_or(Profile(Method::default(), Detail::None));
        if method.is_none() {
            let idle = self.idle_without_counters();
            let (names, s) = joined(&idle);
            return (!idle.is_empty())
                .then(|| format!("{names} change{s} nothing: --profile none counts nothing"))
                .into_iter()
                .collect();
        }
        let idle = self.idle_in(method, detail).into_iter();
        idle.map(|name| format!("--{name} changes nothing in a build of --profile {}", method.name())).collect()
    }

    /// Sentences about the options that change nothing where bitcode gets probes outside of a link.
    #[must_use]
    pub fn idle_outside_links(&self) -> Vec<String> {
        let given = [
            ("pending", self.pending == Some(true)),
            ("carry", self.carry.is_some()),
            ("lto", self.lto.is_some()),
            ("branch-hints", self.branch_hints.is_some()),
        ];
        let of_links = named(&given);
        let of_links = of_links.iter().map(|name| {
            format!(
                "--{name} changes nothing in `cotree instrument`: what it speaks of is done when the result is compiled"
            )
        });
        self.idle().into_iter().chain(of_links).collect()
    }

    /// What asks for counts of some kind.
    fn idle_without_counters(&self) -> Vec<&'static str> {
        let given = [
            ("verify", self.verify == Some(true)),
            ("targets", self.targets == Some(true)),
            ("include", !self.include.is_empty()),
            ("exclude", !self.exclude.is_empty()),
            ("exclude-file", !self.exclude_file.is_empty()),
            ("pending", self.pending == Some(true)),
            ("event-costs", self.event_costs.is_some()),
            ("path-array", self.path_array.is_some()),
            ("path-limit", self.path_limit.is_some()),
        ];
        named(&given)
    }

    fn idle_in(&self, method: Method, detail: Detail) -> Vec<&'static str> {
        let entry = method.entry();
        let saves = entry.saves_counters && self.spanning_tree != Some(SpanningTree::Min);
        let crosses_calls = match method.family() {
            Family::Counters(_) => saves,
            Family::Events(_) => self.event_placement != Some(EventPlacement::Blocks),
            _ => false,
        };
        let tells_costs = entry.promises.blocks
            || method == Method::Trace
            || matches!(detail, Detail::Kinds(kinds) if kinds.contains(EventKind::Cost));
        let has_registers = match method.family() {
            Family::Paths(_) => true,
            Family::Ipath(_) => self.pending == Some(true),
            _ => false,
        };
        let given = [
            ("event-costs", self.event_costs.is_some() && !tells_costs),
            ("spanning-tree", self.spanning_tree.is_some() && method != Method::Edge),
            ("affine", self.affine.is_some() && !saves && !entry.promises.metrics),
            ("promote", self.promote.is_some() && !saves),
            ("branch-hints", self.branch_hints.is_some() && (!saves || self.at == Some(At::Early))),
            ("interprocedural-flow", self.interprocedural_flow.is_some() && !crosses_calls),
            ("carry", self.carry == Some(Carry::Stack) && !has_registers),
        ];
        named(&given)
    }
}

fn named(given: &[(&'static str, bool)]) -> Vec<&'static str> {
    given.iter().filter(|(_, idle)| *idle).map(|(name, _)| *name).collect()
}

/// Options in a sentence, and the ending of its verb.
fn joined(names: &[&str]) -> (String, &'static str) {
    let all: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
    match all.as_slice() {
        [first @ .., last] if !first.is_empty() => (format!("{} and {last}", first.join(", ")), ""),
        _ => (all.concat(), "s"),
    }
}

#[cfg(test)]
mod tests {
    use crate::BuildOptions;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: BuildOptions,
    }

    fn idle(line: &str) -> String {
        Line::parse_from(std::iter::once("x").chain(line.split_whitespace())).options.idle().join("\n")
    }

    #[test]
    fn what_changes_nothing_is_named() {
        assert_eq!(idle("--profile none --verify"), "--verify changes nothing: --profile none counts nothing");
        let two = "--verify and --include change nothing: --profile none counts nothing";
        assert_eq!(idle("--profile none --verify --include f"), two);
        assert_eq!(idle("--profile vertex --affine off"), "--affine changes nothing in a build of --profile vertex");
        for line in [
            "--profile trace --promote off",
            "--profile block --spanning-tree min",
            "--spanning-tree min --branch-hints off",
            "--at early --branch-hints on",
            "--profile path --interprocedural-flow off",
            "--profile events=loads --event-costs f",
            "--profile calls --event-costs f",
            "--profile ipath --carry stack",
        ] {
            assert_eq!(idle(line).lines().count(), 1, "{line}: {}", idle(line));
        }
    }

    #[test]
    fn what_changes_something_is_not() {
        for line in [
            "",
            "--verify --targets --include f",
            "--affine off --promote off --branch-hints off --interprocedural-flow off --spanning-tree max",
            "--profile path --affine off --carry stack",
            "--profile ipath --pending --carry stack",
            "--profile events --interprocedural-flow off --affine off",
            "--profile events=cost --event-costs f",
            "--profile trace --event-costs f",
            "--event-costs f",
            "--profile none --affine off --weights w",
            "--use p --verify --include f",
        ] {
            assert_eq!(idle(line), "", "{line}");
        }
    }
}
