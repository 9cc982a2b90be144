//! Random records of functions: regions that overlap, are empty, nest in each other's expansions.

/// Numbers that look random and are always the same.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }

    /// An encoded counter: nothing, one of `counters`, or one of the first `expressions`, all of which are sums.
    /// (Where a difference is negative, llvm-cov shows 2^63 - 1, and we zero.)
    fn counter(&mut self, counters: u64, expressions: u64) -> u64 {
        match self.below(4) {
            0 => 0,
            1 if expressions > 0 => self.below(expressions) << 2 | 3,
            _ => self.below(counters) << 2 | 1,
        }
    }

    /// The record of a function that has so many counters, and whose file is the second of its compilation.
    pub fn record(&mut self, counters: u64) -> Vec<u8> {
        let files = 1 + self.below(4);
        let expressions = self.below(5);
        let mut numbers = vec![files];
        numbers.extend((0..files).map(|_| 1));
        numbers.push(expressions);
        for known in 0..expressions {
            numbers.extend([self.counter(counters, known), self.counter(counters, known)]);
        }
        // A file replaces a region of one before it, or none.
        let replaces: Vec<Option<u64>> =
            (0..files).map(|file| (file > 0 && self.below(6) > 0).then(|| self.below(file))).collect();
        for file in 0..files {
            let mut kinds = vec![vec![self.below(counters) << 2 | 1]];
            for _ in 0..self.below(14) {
                let counter = self.counter(counters, expressions);
                kinds.push(match self.below(8) {
                    0 => vec![2 << 3],
                    1 => vec![4 << 3, counter, self.counter(counters, expressions)],
                    _ => vec![counter],
                });
            }
            for into in (0..files).filter(|&into| replaces[into as usize] == Some(file)) {
                let at = self.below(kinds.len() as u64 + 1) as usize;
                kinds.insert(at, vec![into << 3 | 4]);
            }
            let mut starts: Vec<(u64, u64)> = kinds.iter().map(|_| (1 + self.below(10), 1 + self.below(5))).collect();
            starts.sort_unstable();
            numbers.push(kinds.len() as u64);
            let mut before = 0;
            for (kind, (line, column)) in kinds.into_iter().zip(starts) {
                let is_gap = kind.len() == 1 && kind[0] & 3 != 0 && self.below(5) == 0;
                let lines = self.below(4);
                // Regions without text count on purpose otherwise than in LLVM.
                let end = if lines == 0 { column + 1 + self.below(3) } else { 1 + self.below(6) };
                numbers.extend(kind);
                numbers.extend([line - before, column, lines, end | u64::from(is_gap) << 31]);
                before = line;
            }
        }
        encoded(&numbers)
    }
}

fn encoded(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &number in numbers {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}
