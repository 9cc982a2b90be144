//! Traces for people, and their rows for other programs.

use super::Traced;
use super::rows::{Row, Rows, SourceLine};
use crate::names::matches;
use crate::terminal::{counted, grouped};
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::Event;
use cotree_profile::method::trace::thread::{Stop, Survey, Thread};
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write};

/// Which blocks of a thread are shown, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// The last ones come first.
    pub backwards: bool,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// One JSON object per row.
    Json,
}

/// How a part of a thread ends, in words.
pub(crate) fn stop(rows: &Rows<'_>, stop: &Stop) -> String {
    match stop {
        Stop::Ended(ending) if ending.0 == 0 => "the thread ended".to_owned(),
        Stop::Ended(_) => "the process ended".to_owned(),
        Stop::Returned => "the signal handler returned".to_owned(),
        Stop::Open => "the thread was cut off, or still ran".to_owned(),
        Stop::NoRoom => "there was no room for more of this thread's trace".to_owned(),
        Stop::Lost => "what comes next can't be told".to_owned(),
        Stop::Unreadable(error) => format!("it can't be followed any further: {}", rows.describe(error)),
        Stop::NoEntrance => "nobody knows where it begins".to_owned(),
    }
}

fn bits(bytes: u64, blocks: u64) -> f64 {
    if blocks == 0 { 0.0 } else { bytes as f64 * 8.0 / blocks as f64 }
}

/// What a thread is called.
pub(crate) fn title(thread: &Thread<'_>) -> String {
    let number = thread.stream.number;
    match thread.stream.inside {
        Some((outer, _)) => format!("thread {number}, a signal handler in thread {outer}"),
        None => format!("thread {number}"),
    }
}

/// How many rows are shown of what may have run after the end.
const UNCERTAIN_ROWS: u64 = 20;

impl Traced<'_> {
    /// Writes how much there is, and how it ends.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_summary(&self, rows: &Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
        let parts = || self.threads.iter().flat_map(|thread| &thread.parts);
        let blocks: u64 = parts().map(|part| part.blocks).sum();
        let bytes: u64 = parts().map(|part| part.bytes.0).sum();
        writeln!(
            out,
            "{}, {}, {}: {:.3} bits per block",
            counted(self.threads.len() as u128, "thread"),
            counted(blocks.into(), "block"),
            counted(bytes.into(), "byte"),
            bits(bytes, blocks)
        )?;
        let stored: u64 = parts().map(|part| part.stored).sum();
        if stored < bytes {
            let stored_bytes = counted(stored.into(), "byte");
            writeln!(out, "compressed in the file to {stored_bytes}: {:.3} bits per block", bits(stored, blocks))?;
        }
        let [addresses, of_addresses] =
            parts().fold([0, 0], |[count, bytes], part| [count + part.addresses.0, bytes + part.addresses.1]);
        if addresses > 0 {
            let plural = if addresses == 1 { "" } else { "es" };
            writeln!(
                out,
                "{} address{plural}, in {} of these",
                grouped(addresses.into()),
                counted(of_addresses.into(), "byte")
            )?;
        }
        if let Some(left_out) = rows.left_out() {
            writeln!(out, "{left_out}")?;
        }
        for thread in &self.threads {
            writeln!(out, "\n{}: {}", title(thread), counted(thread.blocks().into(), "block"))?;
            if thread.stream.gone {
                writeln!(out, "  nothing of it was kept")?;
            }
            for (index, part) in thread.parts.iter().enumerate() {
                if index > 0 {
                    writeln!(out, "  then something is missing")?;
                } else if part.starts_late {
                    writeln!(out, "  only the newest part was kept: its first block is number 1")?;
                }
                self.write_part(rows, part, out)?;
            }
        }
        Ok(())
    }

    fn write_part(&self, rows: &Rows<'_>, part: &Survey<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (read, unread) = part.bytes;
        if part.blocks > 0 {
            writeln!(
                out,
                "  blocks {} to {}, {}",
                grouped(part.first.into()),
                grouped((part.first + part.blocks - 1).into()),
                counted(read.into(), "byte")
            )?;
        }
        if unread > 0 {
            writeln!(
                out,
                "  {} before them can't be read: nobody knows where they begin",
                counted(unread.into(), "byte")
            )?;
        }
        if let Some(address) = part.interrupted {
            let line = rows.line_at(address).map(|line| format!(", at {line}")).unwrap_or_default();
            writeln!(out, "  a signal ended what was under way{line}")?;
        }
        writeln!(out, "  {}", stop(rows, &part.stop))?;
        let stack = rows.under_way(self.tables, part);
        if !stack.is_empty() {
            writeln!(out, "  at the end these were under way, innermost first:")?;
            write_stack(&stack, out)?;
        }
        if part.uncertain > 0 {
            let more = counted(part.uncertain.into(), "block");
            writeln!(
                out,
                "  {more} more follow if the program got that far: what ran after the last token is not known"
            )?;
        }
        Ok(())
    }

    /// Writes a range of each thread.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_rows(&self, rows: &Rows<'_>, range: BlockRange, form: Form, out: &mut dyn Write) -> io::Result<()> {
        for thread in &self.threads {
            if form == Form::Text {
                writeln!(out, "{}", title(thread))?;
            }
            let mut show = |shown: &[Row]| self.show(rows, thread, shown, form, out);
            if range.backwards {
                for part in thread.parts.iter().rev() {
                    self.backwards(rows, part, range, &mut show)?;
                }
            } else {
                for part in &thread.parts {
                    self.forwards(rows, part, range, &mut show)?;
                }
            }
            if form == Form::Text
                && !range.backwards
                && let Some(part) = thread.parts.last().filter(|part| part.last() <= range.to)
            {
                writeln!(out, "{:>10}  {}", "", stop(rows, &part.stop))?;
            }
        }
        Ok(())
    }

    fn show(
        &self,
        rows: &Rows<'_>,
        thread: &Thread<'_>,
        shown: &[Row],
        form: Form,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        shown.iter().try_for_each(|row| match form {
            Form::Text => writeln!(out, "{}", rows.text(row)),
            Form::Json => writeln!(out, "{}", rows.json(row, thread.stream.number)),
        })
    }

    fn forwards(
        &self,
        rows: &Rows<'_>,
        part: &Survey<'_>,
        range: BlockRange,
        show: &mut dyn FnMut(&[Row]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut found = Vec::new();
        let last = (part.first + part.blocks).saturating_add(UNCERTAIN_ROWS);
        part.follow(self.tables, self.streams, range.from, range.to.min(last), |moment| {
            found.clear();
            rows.add(&moment, &mut found);
            show(&found)?;
            Ok(true)
        })
    }

    /// In pieces, the last one first, each of which is read forwards.
    fn backwards(
        &self,
        rows: &Rows<'_>,
        part: &Survey<'_>,
        range: BlockRange,
        show: &mut dyn FnMut(&[Row]) -> io::Result<()>,
    ) -> io::Result<()> {
        const AT_ONCE: u64 = 1 << 16;
        let last = (part.first + part.blocks).saturating_add(UNCERTAIN_ROWS).min(range.to).min(part.last());
        let first = range.from.max(part.first);
        let mut to = last;
        while to >= first && to > 0 {
            let from = to.saturating_sub(AT_ONCE - 1).max(first);
            let mut found = Vec::new();
            // What comes behind the last block is the last piece's.
            let end = if to == part.last() { u64::MAX } else { to };
            part.follow(self.tables, self.streams, from, end, |moment| {
                rows.add(&moment, &mut found);
                Ok::<_, io::Error>(true)
            })?;
            found.reverse();
            show(&found)?;
            to = from - 1;
        }
        Ok(())
    }

    /// Writes the last blocks of each thread, and the stack at its end. Blocks in a ring are counted back from the last
    /// one: only its end is read.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_last(&self, rows: &Rows<'_>, last: u64, out: &mut dyn Write) -> io::Result<()> {
        for thread in &self.threads {
            writeln!(out, "{}", title(thread))?;
            let Some(part) = thread.parts.last() else { continue };
            let end = part.first + part.blocks - 1;
            let range = BlockRange { from: (end + 1).saturating_sub(last), to: u64::MAX, backwards: false };
            self.forwards(rows, part, range, &mut |shown| {
                shown.iter().try_for_each(|row| match self.streams.ring().exists {
                    true => writeln!(out, "{}", rows.text_before(row, end)),
                    false => writeln!(out, "{}", rows.text(row)),
                })
            })?;
            writeln!(out, "{:>10}  {}", "", stop(rows, &part.stop))?;
            let stack = rows.under_way(self.tables, part);
            if !stack.is_empty() {
                writeln!(out, "under way at the end, innermost first:")?;
                write_stack(&stack, out)?;
            }
        }
        Ok(())
    }

    /// Writes the moment when a line ran for the k-th time, and how it was reached: so many rows before it. Gives how
    /// often it ran up to there.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_nth(
        &self,
        rows: &Rows<'_>,
        line: &SourceLine,
        nth: u64,
        before: usize,
        out: &mut dyn Write,
    ) -> io::Result<u64> {
        let mut times = 0;
        for thread in &self.threads {
            for part in &thread.parts {
                let mut kept: VecDeque<Row> = VecDeque::new();
                let mut found = Vec::new();
                let mut stack = None;
                part.follow(self.tables, self.streams, 0, u64::MAX, |moment| {
                    found.clear();
                    rows.add(&moment, &mut found);
                    for row in found.iter().filter(|_| moment.certain) {
                        if kept.len() > before {
                            kept.pop_front();
                        }
                        kept.push_back(*row);
                        if rows.is_at(row, line) {
                            times += 1;
                            if times == nth {
                                stack = Some(rows.stack(self.tables, moment.at));
                                return Ok::<_, io::Error>(false);
                            }
                        }
                    }
                    Ok(moment.leads_on)
                })?;
                if let Some(stack) = stack {
                    writeln!(out, "{}", title(thread))?;
                    kept.iter().try_for_each(|row| writeln!(out, "{}", rows.text(row)))?;
                    writeln!(out, "under way then, innermost first:")?;
                    write_stack(&stack, out)?;
                    return Ok(times);
                }
            }
        }
        Ok(times)
    }

    /// The number of the block with which a function that matches begins for the k-th time, in one thread.
    #[must_use]
    pub fn nth_begin(&self, thread: &Thread<'_>, pattern: &str, nth: u64) -> Option<u64> {
        let functions: Vec<bool> =
            self.binary.map().program.functions().map(|(_, function)| matches(pattern, &function.symbol)).collect();
        let meant = |function: FunctionId| functions.get(function.index()).copied().unwrap_or(false);
        let (mut times, mut found) = (0, None);
        for part in &thread.parts {
            let done: Result<(), std::convert::Infallible> =
                part.follow(self.tables, self.streams, 0, u64::MAX, |moment| {
                    if let Event::Begin(function) = moment.event
                        && meant(function)
                        && moment.certain
                    {
                        times += 1;
                        found = Some(moment.block).filter(|_| times == nth);
                    }
                    Ok(found.is_none() && moment.leads_on)
                });
            let Ok(()) = done;
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// The summary for other programs.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_json(&self, rows: &Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
        let part = |part: &Survey<'_>| {
            json!({
                "first": part.first,
                "blocks": part.blocks,
                "uncertain_blocks": part.uncertain,
                "bytes": part.bytes.0,
                "unread_bytes": part.bytes.1,
                "stored_bytes": part.stored,
                "addresses": part.addresses.0,
                "address_bytes": part.addresses.1,
                "newest_only": part.starts_late,
                "end": stop(rows, &part.stop),
                "interrupted": part.interrupted.map(|address| rows.line_at(address)),
                "stack": rows.under_way(self.tables, part),
            })
        };
        let thread = |thread: &Thread<'_>| json!({ "thread": thread.stream.number, "handler_in": thread.stream.inside.map(|(outer, _)| outer), "parts": thread.parts.iter().map(part).collect::<Vec<_>>() });
        let threads: Vec<_> = self.threads.iter().map(thread).collect();
        let ring = self.streams.ring();
        let value = json!({
            "binary": self.binary.path().display().to_string(),
            "newest_only": ring.overwritten,
            "threads_gone": ring.streams_gone,
            "threads": threads,
        });
        serde_json::to_writer_pretty(&mut *out, &value)?;
        writeln!(out)
    }
}

/// The outermost activations of a deep stack are as much a part of it as the innermost.
const SHOWN_FRAMES: usize = 40;

pub(super) fn write_stack(stack: &[String], out: &mut dyn Write) -> io::Result<()> {
    let hidden = stack.len().saturating_sub(SHOWN_FRAMES);
    for (index, frame) in stack.iter().enumerate() {
        if hidden > 0 && index == SHOWN_FRAMES / 2 {
            writeln!(out, "    … {} more …", grouped(hidden as u128))?;
        }
        if hidden == 0 || index < SHOWN_FRAMES / 2 || index >= SHOWN_FRAMES / 2 + hidden {
            writeln!(out, "    {frame}")?;
        }
    }
    Ok(())
}
