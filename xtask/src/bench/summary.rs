//! The tables of overheads.

use super::results::{Measured, Results, geometric_mean, median, percent};
use super::store::Counted;
use super::variants::{self, Tool, Variant};
use crate::table::Table;
use std::fmt::Write;

/// Whether a build has a column in a table.
type Belongs = fn(&Variant) -> bool;

impl Results {
    /// The geometric mean of the programs' times; of how many, if not of all.
    fn time(&self, variant: &Variant, all: usize) -> String {
        let times = self.times(variant);
        let count = times.len();
        let mean = percent(geometric_mean(times));
        if count == 0 || count == all { mean } else { format!("{mean} (of {count})") }
    }

    /// What the programs' beginning and end take beyond those of their bases, on the average.
    fn longer_ends(&self, variant: &Variant) -> String {
        let all: Vec<f64> = self.programs.iter().filter_map(|program| program.longer_ends(variant)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        if all.is_empty() { "–".into() } else { format!("{mean:+.1} ms") }
    }

    /// All tables.
    pub fn write(&self, out: &mut String) -> std::fmt::Result {
        self.write_summary(out)?;
        self.write_judgement(out)?;
        self.write_programs(out)?;
        self.write_times(out)
    }

    /// The sets of small functions.
    pub fn write_sets(&self, out: &mut String) -> std::fmt::Result {
        if self.programs.is_empty() {
            return Ok(());
        }
        writeln!(out, "## Sets of small functions\n")?;
        writeln!(
            out,
            "Over a hundred small functions made of loops, at -O1, called with sizes from 1 to 200, and two dozen numeric kernels \
             at -O2; instructions of all of them in one program, over each tool's own build without counters.\n"
        )?;
        let mut table = Table::new(std::iter::once("build").chain(self.programs.iter().map(|p| p.name)));
        for variant in self.with_counters().filter(|variant| self.instructions(variant).is_some()) {
            let cells = self.programs.iter().map(|program| percent(program.overhead(variant)));
            table.row(std::iter::once(variant.name.clone()).chain(cells));
        }
        writeln!(out, "{table}")
    }

    fn write_summary(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "## All configurations, at -O2 (Rust: release)\n")?;
        writeln!(
            out,
            "Instructions over those of each tool's own build without counters: in the sum of all programs, for the program in \
             the middle, and for the worst. Time is the processor's, of work of a twentieth to a fifth of a second, what a tiny \
             workload takes taken off: over that of the base, as geometric mean over programs. It is that of undisturbed runs, the \
             fastest quarter of many but for the very fastest; of cotree's builds of C and C++ programs the mean of sixteen layouts, their code \
             moved by 0, 16, 32 … 240 bytes. Beginning and end are what the tiny workload takes beyond the \
             base's, on the average. Size is of all executables without debug information, build of compiling and linking them \
             all, in processor time; of cotree's builds the base is `--profile none`.\n"
        )?;
        let header = ["build", "programs", "total", "median", "worst", "of", "time", "begin and end", "size", "build"];
        let mut table = Table::new(header);
        for variant in self.with_counters() {
            let Some(spread) = self.instructions(variant) else { continue };
            let total = |number: &dyn Fn(&Counted) -> Option<u64>| {
                self.spread(variant, |counted| Some(number(counted)? as f64)).map(|spread| spread.total)
            };
            table.row([
                variant.name.clone(),
                spread.programs.to_string(),
                percent(Some(spread.total)),
                percent(Some(spread.median)),
                percent(Some(spread.worst.0)),
                spread.worst.1.to_owned(),
                self.time(variant, spread.programs),
                self.longer_ends(variant),
                percent(total(&|counted| counted.bytes)),
                percent(total(&|counted| counted.build_ms)),
            ]);
        }
        writeln!(out, "{table}")
    }

    /// The better of the peer's two forms, for one program.
    fn peer(&self, program: &Measured) -> Option<f64> {
        let forms = variants::JUDGES.iter().filter_map(|name| program.overhead(self.named(name)?));
        forms.reduce(f64::min)
    }

    fn write_judgement(&self, out: &mut String) -> std::fmt::Result {
        let named = [variants::EDGE, variants::PLAIN, variants::PATH].map(|name| self.named(name));
        let [Some(edge), Some(plain), Some(path)] = named else { return Ok(()) };
        let forms: Vec<&Variant> = variants::JUDGES.iter().filter_map(|name| self.named(name)).collect();
        let mut table = Table::new([
            "program",
            "cotree edge",
            "better -fprofile-generate",
            "cotree / peer",
            "cotree path",
            "path / plain counters",
        ]);
        let (mut relations, mut costs) = (Vec::new(), Vec::new());
        let mut missed = Vec::new();
        let factor = |path: Option<f64>, edge: Option<f64>| Some((path? - 1.0) / (edge? - 1.0));
        let show = |number: Option<f64>, digits: usize| number.map_or("–".into(), |n| format!("{n:.digits$}"));
        for program in &self.programs {
            let (ours, peer, paths) = (program.overhead(edge), self.peer(program), program.overhead(path));
            let relation = ours.zip(peer).map(|(ours, peer)| ours / peer);
            let cost = factor(paths, program.overhead(plain));
            relations.extend(relation.map(|r| (r, program.name)));
            costs.extend(cost);
            if relation.is_some_and(|r| r > 1.1) {
                missed.push(program.name);
            }
            table.row([
                program.name.to_owned(),
                percent(ours),
                percent(peer),
                show(relation, 3),
                percent(paths),
                show(cost, 2),
            ]);
        }
        let total = |variant: &Variant| self.instructions(variant).map(|s| s.total);
        let peer = forms.iter().filter_map(|form| total(form)).reduce(f64::min);
        let relation = total(edge).zip(peer).map(|(ours, peer)| ours / peer);
        let middle = median(relations.iter().map(|r| r.0).collect());
        let worst = relations.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
        let cost = factor(total(path), total(plain));
        let mean = |variant| {
            let overheads: Vec<f64> = self.programs.iter().filter_map(|p| Some(p.overhead(variant)? - 1.0)).collect();
            (!overheads.is_empty()).then(|| 1.0 + overheads.iter().sum::<f64>() / overheads.len() as f64)
        };
        table.row([
            "total".to_owned(),
            percent(total(edge)),
            percent(peer),
            show(relation, 3),
            percent(total(path)),
            show(cost, 2),
        ]);
        writeln!(out, "## Against the better of -fprofile-generate's two forms (counter promotion on and off)\n")?;
        writeln!(out, "{table}")?;
        writeln!(
            out,
            "cotree / peer: total {} (wanted: at most 1), median {}, worst {}{} (wanted: at most 1.1 for each{}). Overhead of paths \
             over that of plain counters: total {} (wanted: at most 2), of the programs' average {}, median {}.\n",
            show(relation, 3),
            show(middle, 3),
            show(worst.map(|w| w.0), 3),
            worst.map_or(String::new(), |w| format!(" of {}", w.1)),
            if missed.is_empty() { String::new() } else { format!("; missed by {}", missed.join(", ")) },
            show(cost, 2),
            show(factor(mean(path), mean(plain)), 2),
            show(median(costs), 2),
        )
    }

    /// Overheads by program, in tables that a page has room for.
    fn write_programs(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "## Instructions by program\n")?;
        let groups: [(&str, Belongs); 4] = [
            ("cotree's methods, over `cotree none`", |v| v.method),
            ("cotree's options, over `cotree none`", |v| v.tool == Tool::Cotree && !v.method),
            ("LLVM and BOLT, over clang or rustc alone (its passes in our place: over `cotree none`)", |v| {
                matches!(v.tool, Tool::Llvm | Tool::Passes | Tool::Bolt)
            }),
            ("gcc, over gcc alone", |v| v.tool == Tool::Gcc),
        ];
        for (title, belongs) in groups {
            let columns: Vec<&Variant> =
                self.with_counters().filter(|v| belongs(v) && self.instructions(v).is_some()).collect();
            if columns.is_empty() {
                continue;
            }
            let short = |v: &Variant| v.name.trim_start_matches("cotree ").to_owned();
            let mut table = Table::new(std::iter::once("program".to_owned()).chain(columns.iter().map(|v| short(v))));
            for program in &self.programs {
                let cells = columns.iter().map(|v| percent(program.overhead(v)));
                table.row(std::iter::once(program.name.to_owned()).chain(cells));
            }
            let totals = columns.iter().map(|v| percent(self.instructions(v).map(|s| s.total)));
            table.row(std::iter::once("total".to_owned()).chain(totals));
            writeln!(out, "### {title}\n\n{table}")?;
        }
        let bases: Vec<&Variant> = self.variants.iter().filter(|v| v.is_base()).collect();
        let mut table = Table::new(std::iter::once("program").chain(bases.iter().map(|v| v.name.as_str())));
        for program in &self.programs {
            let millions = |v: &&Variant| program.counted.get(&v.name).map(|counted| counted.instructions as f64 / 1e6);
            let cells = bases.iter().map(|v| millions(v).map_or("–".into(), |m| format!("{m:.1}")));
            table.row(std::iter::once(program.name.to_owned()).chain(cells));
        }
        writeln!(out, "### Without counters: millions of instructions\n\n{table}")
    }

    fn write_times(&self, out: &mut String) -> std::fmt::Result {
        let timed = |variant: &&Variant| self.programs.iter().any(|program| program.slowdown(variant).is_some());
        let columns: Vec<&Variant> = self.with_counters().filter(timed).collect();
        if columns.is_empty() {
            return Ok(());
        }
        let heads = ["program".to_owned(), format!("{}, ms", variants::NONE)];
        let mut table = Table::new(heads.into_iter().chain(columns.iter().map(|v| v.name.clone())));
        for program in &self.programs {
            let work = program.timed.get(variants::NONE).and_then(|timed| timed.work_ms);
            let work = work.map_or("–".into(), |time| format!("{time:.1}"));
            let ratios = columns.iter().map(|variant| percent(program.slowdown(variant)));
            table.row([program.name.to_owned(), work].into_iter().chain(ratios));
        }
        writeln!(out, "## Time by program, over each tool's base\n\n{table}")
    }

    /// Spanning trees with and without loop variables (Frenot & Pereira 2024, Fig. 13).
    pub fn write_columns(&self, out: &mut String) -> std::fmt::Result {
        const ROWS: [(&str, &str); 3] = [
            ("no counters", variants::NONE),
            ("spanning-tree counters", variants::PLAIN),
            ("and loop variables, callers, registers", variants::EDGE),
        ];
        let rows: Vec<_> = ROWS.iter().filter_map(|(title, name)| Some((*title, self.named(name)?))).collect();
        if rows.len() < ROWS.len() {
            return Ok(());
        }
        writeln!(
            out,
            "## Size and time\n\nAs Frenot & Pereira 2024, Fig. 13: of all programs together and of the one in the middle; time is the geometric \
             mean and the median of processor time over that without counters.\n"
        )?;
        let header = ["build", "instructions, millions", "median", "bytes of executables", "median", "time", "median"];
        let mut table = Table::new(header);
        for (title, variant) in rows {
            let cells: Vec<&Counted> = self.programs.iter().filter_map(|p| p.counted.get(&variant.name)).collect();
            let instructions: Vec<f64> = cells.iter().map(|cell| cell.instructions as f64 / 1e6).collect();
            let bytes: Option<Vec<f64>> = cells.iter().map(|cell| Some(cell.bytes? as f64)).collect();
            let times = self.times(variant);
            let shown = |number: Option<f64>, digits: usize| number.map_or("–".into(), |n| format!("{n:.digits$}"));
            table.row([
                title.to_owned(),
                format!("{:.1}", instructions.iter().sum::<f64>()),
                shown(median(instructions.clone()), 1),
                shown(bytes.as_ref().map(|bytes| bytes.iter().sum::<f64>()), 0),
                shown(bytes.and_then(median), 0),
                percent(geometric_mean(times.clone())),
                percent(median(times)),
            ]);
        }
        writeln!(out, "{table}")
    }
}
