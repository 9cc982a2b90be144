//! `cotree trace`: shows what each thread did, block by block.

use super::input::Input;
use super::into_report;
use super::output::Output;
use clap::Args;
use cotree_core::ids::{Block, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::{Part, Streams};
use cotree_profile::recover::open_binary;
use cotree_report::names::Names;
use miette::{Result, miette};
use std::io::{self, Write};

/// Arguments of `cotree trace`.
#[derive(Args, Debug)]
pub struct TraceArgs {
    #[command(flatten)]
    input: Input,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree trace`.
pub fn run(args: &TraceArgs) -> Result<()> {
    let file = args.input.open()?;
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    for counts in &file.units {
        let binary = open_binary(&file.path, counts, &args.input.binaries.binaries).map_err(into_report)?;
        let tables =
            UnitTables::new(&binary).map_err(|why| miette!("no trace of {}: {why}", counts.binary.display()))?;
        let streams = Streams::open(&file.path).map_err(into_report)?;
        let view = View { binary: &binary, tables: &tables, streams: &streams, names };
        args.output.write(|out| view.write(out))?;
    }
    Ok(())
}

/// The traces of one unit.
struct View<'a> {
    binary: &'a BinaryFile,
    tables: &'a UnitTables<'a>,
    streams: &'a Streams,
    names: Names,
}

impl View<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for stream in self.streams.iter() {
            for part in stream.parts() {
                match stream.inside {
                    Some((outer, _)) => writeln!(out, "a signal handler in thread {outer}")?,
                    None => writeln!(out, "thread {}", stream.number)?,
                }
                self.write_part(out, part)?;
            }
            if stream.cut {
                writeln!(out, "there was no room for more of this thread's trace")?;
            }
        }
        Ok(())
    }

    fn write_part(&self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        let Some(entrance) = part.entrances().next() else {
            return writeln!(
                out,
                "a part of {} bytes, of which nobody knows where it begins",
                part.end() - part.start()
            );
        };
        let mut reader = self.tables.read(self.streams, part, entrance);
        let mut depth = 0_usize;
        loop {
            let event = match reader.next() {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                Err(error) => return writeln!(out, "the trace can't be followed any further: {error}"),
            };
            match event {
                Event::Begin(function) => {
                    writeln!(out, "{:1$}{2}", "", depth, self.name(function))?;
                    depth += 1;
                }
                Event::Block { function, block, .. } => {
                    writeln!(out, "{:1$}{block}{2}", "", depth, self.line(function, block))?;
                }
                Event::Leave { .. } | Event::Abandoned(..) => depth = depth.saturating_sub(1),
                Event::Revived(calling) => {
                    writeln!(out, "{:1$}{2} goes on", "", depth, self.name(calling.function))?;
                    depth += 1;
                }
                Event::Resumed(function) => {
                    writeln!(out, "{:1$}{2} goes on", "", depth, self.name(function))?;
                    depth += 1;
                }
                Event::Restarted => depth = 0,
                Event::Ended(_) => writeln!(out, "{:1$}end", "", depth)?,
                Event::Call { .. } | Event::Catch(..) | Event::SwitchedOff | Event::SwitchedOn | Event::Time(_) => {}
            }
        }
    }

    fn name(&self, function: FunctionId) -> String {
        self.names.show(&self.binary.function(function).symbol)
    }

    /// The first line of a block.
    fn line(&self, function: FunctionId, block: Block) -> String {
        let spans = &self.binary.function(function).blocks[block.index()].lines;
        spans.first().map(|span| format!(" line {}", span.at.line)).unwrap_or_default()
    }
}
