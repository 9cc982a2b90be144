//! Options that change nothing in a build, and are no mistake. Whoever gives one expects something of it, so each is
//! worth a warning.
//!
//! In a build that counts, an option that changes nothing is refused ([`check`](crate::check)). A build without
//! counters may get all options of the one that it is compared with, and is told which of them do nothing.

use crate::BuildOptions;
use crate::options::SCOPES;
use crate::scope::Scope;
use crate::values::Profile;

impl BuildOptions {
    /// Sentences about the options that change nothing in a build with all of these.
    #[must_use]
    pub fn idle(&self) -> Vec<String> {
        // A build by a profile gets the options of the build that the profile is of.
        if self.use_profile.is_some() {
            return Vec::new();
        }
        let method = self.profile.map(|Profile(method, _)| method).unwrap_or_default();
        if !method.is_none() {
            return Vec::new();
        }
        let idle = self.asked(|scope| scope.counts || !(scope.works)(self, method));
        let (names, s) = joined(&idle);
        (!idle.is_empty())
            .then(|| format!("{names} change{s} nothing: --profile none counts nothing"))
            .into_iter()
            .collect()
    }

    /// Sentences about the options that change nothing where bitcode gets probes outside of a link.
    #[must_use]
    pub fn idle_outside_links(&self) -> Vec<String> {
        let of_links = self.asked(|scope| scope.compiles);
        let of_links = of_links.iter().map(|name| {
            format!(
                "--{name} changes nothing in `cotree instrument`: what it speaks of is done when the result is compiled"
            )
        });
        self.idle().into_iter().chain(of_links).collect()
    }

    /// The options that are asked for and of such a scope.
    fn asked(&self, wanted: impl Fn(&Scope<Self>) -> bool) -> Vec<&'static str> {
        SCOPES.iter().filter(|scope| (scope.asked)(self) && wanted(scope)).map(|scope| scope.option).collect()
    }
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
    use crate::line::read;

    fn idle(line: &str) -> String {
        read(line.split_whitespace()).idle().join("\n")
    }

    #[test]
    fn what_changes_nothing_is_named() {
        assert_eq!(idle("--profile none --verify"), "--verify changes nothing: --profile none counts nothing");
        let two = "--verify and --include change nothing: --profile none counts nothing";
        assert_eq!(idle("--profile none --verify --include f"), two);
        assert_eq!(idle("--profile none --affine off --weights w").lines().count(), 1);
    }

    #[test]
    fn what_changes_nothing_beside_counters_is_refused() {
        let said = |line: &str| read(line.split_whitespace()).check_all().expect_err(line).to_string();
        assert_eq!(
            said("--profile calls --affine off"),
            "--affine changes nothing in a build of --profile calls: leave it out, or say --profile edge, vertex-edge, \
             path, path-context, events or events-calls"
        );
        assert_eq!(
            said("--at early --branch-hints on"),
            "--branch-hints changes nothing in a build of --profile edge: another option that is given takes its \
             place, so leave it out"
        );
        for line in [
            "--profile trace --promote off",
            "--profile block --spanning-tree min",
            "--spanning-tree min --branch-hints off",
            "--profile path --interprocedural-flow off",
            "--profile events=loads --event-costs f",
            "--profile calls --event-costs f",
            "--profile edge --carry stack",
        ] {
            let said = said(line);
            assert!(said.contains(" changes nothing in a build of --profile "), "{line}: {said}");
        }
    }

    #[test]
    fn what_changes_something_is_not() {
        for line in [
            "",
            "--verify --targets --include f",
            "--affine off --promote off --branch-hints off --interprocedural-flow off --spanning-tree max",
            "--profile path --affine off --carry stack",
            "--profile ipath --carry stack",
            "--profile events --interprocedural-flow off --affine off",
            "--profile events=cost --event-costs f",
            "--profile trace --event-costs f",
            "--event-costs f",
            "--profile none --lto on",
            "--use p --verify --include f",
        ] {
            assert_eq!(idle(line), "", "{line}");
            let options = read(line.split_whitespace());
            assert!(options.verify.is_some() || options.check_all().is_ok(), "{line}");
        }
    }
}
