//! The facts about a link unit besides its counts: its id, what was run, and how the runs ended.

use super::Stream;
use crate::binary::UnitId;
use crate::counts::UnitCounts;
use crate::runs::Runs;
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};
use cotree_rt::layout::Flags;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// No path or argument is longer.
const MAX_TEXT: u64 = 1 << 16;

pub(super) fn write(counts: &UnitCounts, w: &mut Writer) {
    w.put_bytes(Stream::Id, &counts.unit.0);
    put_text(w, counts.binary.as_os_str().as_bytes());
    w.put(Stream::TextLength, counts.command.len() as u64);
    for argument in &counts.command {
        put_text(w, argument.as_bytes());
    }
    if !counts.tests.is_empty() {
        w.put(Stream::TestLength, counts.tests.len() as u64);
    }
    for test in &counts.tests {
        w.put(Stream::TestLength, test.len() as u64);
        w.put_bytes(Stream::Test, test.as_bytes());
    }
    let Runs { finished, aborted, cut_off, snapshots } = counts.runs;
    for number in [finished, aborted, cut_off, snapshots, counts.weight, counts.flags.bits(), counts.threads_alive] {
        w.put(Stream::Run, number);
    }
    for number in [counts.started_ns, counts.ended_ns, u64::from(counts.saturated)] {
        w.put(Stream::Run, number);
    }
}

/// A unit without counts yet.
pub(super) fn read(r: &mut Reader<'_>) -> Result<UnitCounts, WireError> {
    let id = r.get_bytes(Stream::Id, 16)?;
    let binary = PathBuf::from(OsStr::from_bytes(text(r, Stream::TextLength, Stream::Text)?));
    let arguments = r.get_count(Stream::TextLength, Stream::TextLength)?;
    let mut argument = || Ok(String::from_utf8_lossy(text(r, Stream::TextLength, Stream::Text)?).into_owned());
    let command = (0..arguments).map(|_| argument()).collect::<Result<_, WireError>>()?;
    let mut tests = BTreeSet::new();
    if r.left(Stream::TestLength) > 0 {
        for _ in 0..r.get_count(Stream::TestLength, Stream::TestLength)? {
            let name = text(r, Stream::TestLength, Stream::Test)?;
            tests.insert(String::from_utf8_lossy(name).into_owned());
        }
    }
    let mut number = || r.get(Stream::Run);
    let runs = Runs { finished: number()?, aborted: number()?, cut_off: number()?, snapshots: number()? };
    let (weight, flags, threads_alive) = (number()?, number()?, number()?);
    let (started_ns, ended_ns, saturated) = (number()?, number()?, number()? != 0);
    let flags = Flags::from_bits(flags);
    if flags.without(Flags::KNOWN) != Flags::NONE {
        return Err(WireError::Invalid("it has flags that this cotree does not know"));
    }
    let unit = UnitId(id.try_into().expect("sixteen bytes"));
    Ok(UnitCounts {
        unit,
        binary,
        command,
        tests,
        runs,
        weight,
        flags,
        threads_alive,
        started_ns,
        ended_ns,
        saturated,
        ..UnitCounts::default()
    })
}

fn put_text(w: &mut Writer, text: &[u8]) {
    w.put(Stream::TextLength, text.len() as u64);
    w.put_bytes(Stream::Text, text);
}

fn text<'a>(r: &mut Reader<'a>, lengths: Stream, texts: Stream) -> Result<&'a [u8], WireError> {
    let length = r.get(lengths)?;
    let length = usize::try_from(length).ok().filter(|_| length <= MAX_TEXT);
    r.get_bytes(texts, length.ok_or(WireError::Invalid("a text is too long"))?)
}
