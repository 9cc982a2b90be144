//! What a program was compiled by (`--use`): which of its functions have their counts, of which these are a guess, and
//! from which builds they are. It is a section of the program that is never loaded, a note with JSON in a zstd frame
//! (docs/formats.md).

use crate::regular;
use crate::weights::Build;
use object::read::{Object, ObjectSection, ReadCache};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The section.
pub const USED_SECTION: &str = ".cotree.used";

/// The schema of its content.
pub const SCHEMA: &str = "cotree-used/1";

/// Whose note it is, padded.
const OWNER: &[u8; 8] = b"cotree\0\0";

/// The type of the note.
const NOTE: u32 = 1;

/// The most bytes that it may have when it is unpacked.
const MOST: u64 = 1 << 30;

/// At most this many functions that have changed are named in a sentence,
const NAMED: usize = 3;

/// each by so many characters at most: names of generic code fill screens.
const LONGEST_NAME: usize = 60;

/// What a profile said of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// [`SCHEMA`]
    pub schema: String,
    /// The name of the file that the counts were read from.
    pub profile: String,
    /// The builds whose runs were counted.
    pub builds: Vec<Build>,
    /// All functions that could have counts.
    pub functions: Vec<UsedFunction>,
}

/// What it said of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedFunction {
    /// The linker symbol.
    pub symbol: String,
    /// The module.
    pub module: String,
    /// What its counts are.
    pub how: How,
    /// How many blocks it has.
    pub blocks: u64,
    /// How many of these have counts.
    pub known: u64,
    /// The builds that the counts are from, as numbers of [`Used::builds`].
    pub builds: Vec<usize>,
    /// How many indirect calls have targets that are known: whom they led to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What the counts of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The counts of the function itself.
    Counted,
    /// The counts of an earlier version of it, block by block.
    Guessed,
    /// None: it has changed, and too little is known of the version that was counted.
    Changed,
    /// None: the profile does not have it.
    Unknown,
}

/// Why it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UsedError {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The file is no program, or was not compiled by a profile.
    #[error("{path} was not compiled by a profile: name a program that was built with --use, and not stripped", path = .path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
    /// The section is damaged, or of a later version.
    #[error("{path} has a damaged section {USED_SECTION} ({reason}): build it again", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// What a note says, and what is behind it.
fn split_note(notes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = notes.strip_prefix(&8_u32.to_le_bytes())?.split_first_chunk::<4>()?;
    let rest = rest.strip_prefix(&NOTE.to_le_bytes())?.strip_prefix(OWNER)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    Some((rest.get(..length)?, rest.get(length.next_multiple_of(4)..)?))
}

/// The beginning of a long name.
fn shortened(mut name: String) -> String {
    if let Some((end, _)) = name.char_indices().nth(LONGEST_NAME) {
        name.truncate(end);
        name.push('…');
    }
    name
}

impl Used {
    /// The content of the section: a note, since linkers that collect garbage keep notes.
    ///
    /// # Errors
    /// Errors of zstd, which has none where there is memory; and a size that a note cannot have.
    pub fn to_section(&self) -> io::Result<Vec<u8>> {
        let frame = zstd::bulk::compress(&serde_json::to_vec(self)?, 9)?;
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let head = [u32::try_from(OWNER.len()).unwrap_or(0), length, NOTE];
        let mut note: Vec<u8> = head.iter().flat_map(|number| number.to_le_bytes()).collect();
        note.extend(OWNER);
        note.extend(frame);
        note.resize(note.len().next_multiple_of(4), 0);
        Ok(note)
    }

    /// Reads what the sections of a program say: one, or several where it was linked of parts that had their own.
    ///
    /// # Errors
    /// See [`UsedError`].
    pub fn read(path: &Path) -> Result<Vec<Self>, UsedError> {
        let io = |cause| UsedError::Io { path: path.into(), cause };
        let damaged = |reason: String| UsedError::Damaged { path: path.into(), reason };
        let cache = ReadCache::new(regular::open(path).map_err(io)?);
        let elf = object::File::parse(&cache).map_err(|_| UsedError::None { path: path.into() })?;
        let section = elf.section_by_name(USED_SECTION).ok_or_else(|| UsedError::None { path: path.into() })?;
        let data = section.data().map_err(|error| damaged(error.to_string()))?;
        let (mut text, mut rest) = (Vec::new(), data);
        while !rest.is_empty() {
            let (frame, behind) = split_note(rest).ok_or_else(|| damaged("a note is cut off".into()))?;
            let frame = zstd::stream::read::Decoder::with_buffer(frame).map_err(|error| damaged(error.to_string()))?;
            frame.take(MOST).read_to_end(&mut text).map_err(|error| damaged(error.to_string()))?;
            rest = behind;
        }
        let all = serde_json::Deserializer::from_slice(&text).into_iter::<Self>();
        let all: Vec<Self> = all.collect::<Result<_, _>>().map_err(|error| damaged(error.to_string()))?;
        let numbered =
            |used: &Self| used.functions.iter().flat_map(|f| &f.builds).all(|&b| b < used.builds.len().max(1));
        match all.iter().find(|used| used.schema != SCHEMA || !numbered(used)) {
            Some(other) => Err(damaged(format!(
                "its schema is {}, not {SCHEMA}, or it names builds that it does not list",
                other.schema
            ))),
            None => Ok(all),
        }
    }

    /// The functions with such counts.
    pub fn of(&self, how: How) -> impl Iterator<Item = &UsedFunction> {
        self.functions.iter().filter(move |function| function.how == how)
    }

    /// A sentence about functions whose counts are guessed or missing, if there are such. `name` makes names for people
    /// of symbols.
    #[must_use]
    pub fn sentence(&self, name: impl Fn(&str) -> String) -> Option<String> {
        let count = |how| self.of(how).count();
        let (guessed, changed, unknown) = (count(How::Guessed), count(How::Changed), count(How::Unknown));
        if guessed + changed + unknown == 0 {
            return None;
        }
        let names =
            self.of(How::Guessed).chain(self.of(How::Changed)).map(|function| shortened(name(&function.symbol)));
        let mut named = names.take(NAMED).collect::<Vec<_>>().join(", ");
        if guessed + changed > NAMED {
            named.push_str(", …");
        }
        let mut parts = Vec::new();
        if guessed + changed > 0 {
            parts.push(format!("{} have changed since the profile ({named})", guessed + changed));
        }
        if guessed > 0 {
            let sum = |of: fn(&UsedFunction) -> u64| self.of(How::Guessed).map(of).sum::<u64>();
            let (known, blocks) = (sum(|function| function.known), sum(|function| function.blocks));
            parts.push(format!("{guessed} of these have guessed counts, for {known} of their {blocks} blocks"));
        }
        if changed + unknown > 0 {
            parts.push(format!("{unknown} are not in it, and {} are compiled without counts", changed + unknown));
        }
        Some(format!("of {} functions {} (more by `cotree report --stale`)", self.functions.len(), parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_some_functions_by_the_beginning_of_their_names() {
        let function = |symbol: String, how| UsedFunction {
            symbol,
            module: "m.o".into(),
            how,
            blocks: 4,
            known: 3,
            builds: Vec::new(),
            calls: 0,
        };
        let functions = (0..5).map(|number| function(format!("f{number}{}", "é".repeat(number * 30)), How::Guessed));
        let functions = functions.chain([function("g".into(), How::Unknown)]).collect();
        let mut used = Used { schema: SCHEMA.into(), profile: "p".into(), builds: Vec::new(), functions };
        let sentence = used.sentence(str::to_uppercase).expect("something has changed");
        let long = "É".repeat(58);
        assert!(sentence.contains(&format!("(F0, F1{}, F2{long}…, …)", "É".repeat(30))), "{sentence}");
        assert!(sentence.contains("5 of these have guessed counts, for 15 of their 20 blocks"), "{sentence}");
        used.functions = vec![function("h".into(), How::Counted)];
        assert_eq!(used.sentence(str::to_owned), None);
    }
}
