//! Whether options go together.

use crate::options::{At, BuildOptions, OF_METHODS, PathMetric, SCOPES};
use crate::scope::{OfMethods, WithoutCounters};
use crate::values::{Detail, Profile};
use cotree_core::facts::events::EventKind;
use cotree_core::method::Method;
use std::path::PathBuf;
use thiserror::Error;

/// Options that do not go together.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Misfit {
    /// A build by a profile counts nothing.
    #[error("--use compiles by a profile and counts nothing: leave out --profile, --verify and --weights")]
    UseCounts,
    /// A folder is no pattern for names of files.
    #[error(
        "--profile-file is a pattern for names of files, and {} is a folder: say {}", .0.display(),
        .0.join("%n.%p.cotree").display()
    )]
    FolderAsPattern(PathBuf),
    /// Nobody says what instructions cost.
    #[error("--profile events=cost counts what a file says that instructions cost: name it with --event-costs FILE")]
    CostsUnknown,
    /// Coverage counts what the compiler has not optimised.
    #[error("--coverage counts before the compiler optimises, and --at {} behind that: leave one of them out", .0.name())]
    LateCoverage(At),
    /// Decisions are in the coverage map.
    #[error("--mcdc counts the decisions of a build for coverage: say --coverage --mcdc")]
    DecisionsWithoutCoverage,
    /// An option is about other methods.
    #[error("--{option} {what}: it needs --profile {methods}")]
    Method {
        /// The option and its value, as the command line has them.
        option: String,
        /// What it does.
        what: String,
        /// The methods that it is for.
        methods: String,
    },
    /// An option changes nothing in a build of this method.
    #[error("--{option} changes nothing in a build of --profile {method}: {remedy}")]
    Idle {
        /// The option, without dashes.
        option: &'static str,
        /// The method.
        method: &'static str,
        /// What to do instead.
        remedy: String,
    },
    /// A ring keeps no addresses.
    #[error("a ring keeps no addresses: leave out --trace-ring or --trace-addresses")]
    AddressesInRing,
}

impl BuildOptions {
    /// The method, if one is named.
    fn method(&self) -> Option<Method> {
        self.profile.map(|Profile(method, _)| method)
    }

    /// Whether options go together that one step of a build names. Other steps may name more, so that what is not named
    /// may be anything.
    ///
    /// # Errors
    /// The options don't go together.
    pub fn check(&self) -> Result<(), Misfit> {
        let method = self.method();
        if self.use_profile.is_some() {
            let counts = method.is_some_and(|method| !method.is_none()) || self.verify == Some(true);
            if counts || self.weights.is_some() {
                return Err(Misfit::UseCounts);
            }
        }
        if let (Some(true), Some(at @ (At::Late | At::Inlined))) = (self.coverage, self.at) {
            return Err(Misfit::LateCoverage(at));
        }
        if let Some(file) = self.profile_file.as_ref().filter(|file| file.is_dir()) {
            return Err(Misfit::FolderAsPattern(file.clone()));
        }
        if method.is_some_and(|method| !method.is_none()) {
            self.check_targets()?;
        }
        if matches!(self.profile, Some(Profile(_, Detail::Kinds(kinds))) if kinds.contains(EventKind::Cost))
            && self.event_costs.is_none()
        {
            return Err(Misfit::CostsUnknown);
        }
        self.check_metric()
    }

    /// Whether all options of a build go together.
    ///
    /// # Errors
    /// The options don't go together.
    pub fn check_all(&self) -> Result<(), Misfit> {
        self.check()?;
        let method = self.method().unwrap_or_default();
        let build = match (self.use_profile.is_some(), method.is_none()) {
            (true, _) => WithoutCounters::Always,
            (false, true) => WithoutCounters::Plain,
            (false, false) => WithoutCounters::Never,
        };
        if self.mcdc == Some(true) && self.coverage != Some(true) && build != WithoutCounters::Always {
            return Err(Misfit::DecisionsWithoutCoverage);
        }
        let refused =
            |rule: &&OfMethods<Self>| rule.also >= build && (rule.asked)(self) && !(rule.methods)(method.entry());
        if let Some(rule) = OF_METHODS.iter().find(refused) {
            return Err(misfit(rule.option, rule.what, &Method::names(rule.methods)));
        }
        if self.trace_addresses.is_some() && self.trace_ring.is_some() {
            return Err(Misfit::AddressesInRing);
        }
        if build != WithoutCounters::Never {
            return Ok(());
        }
        self.check_targets()?;
        self.check_effect(method)
    }

    /// Whether each option changes something in a build that counts by this method.
    fn check_effect(&self, method: Method) -> Result<(), Misfit> {
        let Some(scope) = SCOPES.iter().find(|scope| (scope.asked)(self) && !(scope.works)(self, method)) else {
            return Ok(());
        };
        let of_others = Method::names(|entry| !entry.method.is_none() && (scope.works)(self, entry.method));
        let remedy = if of_others.is_empty() {
            "another option that is given takes its place, so leave it out".to_owned()
        } else {
            format!("leave it out, or say --profile {of_others}")
        };
        Err(Misfit::Idle { option: scope.option, method: method.name(), remedy })
    }

    fn check_targets(&self) -> Result<(), Misfit> {
        if self.targets == Some(true) && !self.method().unwrap_or_default().counts_targets() {
            let methods = Method::names(|entry| entry.method.counts_targets());
            return Err(misfit(
                "targets",
                "counts whom calls lead to beside blocks, edges or the events of calls",
                &methods,
            ));
        }
        Ok(())
    }

    fn check_metric(&self) -> Result<(), Misfit> {
        let name = match self.path_metric.unwrap_or_default() {
            PathMetric::Count => return Ok(()),
            PathMetric::Events => "events",
            PathMetric::Cycles => "cycles",
        };
        if self.method().is_some_and(|method| method.promises().metrics) {
            return Ok(());
        }
        let methods = Method::names(|entry| entry.promises.metrics);
        Err(misfit(&format!("path-metric {name}"), &format!("adds up {name} along paths"), &methods))
    }
}

fn misfit(option: &str, what: &str, methods: &str) -> Misfit {
    Misfit::Method { option: option.into(), what: what.into(), methods: methods.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{TraceAddresses, TraceBy};

    fn with(method: Method) -> BuildOptions {
        BuildOptions { profile: Some(Profile(method, Detail::None)), ..BuildOptions::default() }
    }

    #[test]
    fn options_of_other_methods_are_refused() {
        let traced = |method| BuildOptions { trace_ring: Some(1 << 20), ..with(method) };
        assert!(traced(Method::Trace).check_all().is_ok());
        assert!(traced(Method::Edge).check().is_ok(), "another step may name the method");
        let said = traced(Method::Edge).check_all().unwrap_err().to_string();
        assert_eq!(said, "--trace-ring is about traces: it needs --profile trace");
        let by = BuildOptions { trace_by: Some(TraceBy::Bits), ..BuildOptions::default() };
        assert!(by.check_all().is_err());
        let both = BuildOptions { trace_addresses: Some(TraceAddresses::All), ..traced(Method::Trace) };
        assert_eq!(both.check_all(), Err(Misfit::AddressesInRing));
        let summed = |method| BuildOptions { path_metric: Some(PathMetric::Cycles), ..with(method) };
        assert!(summed(Method::Path).check().is_ok());
        assert!(summed(Method::Edge).check().unwrap_err().to_string().contains("--profile path"));
        for across in [Method::Ipath, Method::IpathPiecewise, Method::IpathHybrid] {
            assert!(summed(across).check().is_ok());
        }
        let limited = |method| BuildOptions { event_limit: Some(true), ..with(method) };
        assert!(limited(Method::Events).check_all().is_ok() && limited(Method::Path).check_all().is_err());
        let targets = |method| BuildOptions { targets: Some(true), ..with(method) };
        assert!(targets(Method::Edge).check().is_ok() && targets(Method::None).check_all().is_ok());
        assert!(targets(Method::Path).check().is_err());
        let array = |method| BuildOptions { path_array: Some(3), ..with(method) };
        assert!(array(Method::PathContext).check_all().is_ok() && array(Method::Edge).check_all().is_err());
        let limit = BuildOptions { path_limit: Some(3), ..BuildOptions::default() };
        assert!(limit.check().is_ok() && limit.check_all().is_err());
    }

    #[test]
    fn builds_by_profiles_count_nothing() {
        let by = |method| BuildOptions { use_profile: Some("p".into()), ..with(method) };
        assert!(by(Method::None).check_all().is_ok());
        assert_eq!(by(Method::Edge).check(), Err(Misfit::UseCounts));
        let limited = BuildOptions { event_limit: Some(true), ..by(Method::None) };
        assert!(limited.check_all().is_ok(), "the program is built as before");
    }
}
