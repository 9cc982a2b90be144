//! What a file is, by its first bytes: an output replaces only what is of its own kind.

use cotree_rt::layout;
use std::path::Path;

/// The kind of what is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Empty,
    /// The profile of one process, or a snapshot of it.
    RawProfile,
    /// A sum of profiles.
    MergedProfile,
    /// Compressed data, as pprof's.
    Gzip,
    /// LLVM's bitcode.
    Bitcode,
    /// An object, a program or a library.
    Elf,
    /// JSON, or a line of JSON first.
    Json,
    /// XML or HTML.
    Markup,
    /// A graph for Graphviz.
    Graph,
    /// A callgrind profile.
    Callgrind,
    /// A tracefile of lcov.
    Lcov,
    /// A timeline in Perfetto's format, as `cotree trace` writes it.
    Perfetto,
    /// Any other text.
    Text,
    /// Any other data.
    Other,
}

impl Content {
    /// As many bytes of a file tell what it is.
    pub(crate) const HEAD: u64 = 1 << 12;

    /// The kind of a file that begins with these bytes.
    #[must_use]
    pub fn of(head: &[u8]) -> Self {
        let begins = |with: &[u8]| head.starts_with(with);
        match head {
            [] => return Self::Empty,
            [0x1F, 0x8B, ..] => return Self::Gzip,
            [b'B', b'C', 0xC0, 0xDE, ..] | [0xDE, 0xC0, 0x17, 0x0B, ..] => return Self::Bitcode,
            [0x7F, b'E', b'L', b'F', ..] => return Self::Elf,
            _ if begins(&layout::MAGIC) => return Self::RawProfile,
            _ if begins(b"COTREEMG") => return Self::MergedProfile,
            _ if is_perfetto(head) => return Self::Perfetto,
            _ => {}
        }
        // The last character may be cut.
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or("")
            }
            Err(_) => return Self::Other,
        };
        match text.trim_start() {
            _ if text.contains('\0') => Self::Other,
            text if text.starts_with(['{', '[']) => Self::Json,
            text if text.starts_with('<') => Self::Markup,
            text if text.starts_with("digraph ") => Self::Graph,
            text if text.starts_with("# callgrind format") => Self::Callgrind,
            text if text.starts_with("TN:") || text.starts_with("SF:") => Self::Lcov,
            _ => Self::Text,
        }
    }

    /// Checks that content of this kind may replace what is in the file of this name.
    pub(crate) fn check_replaces(self, old: Self, path: &Path) -> Result<(), String> {
        /// Names of what people write themselves.
        const SOURCES: [&str; 21] = [
            "S", "asm", "c", "c++", "cc", "cmake", "cpp", "cxx", "h", "h++", "hh", "hpp", "hxx", "inc", "inl", "ll",
            "md", "py", "rs", "s", "sh",
        ];
        let extension = path.extension().and_then(|extension| extension.to_str());
        match old {
            Self::Empty => Ok(()),
            _ if old != self => Err(format!("there is {}, which {} does not replace", old.title(), self.title())),
            Self::Text if extension.is_some_and(|extension| SOURCES.contains(&extension)) => {
                Err("there is a source file, to judge by its name".into())
            }
            Self::Other => Err("there is a file of another kind".into()),
            _ => Ok(()),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Empty => "an empty file",
            Self::RawProfile => "the profile of a run",
            Self::MergedProfile => "a merged profile",
            Self::Gzip => "compressed data",
            Self::Bitcode => "bitcode",
            Self::Elf => "a program, library or object",
            Self::Json => "JSON",
            Self::Markup => "XML or HTML",
            Self::Graph => "a graph",
            Self::Callgrind => "a callgrind profile",
            Self::Lcov => "a tracefile",
            Self::Perfetto => "a Perfetto trace",
            Self::Text => "a text",
            Self::Other => "a file of another kind",
        }
    }
}

/// Perfetto's traces have no mark of their own: the first packet is of a sequence and describes a track.
fn is_perfetto(head: &[u8]) -> bool {
    const PACKET: &[u8] = &[0x0A];
    const SEQUENCE_AND_TRACK: &[u8] = &[0x50, 0x01, 0xE2, 0x03];
    let packet = head.strip_prefix(PACKET).unwrap_or_default();
    // The length is in bytes of seven bits, all but the last of which have the eighth set.
    let length = packet.iter().position(|byte| byte & 0x80 == 0);
    length.is_some_and(|last| packet[last + 1..].starts_with(SEQUENCE_AND_TRACK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_kind_is_replaced() {
        let may =
            |old: &[u8], new: &[u8], name| Content::of(new).check_replaces(Content::of(old), Path::new(name)).is_ok();
        assert!(may(b"", b"COTREEMG", "p.cotree") && may(b"COTREEMG1", b"COTREEMG2", "p.cotree"));
        assert!(!may(&layout::MAGIC, b"COTREEMG", "p.cotree") && !may(b"notes", b"COTREEMG", "p.cotree"));
        assert!(may(b"TN:x\n", b"TN:\nSF:a", "a.info") && !may(b"notes\n", b"TN:\n", "a.info"));
        assert!(may(b"old text", b"new text", "report.txt") && !may(b"int x;", b"new text", "main.c"));
        assert!(!may(b"a\0b", b"text", "x") && !may(b"\xff\xfe", b"text", "x") && may("aä".as_bytes(), b"text", "x"));
        assert!(!may(b"\x7fELF", b"{}", "program") && may(b"[1]", b"{}", "a.json"));
        let [short, long] = [&b"\x0a\x45\x50\x01\xe2\x03"[..], &b"\x0a\x85\x01\x50\x01\xe2\x03"[..]];
        assert!(may(short, long, "a.perfetto") && !may(b"\nnotes", short, "a") && !may(b"\x0a\xff", short, "a"));
    }
}
