//! Earlier texts of sources, found in git's history by the checksums that builds have recorded.

use cotree_profile::regular;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The changes of history that are looked through.
const CHANGES: &str = "--max-count=5000";

/// Texts by their checksums (MD5).
pub type Texts = HashMap<[u8; 16], Vec<u8>>;

/// Looks for texts: the checksums that are wanted by paths of sources. What is not found is not there.
pub fn find(wanted: &BTreeMap<String, BTreeSet<[u8; 16]>>) -> Texts {
    let mut texts = Texts::new();
    let here = std::env::current_dir().unwrap_or_default();
    let mut by_checkout: BTreeMap<PathBuf, (BTreeSet<PathBuf>, BTreeSet<[u8; 16]>)> = BTreeMap::new();
    for (path, sums) in wanted {
        let path = here.join(path);
        let top = path.ancestors().skip(1).find(|folder| folder.join(".git").exists());
        let Some((top, below)) = top.and_then(|top| Some((top, path.strip_prefix(top).ok()?))) else { continue };
        let (paths, of_checkout) = by_checkout.entry(top.to_owned()).or_default();
        paths.insert(below.to_owned());
        of_checkout.extend(sums);
    }
    for (top, (paths, sums)) in by_checkout {
        // Without git, or its history, no text is found, and the reader is told so.
        if let Ok(found) = find_in(&top, &paths, sums) {
            texts.extend(found);
        }
    }
    texts
}

fn find_in(top: &Path, paths: &BTreeSet<PathBuf>, mut sums: BTreeSet<[u8; 16]>) -> io::Result<Texts> {
    let mut texts = Texts::new();
    let mut git = Command::new("git");
    git.arg("-C").arg(top).args(["--literal-pathspecs", "log", "--all", "-m", "--format=", "--raw", "--no-abbrev"]);
    git.args(["--no-renames", "--no-ext-diff", CHANGES, "--"]).args(paths);
    let mut log = Running::start(&mut git)?;
    let mut contents = Contents::start(top)?;
    let mut seen = BTreeSet::new();
    let mut lines = BufReader::new(log.output()?);
    let mut line = Vec::new();
    while !sums.is_empty() && lines.read_until(b'\n', &mut line)? > 0 {
        // `:MODE MODE BLOB BLOB STATUS<tab>PATH`
        let text = String::from_utf8_lossy(&line).into_owned();
        line.clear();
        for blob in text.split(' ').skip(2).take(2).filter(|blob| blob.bytes().any(|digit| digit != b'0')) {
            if !seen.insert(blob.to_owned()) {
                continue;
            }
            let Some(bytes) = contents.read(blob)? else { continue };
            let sum = md5::compute(&bytes).0;
            if sums.remove(&sum) {
                texts.insert(sum, bytes);
            }
        }
    }
    Ok(texts)
}

/// A process that ends with its reader.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        piped.spawn().map(Self)
    }

    fn output(&mut self) -> io::Result<ChildStdout> {
        self.0.stdout.take().ok_or_else(|| io::Error::other("git has no output"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads objects of git's.
struct Contents {
    _git: Running,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Contents {
    fn start(top: &Path) -> io::Result<Self> {
        let mut git = Command::new("git");
        git.arg("-C").arg(top).args(["cat-file", "--batch"]);
        let piped = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut git = Running(piped.spawn()?);
        let asked = git.0.stdin.take().ok_or_else(|| io::Error::other("git has no input"))?;
        let answers = BufReader::new(git.output()?);
        Ok(Self { _git: git, asked, answers })
    }

    /// The bytes of a blob. `None`: it is not there, as in a partial clone.
    fn read(&mut self, blob: &str) -> io::Result<Option<Vec<u8>>> {
        writeln!(self.asked, "{blob}")?;
        self.asked.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let Some(length) = head.trim().rsplit(' ').next().and_then(|length| length.parse::<u64>().ok()) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        self.answers.by_ref().take(length + 1).read_to_end(&mut bytes)?;
        bytes.pop();
        Ok(Some(bytes))
    }
}

/// The text of a source with this checksum: the file as it is, or one that was found.
pub fn text(texts: &Texts, path: &str, sum: [u8; 16]) -> Option<Vec<u8>> {
    /// Larger files are not taken for sources.
    const LARGEST: u64 = 256 << 20;
    let found = texts.get(&sum).cloned();
    found.or_else(|| regular::read(Path::new(path), LARGEST).ok().filter(|bytes| md5::compute(bytes).0 == sum))
}
