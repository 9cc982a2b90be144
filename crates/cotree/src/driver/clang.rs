//! `cotree cc` and `cotree c++`: run clang with link-time optimisation and with our linker.
//!
//! clang keeps all decisions. It gets the user's arguments unchanged, then `-flto`, so that it writes bitcode
//! and links as for LTO (its options for a linker plugin, such as the -O level, reach ours), and our linker, which
//! swaps LLVM's plugin for cotree's. Options that a command does not use cause no warnings, and none of them
//! counts as an input. If the user has asked for `-flto` in any form, our link optimises across modules. So
//! `--version`, `-print-…`, `-###` and a command without inputs behave as clang's.

use super::options::{InstrumentOptions, Lto};
use super::unpack::Toolkit;
use super::{Error, linker, print_path, response_file, search};
use cotree_llvm::LINES_FOR_REPORTS;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Which of the two compilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `clang`
    C,
    /// `clang++`
    Cxx,
}

impl Language {
    fn tool(self) -> &'static str {
        match self {
            Language::C => "clang",
            Language::Cxx => "clang++",
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Language::C => "COTREE_CC",
            Language::Cxx => "COTREE_CXX",
        }
    }

    fn find(self) -> Result<PathBuf, Error> {
        let missing = |tool: &str, remedy: String| Error::Missing { tool: tool.into(), remedy };
        let variable = self.variable();
        let Some(name) = std::env::var_os(variable).filter(|name| !name.is_empty()) else {
            return search::newest(self.tool()).ok_or_else(|| {
                missing(self.tool(), format!("install clang (14 or newer), or name one by {variable}"))
            });
        };
        let tool = name.to_string_lossy().into_owned();
        let path = search::in_path(&name)
            .ok_or_else(|| missing(&tool, format!("{variable} names it: set it to a clang that is installed")))?;
        if is_clang(&path) { Ok(path) } else { Err(Error::NotClang { variable, tool }) }
    }
}

/// Is the compiler clang? Its name may say so, else its `--version` does. A compiler that can't be asked passes: to run
/// it will show what is wrong.
fn is_clang(path: &Path) -> bool {
    let named_so = path.file_name().is_some_and(|name| name.to_string_lossy().contains("clang"));
    let answer = || Command::new(path).arg("--version").stderr(Stdio::null()).output();
    named_so || answer().map_or(true, |answer| String::from_utf8_lossy(&answer.stdout).contains("clang"))
}

/// The parts of a compiler's command line that concern us.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes {
    /// The user wants native code or plain bitcode from this command: `-S`, `-emit-llvm` or `-fno-lto`.
    no_lto: bool,
    /// The user asks for optimisation across modules: `-flto`, in whatever form.
    lto: bool,
    /// The user asks for debug information, or for none.
    debug_info: bool,
    /// `-fuse-ld=` or `--ld-path=`.
    linker: Option<OsString>,
    /// `-print-prog-name=`: build systems look for tools this way, and some of them have to understand bitcode.
    tool: Option<String>,
}

impl Wishes {
    fn read(arguments: &[OsString]) -> Wishes {
        let mut wishes = Wishes::default();
        let (mut textual, mut refused) = (false, false);
        for argument in response_file::expand(arguments) {
            let bytes = argument.as_bytes();
            match bytes {
                b"--" => break,
                b"-S" | b"--assemble" | b"-emit-llvm" => textual = true,
                b"-fno-lto" => (refused, wishes.lto) = (true, false),
                [b'-', b'g', ..] => wishes.debug_info = true,
                _ if bytes == b"-flto" || bytes.starts_with(b"-flto=") => (refused, wishes.lto) = (false, true),
                _ => {
                    let tool = bytes.strip_prefix(b"-").map(|bytes| bytes.strip_prefix(b"-").unwrap_or(bytes));
                    if let Some(tool) = tool.and_then(|bytes| bytes.strip_prefix(b"print-prog-name=")) {
                        wishes.tool = Some(String::from_utf8_lossy(tool).into_owned());
                    }
                    let linker = [&b"-fuse-ld="[..], b"--ld-path="].iter().find_map(|name| bytes.strip_prefix(*name));
                    if let Some(linker) = linker.filter(|linker| !linker.is_empty()) {
                        wishes.linker = Some(OsStr::from_bytes(linker).to_owned());
                    }
                }
            }
        }
        wishes.no_lto = textual || refused;
        wishes
    }
}

/// clang's arguments. Those of ours that the user may override come before the user's, the others after them, and all
/// before a `--`, after which everything is input.
fn arguments(user: Vec<OsString>, wishes: &Wishes, options: &InstrumentOptions, toolkit: &Toolkit) -> Vec<OsString> {
    let end = user.iter().position(|argument| argument == "--").unwrap_or(user.len());
    let mut all: Vec<OsString> = Vec::with_capacity(user.len() + 8);
    let quietly = |options: Vec<OsString>| {
        let quiet = |text: &str| std::iter::once(OsString::from(text));
        quiet("--start-no-unused-arguments").chain(options).chain(quiet("--end-no-unused-arguments"))
    };
    // Reports need lines; any -g of the user comes later and wins. Without one, lines are not for the executable, and the link
    // knows them by this note.
    all.extend(quietly(vec!["-gline-tables-only".into(), "-D__COTREE__=1".into()]));
    if !wishes.debug_info {
        let note = ["-Xclang", "-dwarf-debug-flags", "-Xclang", LINES_FOR_REPORTS];
        all.extend(quietly(note.map(OsString::from).to_vec()));
    }
    let mut user = user.into_iter();
    all.extend(user.by_ref().take(end));
    let mut ours: Vec<OsString> = Vec::new();
    if !wishes.no_lto {
        ours.push("-flto=full".into());
        if options.event_limit == Some(true) {
            // A limit may strike, and what it calls throw, in functions that look as if nothing in them could.
            ours.extend(["-mllvm".into(), "-disable-nounwind-inference".into()]);
        }
        if options.early() {
            ours.extend(["-Xclang".into(), "-disable-llvm-passes".into()]);
        }
    }
    let mut path = OsString::from("--ld-path=");
    path.push(toolkit.linker());
    ours.push(path);
    all.extend(quietly(ours));
    all.extend(user);
    all
}

/// Runs clang, and ends as it ends.
pub fn run(language: Language, options: &InstrumentOptions, user: Vec<OsString>) -> Result<ExitCode, Error> {
    let clang = language.find()?;
    let toolkit = Toolkit::unpack()?;
    let wishes = Wishes::read(&user);
    if let Some(tool) = wishes.tool.as_deref().and_then(|name| toolkit.lasting_tool(name)) {
        print_path(&tool)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut options = options.clone();
    options.lto = options.lto.or(wishes.lto.then_some(Lto::On));
    let mut command = Command::new(clang);
    command.args(arguments(user, &wishes, &options, &toolkit)).envs(options.environment());
    if let Some(linker) = wishes.linker {
        command.env(linker::CHOICE, linker);
    }
    super::run(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(line: &str) -> Wishes {
        Wishes::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn assembly_and_refusals_are_left_alone() {
        assert!(!wishes("-c a.c").no_lto);
        assert!(wishes("-S a.c").no_lto);
        assert!(wishes("-c -emit-llvm a.c").no_lto);
        assert!(wishes("-c -fno-lto a.c").no_lto);
        assert!(!wishes("-fno-lto -flto=thin -c a.c").no_lto);
        assert!(!wishes("-c -- -S").no_lto);
    }

    #[test]
    fn the_last_word_on_modules_counts() {
        let lto =
            ["a.c", "-flto a.c", "-flto=thin a.c", "-flto -fno-lto a.c", "-fno-lto -flto=full a.c", "a.c -- -flto"];
        assert_eq!(lto.map(|line| wishes(line).lto), [false, true, true, false, true, false]);
    }

    #[test]
    fn the_last_linker_counts() {
        assert_eq!(wishes("-fuse-ld=lld -fuse-ld=gold a.c").linker, Some("gold".into()));
        assert_eq!(wishes("-fuse-ld= a.c").linker, None);
    }
}
