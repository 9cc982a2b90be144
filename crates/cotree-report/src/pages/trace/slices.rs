//! Activations for timelines, at several resolutions.
//!
//! At each resolution an activation that lasts as long as the resolution, or longer, is a slice of its own. Shorter
//! ones of the same depth are one slice as long as no gap between them is wider than the resolution. Each resolution
//! is [`COARSER`] times as coarse as the one before, and is made of the slices of that one. Its slices are written in
//! tiles of [`TILE`] times the resolution: so a timeline as wide as a screen needs a few tiles, however long the trace
//! is.

use crate::pages::data::{Add, script};
use cotree_core::ids::FunctionId;
use serde::Serialize;
use std::io;

/// The finest resolution, in instructions. Finer timelines are drawn from steps.
pub(super) const FINEST: u64 = 1 << 10;
/// How much coarser each further resolution is.
pub(super) const COARSER: u64 = 4;
/// How many times its resolution a tile spans.
pub(super) const TILE: u64 = 4096;
/// More resolutions than any clock needs: the last tile spans 2^62 instructions.
const LEVELS: u32 = 21;
/// Deeper activations are not shown.
pub(super) const DEEPEST: usize = 1000;

/// One activation, or several that are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    depth: usize,
    start: u64,
    end: u64,
    /// The function, of several activations that of the longest.
    function: FunctionId,
    longest: u64,
    /// How many activations it is.
    count: u64,
}

/// Slices of one tile, a list per property.
#[derive(Debug, Default, Serialize)]
struct Tile {
    depth: Vec<usize>,
    /// When it begins, from the beginning of the tile; before that if negative.
    start: Vec<i64>,
    /// How long it lasts; `None` if it goes on behind the tile.
    length: Vec<Option<u64>>,
    function: Vec<u32>,
    count: Vec<u64>,
}

impl Tile {
    fn push(&mut self, from: u64, slice: Slice, goes_on: bool) {
        self.depth.push(slice.depth);
        self.start.push(slice.start as i64 - from as i64);
        self.length.push((!goes_on).then_some(slice.end - slice.start));
        self.function.push(slice.function.0);
        self.count.push(slice.count);
    }
}

/// A resolution.
#[derive(Debug)]
struct Level {
    resolution: u64,
    /// The number of the tile that is being made.
    number: u64,
    tile: Tile,
    /// By depth: short activations that are shown as one so far.
    short: Vec<Option<Slice>>,
}

impl Level {
    fn span(&self) -> u64 {
        self.resolution * TILE
    }

    fn from(&self) -> u64 {
        self.number * self.span()
    }
}

/// A resolution, as the page knows it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct LevelData {
    resolution: u64,
    tiles: u64,
}

/// Makes the slices of a part.
pub(super) struct Slices {
    part: usize,
    levels: Vec<Level>,
    /// Functions and beginnings of activations under way, outermost first.
    stack: Vec<(FunctionId, u64)>,
    deeper: bool,
    /// Where the next tile of the finest resolution begins.
    next: u64,
}

impl Slices {
    pub(super) fn new(part: usize) -> Self {
        let level = |level| Level {
            resolution: FINEST * COARSER.pow(level),
            number: 0,
            tile: Tile::default(),
            short: Vec::new(),
        };
        Self { part, levels: (0..LEVELS).map(level).collect(), stack: Vec::new(), deeper: false, next: FINEST * TILE }
    }

    /// Were activations deeper than is shown?
    pub(super) fn deeper(&self) -> bool {
        self.deeper
    }

    /// The clock comes to `now`: tiles before that are written.
    pub(super) fn advance(&mut self, now: u64, add: &mut Add<'_>) -> io::Result<()> {
        while now >= self.next {
            for level in 0..self.levels.len() {
                if self.next < self.levels[level].from() + self.levels[level].span() {
                    break;
                }
                self.finish_tile(level);
                let from = self.levels[level].from();
                for (depth, &(function, start)) in self.stack.iter().enumerate().take(DEEPEST) {
                    let level = &mut self.levels[level];
                    if self.next - start >= level.resolution {
                        let end = self.next;
                        let open = Slice { depth, start, end, function, longest: end - start, count: 1 };
                        level.tile.push(from, open, true);
                    }
                }
                self.write(level, add)?;
            }
            self.next += FINEST * TILE;
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, function: FunctionId, now: u64) {
        self.stack.push((function, now));
        self.deeper |= self.stack.len() > DEEPEST;
    }

    pub(super) fn end(&mut self, now: u64) {
        let Some((function, start)) = self.stack.pop() else { return };
        let depth = self.stack.len();
        if depth < DEEPEST {
            self.add(0, Slice { depth, start, end: now, function, longest: now - start, count: 1 });
        }
    }

    /// Writes what is left. Gives the resolutions up to the one that needs a single tile.
    pub(super) fn finish(mut self, add: &mut Add<'_>) -> io::Result<Vec<LevelData>> {
        let mut written = Vec::new();
        for level in 0..self.levels.len() {
            self.finish_tile(level);
            self.write(level, add)?;
            let Level { resolution, number, .. } = self.levels[level];
            written.push(LevelData { resolution, tiles: number });
            if number == 1 {
                break;
            }
        }
        Ok(written)
    }

    /// Adds a slice of the resolution before, or an activation.
    fn add(&mut self, number: usize, slice: Slice) {
        let Some(level) = self.levels.get_mut(number) else { return };
        if level.short.len() <= slice.depth {
            level.short.resize(slice.depth + 1, None);
        }
        let long = slice.end - slice.start >= level.resolution;
        let short = &mut level.short[slice.depth];
        let closed = match short {
            Some(open) if !long && slice.start.saturating_sub(open.end) <= level.resolution => {
                open.end = slice.end;
                open.count += slice.count;
                if slice.longest > open.longest {
                    (open.function, open.longest) = (slice.function, slice.longest);
                }
                return;
            }
            _ => std::mem::replace(short, (!long).then_some(slice)),
        };
        for slice in closed.into_iter().chain(long.then_some(slice)) {
            let from = self.levels[number].from();
            self.levels[number].tile.push(from, slice, false);
            self.add(number + 1, slice);
        }
    }

    /// Short activations before the end of a tile do not go on behind it.
    fn finish_tile(&mut self, number: usize) {
        for depth in 0..self.levels[number].short.len() {
            if let Some(slice) = self.levels[number].short[depth].take() {
                let from = self.levels[number].from();
                self.levels[number].tile.push(from, slice, false);
                self.add(number + 1, slice);
            }
        }
    }

    fn write(&mut self, number: usize, add: &mut Add<'_>) -> io::Result<()> {
        let level = &mut self.levels[number];
        let tile = std::mem::take(&mut level.tile);
        let name = format!("trace/tiles/{}/{number}/{}", self.part, level.number);
        level.number += 1;
        add(name.clone(), script(&name, &tile)?)
    }
}
