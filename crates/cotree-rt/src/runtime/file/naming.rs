//! Expands the pattern of `COTREE_FILE` to the name of the profile file. The rules are in [`crate::layout`].

use crate::runtime::os::say::decimal;
use crate::runtime::os::sys;
use crate::runtime::unit;
use core::ffi::CStr;

/// Longest path, with its NUL.
pub const PATH: usize = 4096;

/// A text under construction; always followed by a NUL.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
    too_long: bool,
}

/// A path.
pub type Path = Text<PATH>;

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Self { bytes: [0; N], len: 0, too_long: false }
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.bytes[0] = 0;
        self.too_long = false;
    }

    pub fn push(&mut self, more: &[u8]) {
        if self.len + more.len() < N {
            self.bytes[self.len..self.len + more.len()].copy_from_slice(more);
            self.len += more.len();
            self.bytes[self.len] = 0;
        } else {
            self.too_long = true;
        }
    }

    /// Puts what `push_text` pushes before a final `.cotree`, or at the end.
    fn insert_before_extension(&mut self, push_text: impl FnOnce(&mut Self)) {
        const EXTENSION: &[u8] = b".cotree";
        let extension = self.bytes().ends_with(EXTENSION);
        if extension {
            self.len -= EXTENSION.len();
        }
        self.push(b".");
        push_text(self);
        if extension {
            self.push(EXTENSION);
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// As a C string; None if it did not fit or has a NUL inside.
    pub fn c_str(&self) -> Option<&CStr> {
        if self.too_long { None } else { CStr::from_bytes_with_nul(&self.bytes[..=self.len]).ok() }
    }

    /// Makes the folders above.
    pub fn make_parents(&mut self) {
        for at in 1..self.len {
            if self.bytes[at] == b'/' {
                self.bytes[at] = 0;
                if let Ok(parent) = CStr::from_bytes_until_nul(&self.bytes) {
                    let _ = sys::mkdir(parent);
                }
                self.bytes[at] = b'/';
            }
        }
    }
}

/// Where profiles go: an absolute folder, taken as it is, and the pattern below it.
pub struct NamePattern {
    folder: Path,
    pattern: Path,
}

/// What distinguishes one file of a pattern.
pub struct Facts {
    /// The process.
    pub process: i32,
    /// 1, or higher if the names before were taken.
    pub attempt: u64,
    /// How many profiles of this very process have the names before, where processes are not told apart.
    pub earlier: u64,
    /// Whether the process was forked from one that has a profile.
    pub child: bool,
    /// Which of the pools; none for the process's own file.
    pub pool: Option<u8>,
}

impl NamePattern {
    pub const fn new() -> Self {
        Self { folder: Path::new(), pattern: Path::new() }
    }

    /// The pattern as given; relative ones are below the current directory of now.
    pub fn set(&mut self, pattern: &[u8]) {
        self.folder.clear();
        self.pattern.clear();
        if pattern.first() != Some(&b'/') {
            let mut folder = [0; PATH];
            // Without a nameable current directory the path stays relative, which is right until the program moves.
            if let Ok(len) = sys::current_directory(&mut folder) {
                self.folder.push(&folder[..len]);
                self.folder.push(b"/");
            }
        }
        self.pattern.push(pattern);
    }

    /// Whether the name of each process is its own.
    pub fn has_name_per_process(&self, facts: &Facts) -> bool {
        facts.child || conversions(self.pattern.bytes()).any(|c| c == b'p') || self.pools().is_some()
    }

    /// How many pools there are, if any.
    pub fn pools(&self) -> Option<u8> {
        conversions(self.pattern.bytes()).find(|found| matches!(found, b'1'..=b'9')).map(|digit| digit - b'0')
    }

    /// The final name and the name while running.
    pub fn expand(&self, facts: &Facts, name: &mut Path, live: &mut Path) {
        let mut digits = [0; 20];
        let mut process = Text::<48>::new();
        process.push(decimal(facts.process as u64, &mut digits));
        if facts.attempt > 1 {
            process.push(b"-");
            process.push(decimal(facts.attempt, &mut digits));
        }
        name.clear();
        name.push(self.folder.bytes());
        let pattern = self.pattern.bytes();
        let mut rest = pattern.iter();
        while let Some(&byte) = rest.next() {
            if byte != b'%' {
                name.push(&[byte]);
                continue;
            }
            match rest.next() {
                Some(b'1'..=b'9') if rest.as_slice().first() == Some(&b'm') => {
                    rest.next();
                    push_unit_id(name);
                    name.push(if facts.pool.is_some() { b"_" } else { b"." });
                    match facts.pool {
                        Some(pool) => name.push(&[b'0' + pool]),
                        None => name.push(process.bytes()),
                    }
                }
                Some(b'p') => name.push(process.bytes()),
                Some(b'h') => push_host(name),
                Some(b'm') => push_unit_id(name),
                Some(b'n') => push_unit_name(name),
                Some(b'%') | None => name.push(b"%"),
                Some(&other) => name.push(&[b'%', other]),
            }
        }
        let has = |wanted: u8| conversions(pattern).any(|c| c == wanted);
        let pools = self.pools().is_some();
        if unit::descriptor().executable == 0 && !has(b'n') && !has(b'm') && !pools {
            name.insert_before_extension(push_unit_name);
        }
        if facts.child && !has(b'p') && !pools {
            name.insert_before_extension(|name| name.push(process.bytes()));
        }
        if facts.earlier > 0 {
            name.insert_before_extension(|name| name.push(decimal(facts.earlier + 1, &mut digits)));
        }
        live.clear();
        live.push(name.bytes());
        live.push(b".");
        live.push(process.bytes());
        live.push(b".live");
        live.too_long |= name.too_long || self.folder.too_long || self.pattern.too_long;
    }
}

/// The characters that stand for something; of `%4m` the digit.
fn conversions(pattern: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = pattern.iter();
    core::iter::from_fn(move || {
        loop {
            rest.find(|&&byte| byte == b'%')?;
            match *rest.next()? {
                b'1'..=b'9' if rest.as_slice().first() != Some(&b'm') => {}
                found => return Some(found),
            }
        }
    })
}

fn push_host(name: &mut Path) {
    let mut host = [0; 65];
    let len = sys::host_name(&mut host);
    name.push(&host[..len]);
}

fn push_unit_id(name: &mut Path) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in unit::descriptor().id {
        name.push(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

fn push_unit_name(name: &mut Path) {
    // SAFETY: the descriptor's name is NUL-terminated.
    let text = unsafe { CStr::from_ptr(unit::descriptor().name) }.to_bytes();
    for &byte in without_hash(text) {
        name.push(&[if byte == b'/' { b'_' } else { byte }]);
    }
}

/// Cargo links `deps/NAME-HASH` and then gives the file the name NAME too. What runs by that name is called so; tests,
/// which have no other name, keep their hash, since it tells those of one name apart.
fn without_hash(linked: &[u8]) -> &[u8] {
    const HASH: usize = 16;
    let Some(end) = linked.len().checked_sub(HASH + 1) else { return linked };
    let (name, hash) = linked.split_at(end);
    let is_hash = hash[0] == b'-' && hash[1..].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hash || unit::descriptor().executable == 0 {
        return linked;
    }
    let mut path = [0; 1024];
    let length = sys::read_link(c"/proc/self/exe", &mut path).unwrap_or(0);
    let runs_as = path[..length].rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if runs_as == name { name } else { linked }
}
