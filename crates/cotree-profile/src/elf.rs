//! A profiled binary: its map, its unit id, and what leads from machine addresses back to call sites.
//!
//! Only the sections that matter are read, through a cache and not through a mapping. So a binary that is rebuilt or
//! truncated while we read it causes an error and not a SIGBUS.

use crate::binary::{BinaryMap, FUNCS_SECTION, MAP_SECTION, ReturnPoint, UnitId};
use crate::map::{self, MapError};
use crate::placed::{Placed, place};
use crate::regular;
use crate::wire::{Tag, WireError};
use cotree_core::facts::{Callee, Function};
use cotree_core::ids::{FunctionId, Site};
use cotree_rt::layout;
use object::read::{Object, ObjectSection, ObjectSymbol, ReadCache};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why the map of a binary cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The binary cannot be read.
    #[error("cannot read the binary {path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// Not an ELF file.
    #[error("{path} is not an ELF file: give the program or shared library that was profiled", path = .path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
    },
    /// Damaged ELF.
    #[error("{path} is a damaged ELF file ({reason}): build it again", path = .path.display())]
    DamagedElf {
        /// The file.
        path: PathBuf,
        /// What the ELF reader says.
        reason: String,
    },
    /// `.o`.
    #[error("{path} is an object file that is not linked yet: give the program or shared library", path = .path.display())]
    NotLinked {
        /// The file.
        path: PathBuf,
    },
    /// No map section.
    #[error(
        "{path} carries no cotree map: it was not built with cotree, or its sections were stripped (build it with `cotree cc` or `cargo cotree`, and keep the section {MAP_SECTION})",
        path = .path.display()
    )]
    NoMap {
        /// The file.
        path: PathBuf,
    },
    /// The map is of another version of cotree.
    #[error(
        "the cotree map in {path} has format version {version}, this cotree reads version {expected}: use the cotree that built it, or build it again",
        path = .path.display(), expected = map::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version found.
        version: u32,
    },
    /// The map holds something that only later versions of cotree know.
    #[error(
        "the cotree map in {path} has a section `{section}` that this cotree does not know: use a newer cotree, or build it again",
        path = .path.display()
    )]
    NewerSection {
        /// The file.
        path: PathBuf,
        /// The section.
        section: Tag,
    },
    /// The map cannot be used.
    #[error("the cotree map in {path} cannot be used: {reason}; build it again", path = .path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: MapError,
    },
    /// The function addresses cannot be used.
    #[error("the section {FUNCS_SECTION} in {path} cannot be used: {reason}; build it again", path = .path.display())]
    Functions {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: &'static str,
    },
}

/// What an address of the table of early exits means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The activations that were abandoned (or revived), as functions with the call site they were in; innermost first.
    Sites(Vec<(FunctionId, Site)>),
    /// An activation was abandoned in one of these functions, but not at a call that we know.
    UnknownInFunction(Vec<FunctionId>),
    /// The address is in no function of this link unit that cotree compiled.
    Outside,
}

/// A profiled binary, opened.
#[derive(Clone, Debug)]
pub struct BinaryFile {
    path: PathBuf,
    unit: UnitId,
    map: BinaryMap,
    functions: Vec<Placed>,
    /// Module and place in the module of each function of the map.
    index: Vec<(u32, u32)>,
}

/// The activations inlined into each other at a return address.
pub(crate) struct Chain {
    /// The activations that end there, innermost first.
    pub(crate) abandoned: Vec<(FunctionId, Site)>,
    /// The invoke around them whose landing pad an exception reached.
    pub(crate) caught_at: Option<(FunctionId, Site)>,
}

impl BinaryFile {
    /// Opens a profiled binary.
    ///
    /// # Errors
    /// See [`BinaryError`].
    pub fn open(path: &Path) -> Result<Self, BinaryError> {
        with_linked(path, |elf| {
            let damaged = |e: object::Error| damaged(path, e);
            let section =
                elf.section_by_name(MAP_SECTION).ok_or_else(|| BinaryError::NoMap { path: path.to_owned() })?;
            let (map, unit) = map::decode(section.data().map_err(damaged)?).map_err(|reason| match reason {
                MapError::Wire(WireError::Version { found: version, .. }) => {
                    BinaryError::Version { path: path.to_owned(), version }
                }
                MapError::Wire(WireError::NewerSection(section)) => {
                    BinaryError::NewerSection { path: path.to_owned(), section }
                }
                reason => BinaryError::Map { path: path.to_owned(), reason },
            })?;
            let records = match elf.section_by_name(FUNCS_SECTION) {
                Some(section) => section.data().map_err(damaged)?,
                None => &[],
            };
            let symbols = elf
                .symbols()
                .filter(|s| s.is_definition())
                .filter_map(|s| Some((s.address(), s.name().ok()?.to_owned())));
            let functions = place(records, elf.is_little_endian(), &map, symbols)
                .map_err(|reason| BinaryError::Functions { path: path.to_owned(), reason })?;
            let index = index_of(&map);
            Ok(Self { path: path.to_owned(), unit, map, functions, index })
        })
    }

    /// Changes every name and path of the map. What is recovered must be recovered before that.
    pub fn for_each_text(&mut self, change: impl FnMut(&mut String)) {
        self.map.program.for_each_text(change);
    }

    /// Gives source files new names, in the order of their numbers; files that get one name become one. What is
    /// recovered must be recovered before that.
    pub fn rename_files(&mut self, names: Vec<String>) {
        self.map.program.rename_files(names);
    }

    /// A binary from its parts: `functions` is the content of `.cotree.funcs`, little-endian.
    ///
    /// # Errors
    /// Says what is wrong with the parts.
    pub fn from_parts(path: PathBuf, unit: UnitId, map: BinaryMap, functions: &[u8]) -> Result<Self, BinaryError> {
        map::validate(&map).map_err(|reason| BinaryError::Map { path: path.clone(), reason })?;
        let functions = place(functions, true, &map, std::iter::empty())
            .map_err(|reason| BinaryError::Functions { path: path.clone(), reason })?;
        let index = index_of(&map);
        Ok(Self { path, unit, map, functions, index })
    }

    /// Reads only the unit id, which is enough to see whether a profile is of this binary.
    ///
    /// # Errors
    /// See [`BinaryError`].
    pub fn unit_of(path: &Path) -> Result<UnitId, BinaryError> {
        let io = |cause| BinaryError::Io { path: path.to_owned(), cause };
        let cache = ReadCache::new(regular::open(path).map_err(io)?);
        let Ok(elf) = object::File::parse(&cache) else { return Err(BinaryError::NotElf { path: path.to_owned() }) };
        let no_map = || BinaryError::NoMap { path: path.to_owned() };
        let section = elf.section_by_name(MAP_SECTION).ok_or_else(no_map)?;
        let data = section.data().map_err(|_| no_map())?;
        map::decode_unit(data).map_err(|reason| BinaryError::Map { path: path.to_owned(), reason })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of this build.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// The map of the binary.
    #[must_use]
    pub fn map(&self) -> &BinaryMap {
        &self.map
    }

    /// Keeps only the map.
    #[must_use]
    pub fn into_map(self) -> BinaryMap {
        self.map
    }

    /// The machine function that an instruction address lies in, and the offset there: an index into
    /// [`crate::binary::CodeMap::functions`].
    #[must_use]
    pub fn code_at(&self, address: u64) -> Option<(u32, u32)> {
        self.placed_at(address).map(|(p, offset)| (p.code, offset))
    }

    fn placed_at(&self, address: u64) -> Option<(&Placed, u32)> {
        let placed = &self.functions[self.functions.partition_point(|p| p.start <= address).checked_sub(1)?];
        let offset = u32::try_from(address - placed.start).ok()?;
        (offset < self.map.code.functions[placed.code as usize].size).then_some((placed, offset))
    }

    /// The call sites under way at a return address (perhaps with [`layout::AT_LANDING_PAD`]), if it belongs to a known
    /// call.
    pub(crate) fn return_point(&self, address: u64) -> Option<&ReturnPoint> {
        let (placed, before) = self.placed_at((address & !layout::AT_LANDING_PAD).checked_sub(1)?)?;
        let returns = &self.map.code.functions[placed.code as usize].returns;
        let found = returns.binary_search_by_key(&(before + 1), |r| r.offset).ok()?;
        (!placed.ambiguous).then(|| &returns[found])
    }

    /// What an address of the table of early exits means (see [`layout::EarlyEntry::address`]).
    ///
    /// - A plain return address: every function inlined there, and the one that they are inlined in, was abandoned at
    ///   its call site. A mark before a `resume` counts for nothing itself.
    /// - [`layout::AT_LANDING_PAD`]: an exception reached a landing pad of the machine function: only what is inside
    ///   the innermost invoke of the chain was abandoned.
    /// - [`layout::INTERRUPTED`]: no call was under way. It may be an instruction that is known to fault, which is
    ///   listed by the address behind its first byte: no call ends there.
    #[must_use]
    pub fn resolve(&self, address: u64) -> Resolved {
        let plain = address & !(layout::INTERRUPTED | layout::AT_LANDING_PAD);
        if address & layout::INTERRUPTED != 0 {
            let Some((placed, offset)) = self.placed_at(plain) else { return Resolved::Outside };
            let returns = &self.map.code.functions[placed.code as usize].returns;
            let found = returns.binary_search_by_key(&(offset + 1), |r| r.offset).ok().map(|at| &returns[at].chain);
            let is_fault = |&(function, site): &(FunctionId, Site)| self.function(function).calls[site].is_fault();
            return match found.filter(|chain| !placed.ambiguous && chain.first().is_some_and(is_fault)) {
                Some(chain) => Resolved::Sites(self.abandoned(chain, false).abandoned),
                None => Resolved::UnknownInFunction(self.bodies(placed)),
            };
        }
        // A call may be the last instruction of its function: its return address is then the end.
        let Some((placed, before)) = plain.checked_sub(1).and_then(|a| self.placed_at(a)) else {
            return Resolved::Outside;
        };
        let unknown = || Resolved::UnknownInFunction(self.bodies(placed));
        let returns = &self.map.code.functions[placed.code as usize].returns;
        let Ok(found) = returns.binary_search_by_key(&(before + 1), |r| r.offset) else { return unknown() };
        if placed.ambiguous {
            return unknown();
        }
        let at_landing_pad = address & layout::AT_LANDING_PAD != 0;
        let chain = self.abandoned(&returns[found].chain, at_landing_pad);
        // A landing pad was reached, so there has to be an invoke.
        if at_landing_pad && chain.caught_at.is_none() { unknown() } else { Resolved::Sites(chain.abandoned) }
    }

    /// The activations that an address of the table of early exits speaks of; `None` if it is no known call.
    pub(crate) fn chain_at(&self, address: u64) -> Option<Chain> {
        if address & layout::INTERRUPTED != 0 {
            return None;
        }
        let at_landing_pad = address & layout::AT_LANDING_PAD != 0;
        let (placed, before) = self.placed_at((address & !layout::AT_LANDING_PAD).checked_sub(1)?)?;
        let returns = &self.map.code.functions[placed.code as usize].returns;
        let found = returns.binary_search_by_key(&(before + 1), |r| r.offset).ok()?;
        if placed.ambiguous {
            return None;
        }
        Some(self.abandoned(&returns[found].chain, at_landing_pad))
    }

    /// What is left of a chain of calls: all of it, or what is inside the invoke whose landing pad an exception
    /// reached.
    fn abandoned(&self, chain: &[(FunctionId, Site)], at_landing_pad: bool) -> Chain {
        let mut abandoned = Vec::new();
        let mut resuming = false;
        for &(function, site) in chain {
            let facts = &self.function(function).calls[site];
            // An invoke catches what its inlined callee resumes: the optimiser turned the `resume` into a jump to the
            // landing pad.
            if (at_landing_pad || resuming) && facts.terminator {
                return Chain { abandoned, caught_at: Some((function, site)) };
            }
            resuming |= facts.resume_marker;
            if !facts.resume_marker {
                abandoned.push((function, site));
            }
        }
        Chain { abandoned, caught_at: None }
    }

    /// Whether the instruction there is of a function of the map.
    pub(crate) fn is_known_code(&self, address: u64) -> bool {
        self.placed_at(address).is_some()
    }

    /// The function whose machine code has the instruction there; others may be inlined into it.
    pub(crate) fn function_at(&self, address: u64) -> Option<FunctionId> {
        self.placed_at(address)?.0.owner
    }

    /// The function whose machine code begins there.
    pub(crate) fn function_beginning_at(&self, address: u64) -> Option<FunctionId> {
        self.placed_at(address).filter(|(placed, offset)| *offset == 0 && !placed.ambiguous)?.0.owner
    }

    /// A function of the unit.
    ///
    /// # Panics
    /// If there is no such function.
    #[must_use]
    pub fn function(&self, function: FunctionId) -> &Function {
        let (module, index) = self.index[function.index()];
        &self.map.program.modules[module as usize].functions[index as usize]
    }

    /// The functions whose bodies a machine function holds: its own, those from which its call sites come,
    /// and those that a call in them names although the code has no such call.
    fn bodies(&self, placed: &Placed) -> Vec<FunctionId> {
        let code = &self.map.code.functions[placed.code as usize];
        let mut bodies: BTreeSet<FunctionId> =
            code.returns.iter().flat_map(|r| r.chain.iter().map(|&(f, _)| f)).collect();
        bodies.extend(placed.owner);
        let of_modules =
            || FunctionId::all().zip(&self.index).filter(|(_, (m, _))| placed.origin.may_be(*m)).map(|(f, _)| f);
        if bodies.is_empty() || placed.ambiguous {
            // Nothing ties the code to a function: it may be any function of its module, or of those compiled with
            // that.
            bodies.extend(of_modules());
        }
        let called: HashSet<(FunctionId, Site)> =
            code.returns.iter().filter_map(|r| r.chain.first().copied()).collect();
        let mut by_symbol: HashMap<&str, Vec<FunctionId>> = HashMap::new();
        for function in of_modules() {
            by_symbol.entry(self.function(function).symbol.as_str()).or_default().push(function);
        }
        let mut work: Vec<FunctionId> = bodies.iter().copied().collect();
        while let Some(body) = work.pop() {
            for (index, site) in self.function(body).sites().enumerate() {
                let Callee::Symbol(symbol) = &site.callee else { continue };
                if called.contains(&(body, Site::new(index))) {
                    continue;
                }
                let callees = by_symbol.get(symbol.as_str()).into_iter().flatten();
                work.extend(callees.copied().filter(|&callee| bodies.insert(callee)));
            }
        }
        bodies.into_iter().collect()
    }
}

/// Opens a linked ELF file and shows it to `read`.
pub(crate) fn with_linked<T, E: From<BinaryError>>(
    path: &Path,
    read: impl FnOnce(&object::File<'_, &ReadCache<File>>) -> Result<T, E>,
) -> Result<T, E> {
    let file = regular::open(path).map_err(|cause| BinaryError::Io { path: path.to_owned(), cause })?;
    let cache = ReadCache::new(file);
    match object::FileKind::parse(&cache) {
        Ok(object::FileKind::Elf32 | object::FileKind::Elf64) => {}
        _ => return Err(BinaryError::NotElf { path: path.to_owned() }.into()),
    }
    let elf = object::File::parse(&cache).map_err(|e| damaged(path, e))?;
    if elf.kind() == object::ObjectKind::Relocatable {
        return Err(BinaryError::NotLinked { path: path.to_owned() }.into());
    }
    read(&elf)
}

/// Says that an ELF file is damaged.
pub(crate) fn damaged(path: &Path, error: object::Error) -> BinaryError {
    BinaryError::DamagedElf { path: path.to_owned(), reason: error.to_string() }
}

fn index_of(map: &BinaryMap) -> Vec<(u32, u32)> {
    let modules = (0..).zip(&map.program.modules);
    modules.flat_map(|(m, module)| (0..).zip(&module.functions).map(move |(f, _)| (m, f))).collect()
}
