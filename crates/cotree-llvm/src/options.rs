//! What a link does, from what the user has asked for and what the linker says: `-plugin-opt` values.

use crate::emit::Level;
use crate::error::Error;
use crate::extract::{CostFile, Selection};
use cotree_core::facts::Accesses;
use cotree_core::method::events::EventOptions;
use cotree_core::method::ipath::{Hybrid, IpathOptions};
use cotree_core::method::path::PathOptions;
use cotree_core::method::path::windows::Room;
use cotree_core::method::trace::TraceOptions;
use cotree_core::method::{Family, Method};
use cotree_core::place::spanning::Extreme;
use cotree_core::unit::Choices;
use cotree_options::{At, BuildOptions, Carry, Detail, EventPlacement, Profile, TracePlacement, plugin_value};
use std::collections::BTreeMap;
use std::path::Path;

/// Options of one link.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// What the user has asked for.
    pub asked: BuildOptions,
    /// The method: none where the program is compiled by a profile, and in partial links.
    pub method: Method,
    /// The level at which the program is optimised after instrumentation.
    pub level: Level,
    /// The processor, `x86-64` unless named.
    pub cpu: String,
    /// Functions that linker options speak of: others may call them, or be called in their place.
    pub foreign: Vec<String>,
    /// Which functions.
    pub selection: Selection,
    /// What instructions cost.
    pub costs: Option<CostFile>,
    /// LLVM has crashed: look for functions that it can't compile with notes at calls.
    pub careful: bool,
    /// Write the modules as text before and after into the work folder.
    pub keep_temps: bool,
}

impl LinkOptions {
    /// Options of a link of which the linker says nothing.
    ///
    /// # Errors
    /// The options do not go together, or a file or a pattern of theirs can't be read.
    pub fn new(asked: BuildOptions) -> Result<Self, Error> {
        asked.check_all()?;
        let named = asked.profile.map(|Profile(method, _)| method).unwrap_or_default();
        Ok(Self {
            method: if asked.use_profile.is_some() { Method::None } else { named },
            level: Level::O2,
            cpu: "x86-64".into(),
            foreign: Vec::new(),
            selection: Selection::new(&asked.include, &asked.exclude, &asked.exclude_file)?,
            costs: asked.event_costs.as_deref().map(CostFile::read).transpose()?,
            careful: false,
            keep_temps: false,
            asked,
        })
    }

    /// Reads `-plugin-opt` values; those of other plugins are passed over.
    ///
    /// # Errors
    /// As [`LinkOptions::new`]; or one of ours is unknown.
    pub fn parse<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        let bad = |option: &str, reason: String| Error::Option { option: option.into(), reason };
        let mut asked = BuildOptions::default();
        for value in values.iter().filter_map(|value| plugin_value(value.as_ref())) {
            asked.add_plugin_value(value).map_err(|error| bad("cotree-options", error.to_string()))?;
        }
        let mut options = Self::new(asked)?;
        for value in values {
            let value = value.as_ref();
            let (key, argument) = value.split_once('=').unwrap_or((value, ""));
            match key {
                "O0" => options.level = Level::O0,
                "O1" => options.level = Level::O1,
                "O2" => options.level = Level::O2,
                "O3" => options.level = Level::O3,
                "Os" => options.level = Level::Os,
                "Oz" => options.level = Level::Oz,
                "mcpu" => argument.clone_into(&mut options.cpu),
                "cotree-careful" => options.careful = true,
                "cotree-foreign" => options.foreign.push(argument.to_owned()),
                "cotree-keep-temps" => options.keep_temps = true,
                // Read above, and the plugin's own.
                "cotree-options" | "cotree-driver" | "cotree-folder" | "cotree-static" => {}
                _ if key.starts_with("cotree-") => {
                    let reason = "there is none of that name; options of builds stand before the subcommand".into();
                    return Err(bad(value, reason));
                }
                _ => {}
            }
        }
        Ok(options)
    }

    /// What counts depend on besides sources and compilers ([`Build::options`](cotree_core::facts::Build::options)).
    #[must_use]
    pub fn described(&self) -> BTreeMap<String, String> {
        let mut options = self.asked.described();
        options.insert("level".into(), self.level.name().into());
        options.insert("cpu".into(), self.cpu.clone());
        options
    }

    /// Are the redundant method's probes carried, too?
    #[must_use]
    pub fn verify(&self) -> bool {
        self.asked.verify == Some(true) && !self.uses_profile()
    }

    /// Is nothing counted, and the program compiled by the counts of a profile?
    #[must_use]
    pub fn uses_profile(&self) -> bool {
        self.asked.use_profile.is_some()
    }

    /// The profile whose counts guide the placement of probes, or the whole build.
    #[must_use]
    pub fn weights(&self) -> Option<&Path> {
        self.asked.use_profile.as_deref().or(self.asked.weights.as_deref())
    }

    /// Does bitcode come unoptimised, and do probes go in before anything is inlined?
    #[must_use]
    pub fn early(&self) -> bool {
        self.asked.early()
    }

    /// Are small functions inlined before probes go in?
    #[must_use]
    pub fn inlines_first(&self) -> bool {
        self.asked.place() == At::Inlined && self.level != Level::O0
    }

    /// Are modules compiled as one?
    #[must_use]
    pub fn across_modules(&self) -> bool {
        self.asked.lto == Some(true)
    }

    /// Are path registers stored on the stack before each call? Else that is done where the code generator runs out of
    /// registers.
    #[must_use]
    pub fn carry_on_stack(&self) -> bool {
        self.asked.carry == Some(Carry::Stack)
    }

    /// How paths are planned.
    #[must_use]
    pub fn paths(&self) -> PathOptions {
        let usual = PathOptions::default();
        PathOptions {
            array: self.asked.path_array.unwrap_or(usual.array),
            limit: self.asked.path_limit.unwrap_or(usual.limit),
            metric: self.asked.path_metric.unwrap_or_default().into(),
            ..usual
        }
    }

    /// How paths across functions are planned.
    #[must_use]
    pub fn ipath(&self) -> IpathOptions {
        let usual = match self.asked.profile {
            Some(Profile(_, Detail::Strategy(strategy))) => strategy.into(),
            Some(Profile(Method::IpathHybrid, _)) => Hybrid::Local.into(),
            _ => IpathOptions::default(),
        };
        IpathOptions { metric: self.asked.path_metric.unwrap_or_default().into(), ..usual }
    }

    /// How events are counted.
    #[must_use]
    pub fn events(&self) -> EventOptions {
        let kinds = match self.asked.profile {
            Some(Profile(_, Detail::Kinds(kinds))) => Some(kinds),
            _ => None,
        };
        EventOptions {
            kinds: kinds.unwrap_or_default(),
            naive: self.asked.event_placement == Some(EventPlacement::Blocks),
            queries: self.asked.event_queries == Some(true),
            limits: self.asked.event_limit == Some(true),
        }
    }

    /// How traces are planned.
    #[must_use]
    pub fn traces(&self) -> TraceOptions {
        TraceOptions {
            by: self.asked.trace_by.unwrap_or_default().into(),
            per_branch: self.asked.trace_placement == Some(TracePlacement::Branches),
            timed: self.asked.trace_time == Some(true),
            addresses: self.accesses(),
            ..TraceOptions::default()
        }
    }

    /// The accesses of memory that tell their addresses.
    #[must_use]
    pub fn accesses(&self) -> Option<Accesses> {
        self.asked.trace_addresses.map(Into::into)
    }

    /// Are loop variables counted with?
    fn affine(&self) -> bool {
        self.asked.affine.unwrap_or(true)
    }

    /// Are counters kept in registers in tight loops? Without optimisation nothing is in registers.
    fn promotes(&self) -> bool {
        self.asked.promote.unwrap_or(true) && self.level != Level::O0
    }

    /// Which spanning tree the edge method takes.
    fn spanning_tree(&self) -> Extreme {
        self.asked.spanning_tree.map_or(Extreme::Maximum, Into::into)
    }

    /// Are targets of indirect calls counted?
    fn targets(&self) -> bool {
        self.asked.asks_for_targets().unwrap_or(self.method.names_callees())
    }

    /// Does the program have counters and nothing else?
    #[must_use]
    pub fn has_counters_alone(&self) -> bool {
        self.method.has_counters_alone() && !self.targets() && self.asked.parts != Some(true)
    }

    /// Are counters to be as few and as cheap as they can be?
    fn saves_counters(&self) -> bool {
        self.method.entry().saves_counters && self.spanning_tree() == Extreme::Maximum
    }

    /// What planning has to know of them; a library is `shared`.
    #[must_use]
    pub fn choices(&self, shared: bool) -> Choices {
        Choices {
            spanning_tree: self.spanning_tree(),
            affine: self.affine(),
            promote: self.promotes(),
            // A process may end at a call before the function is entered: then calls do not tell entries.
            interprocedural_flow: self.asked.interprocedural_flow.unwrap_or(true) && self.asked.parts != Some(true),
            paths: self.paths(),
            ipath: self.ipath(),
            events: self.events(),
            traces: self.traces(),
            targets: self.targets(),
            room: if shared { Room::Whole } else { Room::AsUsed },
        }
    }

    /// Is the code generator told which counters are expected to run rarely? It is where counters are to be few and
    /// most optimisations are over: these use branch weights for more than to put blocks out of line.
    #[must_use]
    pub fn hints_branches(&self) -> bool {
        self.asked.branch_hints.unwrap_or(true) && self.saves_counters() && !self.early() && self.level != Level::O0
    }

    /// Are variables that move by constant steps looked for? They count where counters are to be few, and tell where
    /// registers pay.
    #[must_use]
    pub fn finds_affine(&self) -> bool {
        self.saves_counters() && (self.affine() || self.promotes()) || self.affine() && self.method.promises().paths
    }

    /// Whether local variables leave memory before counters are placed, so that loop variables can count. Only code
    /// that nothing has optimised yet has any there, and accesses of memory that are traced stay.
    #[must_use]
    pub fn promotes_variables(&self) -> bool {
        let counts = matches!(self.method.family(), Family::Counters(_) | Family::Paths(_));
        counts && self.early() && self.level != Level::O0 && self.finds_affine() && self.accesses().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> LinkOptions {
        LinkOptions::parse(&[format!("cotree-options={json}")]).expect("good options")
    }

    #[test]
    fn branches_are_hinted_at_where_that_is_of_use() {
        assert!(LinkOptions::parse::<&str>(&[]).expect("good options").hints_branches());
        for without in [
            r#"{"branch-hints":false}"#,
            r#"{"at":"early"}"#,
            r#"{"spanning-tree":"min"}"#,
            r#"{"profile":"vertex"}"#,
            r#"{"profile":"path"}"#,
            r#"{"profile":"none"}"#,
        ] {
            assert!(!options(without).hints_branches(), "{without}");
        }
        assert!(!LinkOptions::parse(&["O0"]).expect("good options").hints_branches());
    }

    #[test]
    fn events_are_planned_as_asked() {
        let asked = options(r#"{"profile":"events","event-placement":"blocks","event-limit":true}"#).events();
        assert!(asked.naive && asked.limits && !asked.queries);
        assert!(options(r#"{"profile":"events-calls","event-queries":true}"#).events().queries);
    }

    #[test]
    fn unknown_options_are_refused() {
        for wrong in ["cotree-options={\"branch-hint\":true}", "cotree-options=", "cotree-profile=edge", "cotree-x"] {
            assert!(matches!(LinkOptions::parse(&[wrong]), Err(Error::Option { .. })), "{wrong}");
        }
        assert!(LinkOptions::parse(&["O3", "save-temps", "cotree-driver=/x", "cotree-folder=y"]).is_ok());
        let misfit = LinkOptions::parse(&[r#"cotree-options={"trace-off":true}"#]);
        assert!(matches!(misfit, Err(Error::Misfit(_))));
    }
}
