//! How often each region of an instance ran, and where it is cut.

use super::conditions;
use super::instances::Instance;
use super::kept_branches::KeptBranches;
use super::layout::Layout;
use super::normal_flow::{Equal, Numbers};
use super::points::{Point, Points};
use crate::flow::FlowBound;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Corrections, Counter, Excess, Place, RegionKind, Values, VirtualFile};
use std::collections::{BTreeMap, BTreeSet};

/// What text counts as of which only the least and the most is known: that of a macro that executions left in the
/// midst, since its instructions have no places of their own, and text without instructions that nothing else tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// As what certainly ran. A macro has begun.
    Least,
    /// As what may have run.
    Most,
}

/// How often a stretch of text ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) place: Place,
    pub(super) count: i128,
    /// Some may have come here past what stands before.
    pub(super) joined: bool,
}

/// The regions of one instance, as they are counted.
struct Counted<'c, 'm> {
    layout: &'c Layout<'m>,
    instance: &'c Instance<'c, 'c>,
    points: &'c Points,
    kept: &'c KeptBranches,
    /// What the counters say.
    counts: Values<'c, i128>,
    /// What is certain to follow from the counters, or what may follow at most.
    bounds: Values<'c, i128>,
    numbers: [Values<'c, i128>; 3],
    /// How often each region of code ran at its beginning, and each condition was true.
    began: Vec<Option<i128>>,
    /// What is known of places in each file, in order, to tell how often text without instructions ran.
    known: BTreeMap<(VirtualFile, Place), Vec<(Numbers, i128)>>,
    /// What text counts as of which only the least and the most is known.
    unknown: Unknown,
    not_told: NotTold,
}

/// What is not known of an instance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NotTold {
    /// Regions of which only the least and the most is known.
    pub least_known: u64,
    /// Lines that count more executions than any of their instructions.
    pub doubtful: u64,
    /// Conditions whose branch is not known, so that their outcomes count as the counters say.
    pub conditions: u64,
}

/// Corrects the counts of all regions of an instance. Gives what is not known.
pub(super) fn correct(
    layout: &Layout<'_>,
    instance: &Instance<'_, '_>,
    points: &Points,
    kept: &KeptBranches,
    unknown: Unknown,
    corrections: &mut Corrections,
) -> NotTold {
    let function = layout.function;
    let (counts, numbers) = (instance.counts(), instance.numbers());
    let mut counted = Counted {
        layout,
        instance,
        points,
        kept,
        counts: function.expressions.values_of(&counts),
        bounds: match instance.flow.bound {
            FlowBound::Exact => function.expressions.values_of(&counts),
            FlowBound::Least(_) => function.expressions.at_least(&counts),
            FlowBound::Most => function.expressions.at_most(&counts),
        },
        numbers: [0, 1, 2].map(|at: usize| function.expressions.values_of(&numbers[at])),
        began: vec![None; function.regions.len()],
        known: BTreeMap::new(),
        unknown,
        not_told: NotTold::default(),
    };
    counted.code(corrections);
    counted.conditions(corrections);
    let expansions = counted.expansions(corrections);
    counted.gaps(&expansions, corrections);
    counted.not_told
}

impl Counted<'_, '_> {
    /// What the counters say of a region, and its numbers.
    fn value(&self, counter: Counter) -> Option<(i128, Numbers)> {
        let [usual, without_ends, without_exceptions] = &self.numbers;
        let numbers = [usual.get(counter)?, without_ends.get(counter)?, without_exceptions.get(counter)?];
        Some((self.counts.get(counter)?, Numbers::new(numbers)))
    }

    /// How often text without instructions ran, of which something else tells how often it ran, or nothing does.
    fn bounded(&self, found: Option<i128>, count: i128, counter: Counter) -> i128 {
        let bound = || self.bounds.get(counter).unwrap_or_default();
        match self.instance.flow.bound {
            FlowBound::Exact => found.map_or(count, |found| found.min(count)),
            FlowBound::Least(_) => found.unwrap_or(0),
            FlowBound::Most => found.unwrap_or_else(bound),
        }
    }

    /// Corrects regions of code.
    fn code(&mut self, corrections: &mut Corrections) {
        let (layout, instance) = (self.layout, self.instance);
        let mut without_instructions = Vec::new();
        for (index, region) in layout.function.regions.iter().enumerate() {
            let RegionKind::Code(counter) = region.kind else { continue };
            let Some((count, numbers)) = self.value(counter) else { continue };
            // The difference of counts that are equal whenever every call returns: of code that was left out.
            let is_never = matches!(counter, Counter::Expression(_)) && numbers.is_never() && self.kept.is_empty();
            if is_never || self.kept.is_dead(layout, index) {
                self.began[index] = Some(0);
                corrections.add(index as u32, None, Excess { count, not_taken: 0 });
                continue;
            }
            let reached = reached(self.points.within(index), instance, numbers);
            let reached = self.behind_kept(index, reached, (count, numbers));
            let begins = layout.is_first_with_counter(index) && (self.kept.is_empty() || self.has_counter(index));
            let reached = if instance.was_revived() { within_lines(reached) } else { reached };
            let host = layout.host(region.file).filter(|_| reached.is_empty());
            let mut of_macro = host.map(|host| self.of_macro(host, numbers)).unwrap_or_default();
            let is_unknown = reached.is_empty() && of_macro.is_empty() && !begins;
            let reached = if is_unknown { self.seen_of(index, (count, numbers)) } else { reached };
            if let Some(host) = host.filter(|_| is_unknown && reached.is_empty()) {
                let all = seen(self.points.expanded(host), instance, (count, numbers));
                of_macro.extend(all.iter().map(|seen| seen.count).max());
            }
            // Behind a second return of `setjmp` a region runs more often than it began.
            let first = reached.first().filter(|_| is_unknown || instance.was_revived()).map(|first| first.count);
            let certain = reached.iter().filter(|reached| !reached.joined).map(|reached| reached.count).max();
            let most = first.or(certain).or_else(|| reached.iter().map(|reached| reached.count).max());
            let most = of_macro.last().copied().or(most);
            // In which of its places the text of a macro was left is not known.
            let least = of_macro.first().copied().filter(|&least| Some(least) < most);
            self.not_told.least_known += u64::from(least.is_some());
            let least = least.filter(|_| self.unknown == Unknown::Least);
            let start = match (counter, most) {
                (Counter::Zero, _) => 0,
                (Counter::Value(_), _) if begins => count,
                (_, Some(most)) => least.filter(|_| !layout.begins_macro(index)).unwrap_or(most),
                (_, None) => {
                    without_instructions.push((index, count, numbers));
                    continue;
                }
            };
            self.began[index] = Some(start);
            let number = index as u32;
            corrections.add(number, None, Excess { count: count - start, not_taken: 0 });
            if let Some(least) = least.filter(|&least| least < start) {
                let second_line = Place { line: region.start.line.saturating_add(1), column: 1 };
                corrections.add(number, Some(second_line), Excess { count: start - least, not_taken: 0 });
            }
            let passed = passed(start, &reached);
            for (here, &passed) in reached.iter().zip(&passed) {
                self.known.entry((region.file, here.place)).or_default().push((numbers, passed));
            }
            let mut before = start;
            let cuts = cuts(layout, index, start, &reached);
            for cut in &cuts {
                corrections.add(number, Some(cut.place), Excess { count: before - cut.count, not_taken: 0 });
                before = cut.count;
            }
            self.not_told.doubtful += self.doubtful_lines(index, (count, numbers), start, (&reached, &cuts));
        }
        for (index, count, numbers) in without_instructions {
            let region = &layout.function.regions[index];
            let never = matches!(region.kind.counters().0, Counter::Expression(_)) && numbers.is_never();
            let start = Some(0).filter(|_| never).or_else(|| self.end_of_copy(index, count));
            let start = start.or_else(|| self.beside(index, numbers));
            let start = start.or_else(|| most_of_equals(instance, numbers));
            let is_doubtful = instance.was_left() && start.is_none() || self.kept.is_distrusted(layout, index);
            let is_known = count == 0 || !is_doubtful || never;
            self.not_told.least_known += u64::from(!is_known);
            let start = match self.unknown {
                Unknown::Least if !is_known => 0,
                _ => self.bounded(start, count, region.kind.counters().0),
            };
            self.began[index] = Some(start);
            corrections.add(index as u32, None, Excess { count: count - start, not_taken: 0 });
        }
    }

    /// Puts text behind branches that were kept as its instructions say.
    fn behind_kept(&self, region: usize, mut reached: Vec<Reached>, (count, numbers): (i128, Numbers)) -> Vec<Reached> {
        let is_text = |place: Place| !self.layout.is_last_brace(region, place);
        if self.kept.is_distrusted(self.layout, region) {
            reached.retain(|reached| is_text(reached.place));
        }
        if let Some(from) = self.kept.distrusted_from(region) {
            let others = self.layout.begins_of_others_within(region);
            let is_own = |place: Place| place >= from && is_text(place) && !others.contains(&place);
            reached.retain(|reached| reached.place < from);
            let own = self.points.within(region).filter(|point| is_own(point.place));
            reached.extend(seen(own, self.instance, (count, numbers)));
        }
        for dead in self.kept.dead_of(region) {
            reached.retain(|reached| !dead.contains(&reached.place));
            reached.push(Reached { place: dead.start, count: 0, joined: true });
            reached.sort_by_key(|reached| reached.place);
        }
        reached
    }

    /// How many lines of a region count more executions than any of their instructions, with nothing that says why:
    /// behind a scope that cleans up, the graph may not tell that they run as often as the region.
    fn doubtful_lines(
        &self,
        index: usize,
        of_region: (i128, Numbers),
        start: i128,
        (reached, cuts): (&[Reached], &[CutAt]),
    ) -> u64 {
        if !self.instance.was_left() || self.instance.is_of_rust() || self.instance.flow.bound != FlowBound::Exact {
            return 0;
        }
        let told: BTreeSet<u32> = reached.iter().map(|reached| reached.place.line).collect();
        let is_doubtful = |line: &&Reached| {
            let Place { line: number, .. } = line.place;
            let before = cuts.iter().rev().find(|cut| cut.place <= line.place).map_or(start, |cut| cut.count);
            !told.contains(&number) && !self.layout.is_last_brace(index, line.place) && line.count < before
        };
        self.seen_of(index, of_region)
            .iter()
            .filter(is_doubtful)
            .map(|line| line.place.line)
            .collect::<BTreeSet<_>>()
            .len() as u64
    }

    /// How often the lines of a region were reached whose text itself says nothing of the region.
    fn seen_of(&self, index: usize, of_region: (i128, Numbers)) -> Vec<Reached> {
        let others = self.layout.begins_of_others_within(index);
        let is_distrusted = self.kept.is_distrusted(self.layout, index);
        let is_text = |point: &Point| !(is_distrusted && self.layout.is_last_brace(index, point.place));
        let all = || self.points.within(index).filter(is_text);
        let own = seen(all().filter(|point| !others.contains(&point.place)), self.instance, of_region);
        if own.is_empty() { seen(all(), self.instance, of_region) } else { own }
    }

    /// Does the counter of a region stand in its text? That of a loop is in its body, and not in what goes on to it.
    fn has_counter(&self, index: usize) -> bool {
        let Counter::Value(counter) = self.layout.function.regions[index].kind.counters().0 else { return false };
        let blocks = || self.instance.placed().filter(|anchor| anchor.counter == counter).map(|anchor| anchor.block);
        let mut own = self.points.within(index).peekable();
        own.peek().is_none() || own.any(|point| blocks().any(|block| block == point.block))
    }

    /// How often the instructions ran that a macro has become, in order: those that run as often as a region of its
    /// text does whenever every call returns. All of them have the place where the macro is used.
    fn of_macro(&self, host: usize, numbers: Numbers) -> Vec<i128> {
        let speaks = |point: &Point| self.instance.normal.block(point.block).equal(numbers).is_some();
        let mut counts: Vec<i128> =
            self.points.expanded(host).filter(speaks).map(|point| self.instance.count(point)).collect();
        counts.sort_unstable();
        counts
    }

    /// How often text without instructions ran, as a constant at the end of a function: no more often than what comes
    /// behind it, nor than what stands before it. What runs less often than it in any case, as in a branch or a loop,
    /// says nothing of it.
    fn beside(&self, index: usize, numbers: Numbers) -> Option<i128> {
        let region = &self.layout.function.regions[index];
        let at = (region.file, region.start);
        let of_file = |place: &&(VirtualFile, Place)| place.0 == region.file;
        let equal = |all: &Vec<(Numbers, i128)>| {
            all.iter().find(|(other, _)| other.usual == numbers.usual && numbers.usual != 0).map(|&(_, count)| count)
        };
        let before = self.known.range(..at).next_back().filter(|(place, _)| of_file(place));
        let behind = || self.known.range(at..).take_while(|(place, _)| of_file(place)).find_map(|(_, all)| equal(all));
        let (before, behind) = (before.and_then(|(_, all)| equal(all)), behind());
        let both = |before: i128, behind: i128| match self.instance.flow.bound {
            FlowBound::Most => before.max(behind),
            FlowBound::Exact | FlowBound::Least(_) => before.min(behind),
        };
        before.zip(behind).map(|(before, behind)| both(before, behind)).or(before).or(behind)
    }

    /// How often an inlined copy came to its end, where the function's last brace has no instruction: as often as it
    /// was entered, less what left it at its calls.
    fn end_of_copy(&self, index: usize, entered: i128) -> Option<i128> {
        let regions = &self.layout.function.regions;
        let region = &regions[index];
        let is_last = regions.iter().all(|other| other.file != region.file || other.end <= region.end);
        let is_brace = region.start.line == region.end.line && region.end.column == region.start.column + 1;
        self.instance.copy.filter(|_| is_last && is_brace)?;
        let entry = regions
            .iter()
            .find(|first| first.file == region.file)
            .and_then(|first| self.value(first.kind.counters().0));
        let whole = entry.is_some_and(|(count, _)| count == entered);
        let left = entered - self.instance.left_early();
        whole.then_some(if matches!(self.instance.flow.bound, FlowBound::Least(_)) { 0 } else { left })
    }

    /// Corrects the outcomes of conditions.
    fn conditions(&mut self, corrections: &mut Corrections) {
        for (index, region) in self.layout.function.regions.iter().enumerate() {
            if !matches!(region.kind, RegionKind::Branch { .. } | RegionKind::Condition { .. }) {
                continue;
            }
            let (taken, not_taken) = region.kind.counters();
            let Some((taken, not_taken)) = self.value(taken).zip(self.value(not_taken)) else { continue };
            if self.kept.is_dead(self.layout, index) {
                corrections.add(index as u32, None, Excess { count: taken.0, not_taken: not_taken.0 });
                continue;
            }
            let numbers = (taken.1.usual, not_taken.1.usual);
            let of_bounds = |counter: Counter, count: i128| count - self.bounds.get(counter).unwrap_or(count);
            let (of_true, of_false) = region.kind.counters();
            let found = conditions::excess(self.instance, region.kind, (taken.0, numbers.0), (not_taken.0, numbers.1));
            let is_folded = of_true == Counter::Zero || of_false == Counter::Zero;
            let was_evaluated = taken.0 + not_taken.0 > 0;
            let is_doubtful = self.instance.was_left() || !self.kept.is_empty();
            self.not_told.conditions += u64::from(found.is_none() && !is_folded && was_evaluated && is_doubtful);
            let excess = found
                .unwrap_or(Excess { count: of_bounds(of_true, taken.0), not_taken: of_bounds(of_false, not_taken.0) });
            self.began[index] = Some(taken.0 - excess.count);
            corrections.add(index as u32, None, excess);
        }
    }

    /// Corrects expansions: each counts as the first region of what replaces it does, which may be an expansion, too.
    /// Gives how often each ran.
    fn expansions(&self, corrections: &mut Corrections) -> Vec<Option<i128>> {
        let regions = &self.layout.function.regions;
        let mut expansions = vec![None; regions.len()];
        for (index, region) in regions.iter().enumerate() {
            let RegionKind::Expansion { count, .. } = region.kind else { continue };
            let first = self.layout.first_of_expansion(index);
            if let Some((began, (count, _))) = self.began[first].zip(self.value(count)) {
                corrections.add(index as u32, None, Excess { count: count - began, not_taken: 0 });
                expansions[index] = Some(began);
            }
        }
        expansions
    }

    /// Corrects gaps: what begins behind a gap runs as often, mostly.
    fn gaps(&self, expansions: &[Option<i128>], corrections: &mut Corrections) {
        let regions = &self.layout.function.regions;
        for (index, region) in regions.iter().enumerate() {
            let RegionKind::Gap(counter) = region.kind else { continue };
            let Some((count, numbers)) = self.value(counter) else { continue };
            let behind = (0..regions.len()).find_map(|at| {
                let next = &regions[at];
                let follows = next.file == region.file && next.start == region.end;
                let other = if follows { self.value(next.kind.counters().0) } else { None };
                let same = other.is_some_and(|(_, other)| other.usual == numbers.usual);
                if same { self.began[at].or(expansions[at]) } else { None }
            });
            let start = match (behind, counter) {
                (Some(began), _) => began,
                (None, Counter::Expression(_)) => self.bounded(most_of_equals(self.instance, numbers), count, counter),
                (None, _) => count,
            };
            corrections.add(index as u32, None, Excess { count: count - start, not_taken: 0 });
        }
    }
}

impl Instance<'_, '_> {
    /// How often an instruction ran.
    pub(super) fn count(&self, point: Point) -> i128 {
        let Point { block, after_sites, begins, .. } = point;
        let count =
            if begins { self.flow.after(block, after_sites) } else { self.flow.past_beginning(block, after_sites) };
        count.into()
    }
}

/// How often the places of a region were reached, by the instructions that run as often as it does whenever every call
/// returns. The compiler may have made several copies of an instruction, each of which runs in some cases.
fn reached(points: impl Iterator<Item = Point>, instance: &Instance<'_, '_>, numbers: Numbers) -> Vec<Reached> {
    let points: Vec<Point> = points.collect();
    let mut all = Vec::new();
    for here in points.chunk_by(|a, b| a.place == b.place) {
        let equal = |point: &Point| instance.normal.block(point.block).equal(numbers);
        let most = |wanted: Equal| {
            let speaks = here.iter().filter(|&point| equal(point) == Some(wanted));
            speaks.map(|&point| instance.count(point)).max()
        };
        let copies = || {
            let blocks: BTreeSet<Block> = here.iter().map(|point| point.block).collect();
            let sum: i128 = blocks.iter().map(|&block| instance.normal.usual_block(block)).sum();
            let first = |&block: &Block| here.iter().find(|point| point.block == block);
            (sum == numbers.usual && blocks.len() > 1)
                .then(|| blocks.iter().filter_map(first).map(|&point| instance.count(point)).sum())
        };
        let always = most(Equal::Always).or_else(copies);
        let count = always.or_else(|| most(Equal::UnlessThrown));
        all.extend(count.map(|count| Reached { place: here[0].place, count, joined: always.is_none() }));
    }
    all
}

/// How often the lines of a region were reached of which no instruction is known to run as often as it does: as often
/// as any of their instructions, so that no line has run whose instructions have not. What cleans up for an exception
/// may have a place in any text.
fn seen(
    points: impl Iterator<Item = Point>,
    instance: &Instance<'_, '_>,
    (count, numbers): (i128, Numbers),
) -> Vec<Reached> {
    let is_normal = |point: &Point| {
        let may_return = instance.normal.block(point.block).may_return() || !numbers.may_return();
        may_return && !instance.normal.certainly_ends(point.block)
    };
    let points: Vec<Point> = points.filter(is_normal).collect();
    let of_place = |here: &[Point]| {
        let most = here.iter().map(|&point| instance.count(point)).max()?;
        let most = if instance.flow.bound == FlowBound::Exact { most.min(count) } else { most };
        Some(Reached { place: here[0].place, count: most, joined: true })
    };
    within_lines(points.chunk_by(|a, b| a.place == b.place).filter_map(of_place).collect())
}

/// Takes each line of a region by itself, where executions may have come to it past the lines before it: within a line,
/// what stands first need not run first.
pub(super) fn within_lines(mut reached: Vec<Reached>) -> Vec<Reached> {
    let mut behind: Option<Reached> = None;
    for here in reached.iter_mut().rev() {
        let of_line = behind.filter(|behind| behind.place.line == here.place.line);
        here.count = of_line.map_or(here.count, |behind| behind.count.max(here.count));
        here.joined = true;
        behind = Some(*here);
    }
    reached
}

/// How often each place of a region was passed that has begun `start` times: as often as any place behind it, since
/// what stands first within a statement need not run first.
fn passed(start: i128, reached: &[Reached]) -> Vec<i128> {
    let mut behind = 0;
    let mut passed: Vec<i128> = reached.iter().map(|reached| reached.count).collect();
    for (count, reached) in passed.iter_mut().zip(reached).rev().filter(|(_, reached)| !reached.joined) {
        behind = behind.max(reached.count);
        *count = (*count).max(behind.min(start));
    }
    passed
}

/// A place from which on a region ran less often, or more.
pub(super) struct CutAt {
    pub(super) place: Place,
    pub(super) count: i128,
}

/// Where a region that has begun `start` times is cut, with how often it ran from there on.
pub(super) fn cuts(layout: &Layout<'_>, region: usize, start: i128, reached: &[Reached]) -> Vec<CutAt> {
    let begin = layout.function.regions[region].start;
    let mut cuts: Vec<CutAt> = Vec::new();
    let (mut last, mut line) = (start, begin.line);
    for (here, count) in reached.iter().zip(passed(start, reached)) {
        let is_first_of_line = here.place.line > line;
        line = here.place.line;
        if count == last {
            continue;
        }
        last = count;
        let place = if is_first_of_line {
            let line_before = Place { line: line - 1, column: u32::MAX };
            layout.end_of_last_within(region, here.place).map_or(line_before, |end| end.max(line_before))
        } else {
            here.place
        };
        match cuts.last_mut().filter(|cut| cut.place >= place) {
            Some(cut) => cut.count = count,
            None => cuts.push(CutAt { place, count }),
        }
    }
    cuts
}

/// How often the first of all blocks and edges ran that run equally often whenever every call returns.
fn most_of_equals(instance: &Instance<'_, '_>, numbers: Numbers) -> Option<i128> {
    let number = numbers.usual;
    if number == 0 {
        return None;
    }
    let flow = instance.flow;
    let blocks = flow.function.blocks.numbered().map(|(block, _)| block);
    let blocks = blocks.filter(|&block| instance.normal.usual_block(block) == number);
    let of_blocks = blocks.map(|block| match flow.bound {
        FlowBound::Least(_) => flow.left(block),
        FlowBound::Exact | FlowBound::Most => flow.block(block),
    });
    let edges = flow.cfg.edges().filter(|&edge| instance.normal.usual_edge(edge) == Some(number));
    of_blocks.chain(edges.filter_map(|edge| flow.edge(edge))).max().map(i128::from)
}
