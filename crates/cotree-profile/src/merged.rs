//! Merged profiles: the sums of many runs, of one link unit or of several.
//!
//! A header (magic, version, lengths, checksum) and one zstd frame; in it each unit with its counters as LEB128 numbers
//! and its early exits sorted by address. The exact layout is in `docs/formats.md`. The same inputs in any order give
//! the same sums.

use crate::atomic::{self, WriteError};
use crate::binary::UnitId;
use crate::counts::{KNOWN_FLAGS, Runs, UnitCounts};
use crate::file::{DifferentBinaries, DifferentMetrics, ProfileError, ProfileFile};
use crate::path_counts::{PathCounts, PathKey, RegisterCounts, RegisterKey, Sums};
use cotree_core::method::path::PathMetric;
use cotree_rt::layout::Checksum;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// First bytes of a merged profile.
pub const MAGIC: [u8; 8] = *b"COTREEMG";
/// Version of the format. Where nothing is added up along paths, files have version 2, in which nothing could be.
pub const VERSION: u32 = 3;
/// The oldest version that is still read: without paths.
pub const OLDEST_VERSION: u32 = 1;

const HEADER: usize = 40;
/// What a file may unpack to: so many bytes per packed byte, and a basis. The writer pads where that is not enough.
const MAX_RATIO: u64 = 1 << 10;
const BASIS: u64 = 1 << 24;

/// A merge under way: one accumulator per link unit.
#[derive(Debug, Default)]
pub struct Merge {
    units: BTreeMap<UnitId, (UnitCounts, PathBuf)>,
    /// Allow counts of several link units in one profile.
    pub several_units: bool,
}

impl Merge {
    /// Adds a profile, `weight` times. After an error nothing of the profile has been added.
    ///
    /// # Errors
    /// If it is of another binary than those before, unless several units are allowed; two builds of one binary never
    /// are.
    pub fn add(&mut self, profile: ProfileFile, weight: u64) -> Result<(), ProfileError> {
        for new in &profile.units {
            if let Some((known, _)) = self.units.get(&new.unit) {
                if known.counters.len() != new.counters.len() {
                    let what = "it has another number of counters than other profiles of the same build";
                    return Err(ProfileError::Damaged { path: profile.path, what });
                }
                continue;
            }
            let same_path = self.units.values().find(|(known, _)| known.binary == new.binary);
            let other = if self.several_units { None } else { self.units.values().next() };
            if let Some((known, other_path)) = same_path.or(other) {
                if known.metric != new.metric {
                    return Err(ProfileError::DifferentMetrics(Box::new(DifferentMetrics {
                        path: profile.path,
                        metric: new.metric,
                        other_path: other_path.clone(),
                        other_metric: known.metric,
                    })));
                }
                return Err(ProfileError::DifferentBinaries(Box::new(DifferentBinaries {
                    binary: new.binary.clone(),
                    unit: new.unit,
                    other_path: other_path.clone(),
                    other_binary: known.binary.clone(),
                    other_unit: known.unit,
                    remedy: if same_path.is_some() {
                        "the binary was built anew between the runs, so their counts cannot be added; merge the runs of each build apart"
                    } else {
                        "merge the profiles of one binary, or pass --several-units to keep both in one file"
                    },
                    path: profile.path,
                })));
            }
        }
        for new in profile.units {
            match self.units.entry(new.unit) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert((new.weighted(weight), profile.path.clone()));
                }
                std::collections::btree_map::Entry::Occupied(mut known) => {
                    known.get_mut().0.add(&new, weight).expect("compared above");
                }
            }
        }
        Ok(())
    }

    /// The sums.
    #[must_use]
    pub fn finish(self) -> Vec<UnitCounts> {
        self.units.into_values().map(|(counts, _)| counts).collect()
    }
}

/// Writes a merged profile, atomically.
///
/// # Errors
/// Those of the file system; the file is then as it was.
pub fn write(path: &Path, units: &[UnitCounts]) -> Result<(), WriteError> {
    atomic::write(path, |out| out.write_all(&encode(units)?))
}

fn encode(units: &[UnitCounts]) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    put(&mut body, units.len() as u64);
    let mut units: Vec<&UnitCounts> = units.iter().collect();
    units.sort_by_key(|u| u.unit);
    let version = if units.iter().any(|unit| unit.metric.is_summed()) { VERSION } else { 2 };
    for unit in units {
        body.extend_from_slice(&unit.unit.0);
        put_bytes(&mut body, unit.binary.as_os_str().as_bytes());
        put(&mut body, unit.command.len() as u64);
        for argument in &unit.command {
            put_bytes(&mut body, argument.as_bytes());
        }
        let Runs { finished, aborted, cut_off, snapshots } = unit.runs;
        for number in
            [finished, aborted, cut_off, snapshots, unit.weight, unit.flags, unit.threads_alive, unit.started_ns]
        {
            put(&mut body, number);
        }
        put(&mut body, unit.ended_ns);
        put(&mut body, u64::from(unit.saturated));
        put(&mut body, unit.counters.len() as u64);
        for &counter in &unit.counters {
            put(&mut body, counter);
        }
        put(&mut body, unit.early.len() as u64);
        let mut last = 0;
        for (&address, &count) in &unit.early {
            put(&mut body, address - last);
            put(&mut body, zigzag(count));
            last = address;
        }
        put_paths(&mut body, unit);
        if version >= 3 {
            put(&mut body, unit.metric.number().into());
            put_counts(&mut body, &unit.sums);
        }
    }
    let mut payload = zstd::bulk::compress(&body, 9)?;
    let needed = (body.len() as u64).saturating_sub(BASIS).div_ceil(MAX_RATIO);
    if (payload.len() as u64) < needed {
        payload.resize(usize::try_from(needed).expect("less than what is in memory"), 0);
    }
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&0u32.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(&bytes, &payload);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes.append(&mut payload);
    Ok(bytes)
}

fn put_counts(body: &mut Vec<u8>, counts: &PathCounts) {
    let counts = counts.entries();
    put(body, counts.len() as u64);
    let mut last = PathKey { function: 0, path: 0 };
    for &(key, count) in counts {
        put(body, u64::from(key.function - last.function));
        put(body, if key.function == last.function { key.path - last.path } else { key.path });
        put(body, count);
        last = key;
    }
}

fn put_paths(body: &mut Vec<u8>, unit: &UnitCounts) {
    put_counts(body, &unit.paths);
    let registers = unit.registers.entries();
    put(body, registers.len() as u64);
    let mut last = 0;
    for &(key, count) in registers {
        put(body, key.address - last);
        put(body, key.value.into());
        put(body, zigzag(key.register));
        put(body, zigzag(count));
        last = key.address;
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut sum = Checksum::new((head.len() + payload.len()) as u64);
    sum.add(head);
    sum.add(payload);
    sum.finish()
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn put_bytes(bytes: &mut Vec<u8>, text: &[u8]) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Reads a merged profile whose first bytes are [`MAGIC`].
///
/// # Errors
/// See [`ProfileError`].
pub fn read(mut file: impl Read, length: u64, path: &Path) -> Result<Vec<UnitCounts>, ProfileError> {
    let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
    let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
    let mut head = [0; HEADER];
    if length < HEADER as u64 {
        return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: HEADER as u64 });
    }
    file.read_exact(&mut head).map_err(io)?;
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let version = u32::from_le_bytes(head[8..12].try_into().expect("four bytes"));
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(ProfileError::Version { path: path.to_owned(), version, expected: VERSION });
    }
    let (unpacked, packed) = (word(16), word(24));
    let need = packed.checked_add(HEADER as u64).ok_or_else(|| damaged("its sizes make no sense"))?;
    if need > length {
        return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need });
    }
    let mut payload = Vec::new();
    file.take(packed).read_to_end(&mut payload).map_err(io)?;
    if checksum(&head[..HEADER - 8], &payload) != word(32) {
        return Err(damaged("its checksum is wrong"));
    }
    if unpacked > BASIS.saturating_add(packed.saturating_mul(MAX_RATIO)) {
        return Err(damaged("it claims to unpack to more than it may"));
    }
    let decoder =
        zstd::stream::read::Decoder::with_buffer(payload.as_slice()).map_err(|_| damaged("it does not unpack"))?;
    // One frame: what stands after it is padding.
    let mut body = Body { version, bytes: io::BufReader::new(decoder.single_frame().take(unpacked)), left: unpacked };
    let units = body.units().map_err(damaged)?;
    if body.left != 0 {
        return Err(damaged("bytes are left over"));
    }
    Ok(units)
}

/// The unpacked body, read once from front to back.
struct Body<R> {
    version: u32,
    bytes: R,
    left: u64,
}

impl<R: Read> Body<R> {
    fn units(&mut self) -> Result<Vec<UnitCounts>, &'static str> {
        let mut units: Vec<UnitCounts> = Vec::new();
        for _ in 0..self.count()? {
            let unit = self.unit()?;
            if units.last().is_some_and(|last| last.unit >= unit.unit) {
                return Err("its units are not in order");
            }
            units.push(unit);
        }
        Ok(units)
    }

    fn unit(&mut self) -> Result<UnitCounts, &'static str> {
        let mut id = [0; 16];
        self.exact(&mut id)?;
        let binary = PathBuf::from(OsStr::from_bytes(&self.text()?));
        let arguments = self.count()?;
        let command = (0..arguments)
            .map(|_| Ok(String::from_utf8_lossy(&self.text()?).into_owned()))
            .collect::<Result<_, &str>>()?;
        let runs = Runs {
            finished: self.number()?,
            aborted: self.number()?,
            cut_off: self.number()?,
            snapshots: self.number()?,
        };
        let (weight, flags, threads_alive) = (self.number()?, self.number()?, self.number()?);
        let (started_ns, ended_ns, saturated) = (self.number()?, self.number()?, self.number()? != 0);
        if flags & !KNOWN_FLAGS != 0 {
            return Err("it has flags that this cotree does not know");
        }
        let mut counters = Vec::new();
        for _ in 0..self.count()? {
            counters.push(self.number()?);
        }
        let mut early = BTreeMap::new();
        let mut address = 0u64;
        for index in 0..self.count()? {
            let step = self.number()?;
            if index > 0 && step == 0 {
                return Err("its early exits are not in order");
            }
            address = address.checked_add(step).ok_or("its early exits are not in order")?;
            early.insert(address, self.signed()?);
        }
        let (paths, registers) = if self.version >= 2 { self.paths()? } else { Default::default() };
        let (mut metric, mut sums) = Default::default();
        if self.version >= 3 {
            metric = PathMetric::from_number(self.number()?).ok_or("its metric is unknown")?;
            let read = self.path_counts()?;
            let count = read.len();
            let cut;
            (sums, cut) = Sums::new(read);
            if cut || count != sums.entries().len() {
                return Err("a path is in it twice, or without a sum");
            }
        }
        let unit = UnitId(id);
        Ok(UnitCounts {
            unit,
            binary,
            command,
            runs,
            weight,
            flags,
            threads_alive,
            started_ns,
            ended_ns,
            saturated,
            counters,
            early,
            paths,
            metric,
            sums,
            registers,
        })
    }

    fn path_counts(&mut self) -> Result<Vec<(PathKey, u64)>, &'static str> {
        let mut paths: Vec<(PathKey, u64)> = Vec::new();
        for _ in 0..self.count()? {
            let last = paths.last().map_or(PathKey { function: 0, path: 0 }, |entry| entry.0);
            let step = u32::try_from(self.number()?).map_err(|_| "a path belongs to no function")?;
            let function = last.function.checked_add(step).ok_or("a path belongs to no function")?;
            let base = if step == 0 { last.path } else { 0 };
            let path = base.checked_add(self.number()?).ok_or("its paths are not in order")?;
            paths.push((PathKey { function, path }, self.number()?));
        }
        Ok(paths)
    }

    fn paths(&mut self) -> Result<(PathCounts, RegisterCounts), &'static str> {
        let paths = self.path_counts()?;
        let mut registers: Vec<(RegisterKey, i64)> = Vec::new();
        for _ in 0..self.count()? {
            let last = registers.last().map_or(0, |entry| entry.0.address);
            let address = last.checked_add(self.number()?).ok_or("its path registers are not in order")?;
            let value = u8::try_from(self.number()?).map_err(|_| "a path register has no place")?;
            registers.push((RegisterKey { address, value, register: self.signed()? }, self.signed()?));
        }
        let read = (paths.len(), registers.len());
        let ((paths, cut), (registers, registers_cut)) = (Sums::new(paths), Sums::new(registers));
        if cut || registers_cut || read != (paths.entries().len(), registers.entries().len()) {
            return Err("a path is in it twice, or without a count");
        }
        Ok((paths, registers))
    }

    fn exact(&mut self, bytes: &mut [u8]) -> Result<(), &'static str> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or("it ends too early")?;
        self.bytes.read_exact(bytes).map_err(|_| "it does not unpack")
    }

    fn number(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.exact(&mut byte)?;
            let bits = u64::from(byte[0] & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err("a number has more than 64 bits")
    }

    fn signed(&mut self) -> Result<i64, &'static str> {
        self.number().map(|n| (n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    /// A number of things of which each takes at least a byte.
    fn count(&mut self) -> Result<u64, &'static str> {
        self.number().and_then(|n| if n <= self.left { Ok(n) } else { Err("a count is larger than what is left") })
    }

    fn text(&mut self) -> Result<Vec<u8>, &'static str> {
        let length = self.count()?;
        if length > 1 << 16 {
            return Err("a text is too long");
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| "a text is too long")?];
        self.exact(&mut bytes)?;
        Ok(bytes)
    }
}
