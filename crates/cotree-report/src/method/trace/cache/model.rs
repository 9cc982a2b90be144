//! Two levels of data caches, each of sets that forget what was not used for longest: the model of cachegrind.

/// The form of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheForm {
    /// How many bytes it holds.
    pub bytes: u64,
    /// How many lines a set holds.
    pub ways: u64,
    /// How many bytes a line has.
    pub line: u64,
}

/// The largest cache.
const MOST: u64 = 1 << 32;

impl CacheForm {
    /// A first-level cache of 32 KiB, as most processors have.
    pub const L1: Self = Self { bytes: 32 << 10, ways: 8, line: 64 };
    /// A last-level cache of 8 MiB.
    pub const LAST: Self = Self { bytes: 8 << 20, ways: 16, line: 64 };

    fn sets(self) -> u64 {
        self.bytes / self.line / self.ways
    }
}

impl std::str::FromStr for CacheForm {
    type Err = String;

    /// Reads bytes, ways and bytes of a line, as cachegrind has them: `32768,8,64`, or `32K,8,64`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let (digits, unit) = match text.trim() {
                text if text.ends_with(['K', 'k']) => (&text[..text.len() - 1], 1 << 10),
                text if text.ends_with(['M', 'm']) => (&text[..text.len() - 1], 1 << 20),
                text => (text, 1),
            };
            digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit))
        };
        let numbers: Option<Vec<u64>> = text.split(',').map(number).collect();
        let Some([bytes, ways, line]) = numbers.as_deref() else {
            return Err("a cache is BYTES,WAYS,LINE, as 32K,8,64".into());
        };
        let form = Self { bytes: *bytes, ways: *ways, line: *line };
        let is_sound = form.line.is_power_of_two()
            && form.line >= 16
            && form.ways > 0
            && form.bytes <= MOST
            && form.ways.checked_mul(form.line).is_some_and(|set| set <= form.bytes && form.bytes.is_multiple_of(set));
        match is_sound && form.sets().is_power_of_two() {
            true => Ok(form),
            false => Err("lines have a power of two of bytes, 16 at least, and so many fit that sets of as many ways \
                          are a power of two; 4G is the most"
                .into()),
        }
    }
}

impl std::fmt::Display for CacheForm {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = match self.bytes {
            bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
            bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
            bytes => format!("{bytes} bytes"),
        };
        write!(out, "{size}, {} ways, lines of {} bytes", self.ways, self.line)
    }
}

/// A cache. It begins empty.
#[derive(Clone, Debug)]
pub struct Cache {
    form: CacheForm,
    /// The numbers of lines, set by set, in each the one first that was used last; [`EMPTY`] where there is none.
    lines: Vec<u64>,
}

const EMPTY: u64 = u64::MAX;

impl Cache {
    /// An empty one.
    #[must_use]
    pub fn new(form: CacheForm) -> Self {
        Self { form, lines: vec![EMPTY; (form.bytes / form.line) as usize] }
    }

    /// Uses the lines of some bytes. Says whether all were there; they are now.
    pub fn touch(&mut self, address: u64, length: u64) -> bool {
        let last = address.saturating_add(length.saturating_sub(1)) / self.form.line;
        // All of them are used, whether one is missing or not.
        let missing = (address / self.form.line..=last).filter(|&line| !self.touch_line(line)).count();
        missing == 0
    }

    fn touch_line(&mut self, line: u64) -> bool {
        let (sets, ways) = (self.form.sets(), self.form.ways as usize);
        let start = (line & (sets - 1)) as usize * ways;
        let set = &mut self.lines[start..start + ways];
        let found = set.iter().position(|&known| known == line);
        set[..=found.unwrap_or(ways - 1)].rotate_right(1);
        set[0] = line;
        found.is_some()
    }
}

/// How far an access had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// To the first cache.
    First,
    /// To the last cache.
    Last,
    /// To memory.
    Memory,
}

/// The caches of one thread.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    first: Cache,
    last: Cache,
}

/// The most that one access of a processor reads or writes: what is longer is many.
const WIDEST: u64 = 64;

impl Hierarchy {
    /// Empty caches.
    #[must_use]
    pub fn new(first: CacheForm, last: CacheForm) -> Self {
        Self { first: Cache::new(first), last: Cache::new(last) }
    }

    /// Accesses memory, in pieces if that is more than a processor does at once: `memcpy` and its like.
    pub fn access(&mut self, address: u64, length: u64, mut tell: impl FnMut(Level)) {
        let (mut at, end) = (address, address.saturating_add(length.max(1)));
        while at < end {
            let next = if length > WIDEST { (at / WIDEST + 1).saturating_mul(WIDEST).min(end) } else { end };
            let level = match self.first.touch(at, next - at) {
                true => Level::First,
                false if self.last.touch(at, next - at) => Level::Last,
                false => Level::Memory,
            };
            tell(level);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// The model as its definition has it: a list for each set.
    struct Naive {
        form: CacheForm,
        sets: Vec<VecDeque<u64>>,
    }

    impl Naive {
        fn touch(&mut self, address: u64, length: u64) -> bool {
            let mut hit = true;
            for line in address / self.form.line..=(address + length - 1) / self.form.line {
                let count = self.sets.len() as u64;
                let set = &mut self.sets[(line % count) as usize];
                match set.iter().position(|&known| known == line) {
                    Some(at) => drop(set.remove(at)),
                    None => hit = false,
                }
                set.push_front(line);
                set.truncate(self.form.ways as usize);
            }
            hit
        }
    }

    proptest! {
        #[test]
        fn the_model_is_its_definition(
            form in prop::sample::select(vec!["1024,1,16", "1K,2,64", "4096,4,32", "6K,3,64", "512,8,64"]),
            accesses in prop::collection::vec((prop::option::weighted(0.3, 0..8192_u64), 0..100_u64, 1..17_u64), 1..2000),
        ) {
            let form: CacheForm = form.parse().expect("a form");
            let mut naive = Naive { form, sets: vec![VecDeque::new(); form.sets() as usize] };
            let (mut cache, mut last) = (Cache::new(form), 0);
            for (anywhere, near, length) in accesses {
                last = anywhere.unwrap_or((last + near) % 8192);
                prop_assert_eq!(cache.touch(last, length), naive.touch(last, length));
            }
        }
    }

    #[test]
    fn long_accesses_are_many() {
        let mut caches = Hierarchy::new(CacheForm::L1, CacheForm::LAST);
        let mut levels = |address, length| {
            let mut all = Vec::new();
            caches.access(address, length, |level| all.push(level));
            all
        };
        assert_eq!(levels(32, 130), [Level::Memory; 3]);
        assert_eq!(levels(32, 1), [Level::First]);
        // Over the end of a line: one access, which waits for what is not there.
        assert_eq!(levels(188, 8), [Level::Memory]);
        assert_eq!(levels(188, 8), [Level::First]);
        assert_eq!(levels(u64::MAX - 3, 8).len(), 1);
        assert_eq!(levels(5, 0).len(), 1);
        // What the first cache has forgotten the last one knows.
        (0..1024).for_each(|line| drop(levels((1 << 20) | (line * 64), 8)));
        assert_eq!(levels(32, 1), [Level::Last]);
    }

    #[test]
    fn forms_are_cachegrinds() {
        assert_eq!("32768,8,64".parse(), Ok(CacheForm::L1));
        assert_eq!("8M,16,64".parse(), Ok(CacheForm::LAST));
        assert_eq!(CacheForm::L1.to_string(), "32 KiB, 8 ways, lines of 64 bytes");
        for bad in ["", "32K", "32K,8", "32K,8,60", "32K,0,64", "32K,7,64", "100,8,64", "32K,8,8", "99999M,1,64"] {
            assert!(bad.parse::<CacheForm>().is_err(), "{bad}");
        }
    }
}
