//! What the tables show: the measurements of all programs in all builds, and ratios of them.

use super::plans::Plans;
use super::store::{Counted, Store, Timed};
use super::subject::Workloads;
use super::variants::Variant;
use std::collections::BTreeMap;

/// All programs, in all builds.
pub struct Results {
    /// The builds, in the order of the tables.
    pub variants: Vec<Variant>,
    /// The programs.
    pub programs: Vec<Measured>,
}

/// What was found of one program.
pub struct Measured {
    /// The program.
    pub name: &'static str,
    /// Instructions, size and build, by name of the build.
    pub counted: BTreeMap<String, Counted>,
    /// Times, by name of the build.
    pub timed: BTreeMap<String, Timed>,
    /// What its profiles and plans tell.
    pub plans: Plans,
}

/// One number of a build over all programs, as ratios over the base.
pub struct Spread {
    /// How many programs were measured.
    pub programs: usize,
    /// In the sum of all programs.
    pub total: f64,
    /// The figure of the program in the middle.
    pub median: f64,
    /// The figure of the worst program.
    pub worst: (f64, &'static str),
}

impl Measured {
    fn new(program: &Workloads, variants: &[Variant], store: &Store) -> Measured {
        let subject = &program.counted;
        let builds = || variants.iter().filter(|variant| subject.has(variant));
        Measured {
            name: program.name(),
            counted: builds().filter_map(|v| Some((v.name.clone(), store.counted(subject, v)?.clone()))).collect(),
            timed: builds().filter_map(|v| Some((v.name.clone(), store.timed(subject, v)?.clone()))).collect(),
            plans: store.plans(subject).cloned().unwrap_or_default(),
        }
    }

    /// Instructions over those of the base.
    pub fn overhead(&self, variant: &Variant) -> Option<f64> {
        let instructions = |name: &str| Some(self.counted.get(name)?.instructions as f64);
        Some(instructions(&variant.name)? / instructions(variant.tool.base())?)
    }

    /// Processor time of work over that of the base.
    pub fn slowdown(&self, variant: &Variant) -> Option<f64> {
        self.timed.get(&variant.name)?.over_base
    }

    /// Milliseconds that beginning and end take beyond those of the base.
    pub fn longer_ends(&self, variant: &Variant) -> Option<f64> {
        let ends = |name: &str| self.timed.get(name)?.ends_ms;
        Some(ends(&variant.name)? - ends(variant.tool.base())?)
    }

    /// The builds that printed or returned something else than most.
    pub fn different(&self) -> Vec<&str> {
        let outputs =
            || self.counted.iter().filter_map(|(name, counted)| Some((name.as_str(), counted.output.as_ref()?)));
        let mut votes: BTreeMap<&String, usize> = BTreeMap::new();
        outputs().for_each(|(_, output)| *votes.entry(output).or_default() += 1);
        let usual = votes.into_iter().max_by_key(|&(_, votes)| votes).map(|(output, _)| output);
        outputs().filter(|&(_, output)| Some(output) != usual).map(|(name, _)| name).collect()
    }
}

impl Results {
    /// What the store has of these programs.
    pub fn new(programs: &[&Workloads], variants: &[Variant], store: &Store) -> Results {
        let programs = programs.iter().map(|program| Measured::new(program, variants, store));
        Results { variants: variants.to_vec(), programs: programs.collect() }
    }

    /// The build of that name.
    pub fn named(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// All builds but those that others are compared with.
    pub fn with_counters(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().filter(|variant| !variant.is_base())
    }

    /// A number of a build; `None` unless it is known of all programs that the build was measured with.
    pub fn spread(&self, variant: &Variant, number: impl Fn(&Counted) -> Option<f64>) -> Option<Spread> {
        let (mut sum, mut bases, mut ratios) = (0.0, 0.0, Vec::new());
        for program in &self.programs {
            let cells = [&variant.name, variant.tool.base()].map(|name| program.counted.get(name));
            let [Some(own), Some(base)] = cells else { continue };
            let (own, base) = (number(own)?, number(base)?);
            sum += own;
            bases += base;
            ratios.push((own / base, program.name));
        }
        let worst = ratios.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let median = median(ratios.iter().map(|ratio| ratio.0).collect())?;
        Some(Spread { programs: ratios.len(), total: sum / bases, median, worst })
    }

    /// The instructions of a build over those of its base.
    pub fn instructions(&self, variant: &Variant) -> Option<Spread> {
        self.spread(variant, |counted| Some(counted.instructions as f64))
    }

    /// Processor time of each program that runs long enough, over its base.
    pub fn times(&self, variant: &Variant) -> Vec<f64> {
        self.programs.iter().filter_map(|program| program.slowdown(variant)).collect()
    }
}

/// The geometric mean.
pub fn geometric_mean(ratios: Vec<f64>) -> Option<f64> {
    let count = ratios.len() as f64;
    (!ratios.is_empty()).then(|| (ratios.into_iter().map(f64::ln).sum::<f64>() / count).exp())
}

/// The one in the middle, or between the two in the middle.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    Some(if numbers.len() % 2 == 1 { upper } else { f64::midpoint(numbers[middle - 1], upper) })
}

/// A ratio as what it is more than one.
pub fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".into(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
        assert_eq!(geometric_mean(vec![2.0, 8.0]).map(f64::round), Some(4.0));
        assert_eq!(percent(Some(1.026)), "+2.6 %");
        assert_eq!(percent(None), "–");
    }
}
