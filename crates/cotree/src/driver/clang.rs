//! `cotree cc` and `cotree c++`: run clang with link-time optimisation and with our linker.
//!
//! clang keeps all decisions. It gets the user's arguments unchanged, then `-flto=thin`, so that it writes bitcode and
//! links as for LTO (its options for a linker plugin, such as the -O level, reach ours), and our linker, which swaps
//! LLVM's plugin for cotree's. What clang does to bitcode for thin LTO is what may come before the counters: it
//! simplifies and inlines. For full LTO it would vectorise and unroll loops as well, and counters in there count a
//! fraction of the turns. Options that a command does not use cause no warnings, and none of them counts as an input.
//! If the user has asked for `-flto` in any form, our link optimises across modules. So `--version`, `-print-…`, `-###`
//! and a command without inputs behave as clang's.
//!
//! Options of cotree may stand among clang's, as `--cotree-NAME`. What decides how a file is compiled has to be there
//! if a compiler's cache such as ccache stands in front of `cotree cc`: it looks at the command line, not at our
//! environment.

use super::unpack::Toolkit;
use super::{Error, KEEP_CODE, linker, mcdc, print_path, response_file, search};
use crate::lines;
use clap::{Args, Command as ClapCommand, FromArgMatches};
use cotree_llvm::{ASKED, Compiled, LINES_FOR_REPORTS, MARK};
use cotree_options::{BuildOptions, environment_variables, shape};
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
    /// `-fsanitize=cfi`, for which thin LTO would need a second module in the same file.
    control_flow_integrity: bool,
    /// `-fwhole-program-vtables`, for which it can do without.
    devirtualises: bool,
    /// The user asks for debug information, or for none.
    debug_info: bool,
    /// `-fuse-ld=` or `--ld-path=`.
    linker: Option<OsString>,
    /// `-print-prog-name=`: build systems look for tools like this, and some of them have to understand bitcode.
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
                b"-fwhole-program-vtables" => wishes.devirtualises = true,
                b"-fno-lto" => (refused, wishes.lto) = (true, false),
                [b'-', b'g', ..] => wishes.debug_info = true,
                _ if bytes.starts_with(b"-fsanitize=") => {
                    let mut kinds = bytes[b"-fsanitize=".len()..].split(|&byte| byte == b',');
                    wishes.control_flow_integrity |= kinds.any(|kind| kind.starts_with(b"cfi"));
                }
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
fn arguments(user: Vec<OsString>, wishes: &Wishes, options: &BuildOptions, toolkit: &Toolkit) -> Vec<OsString> {
    let end = user.iter().position(|argument| argument == "--").unwrap_or(user.len());
    let mut all: Vec<OsString> = Vec::with_capacity(user.len() + 8);
    let quietly = |options: Vec<OsString>| {
        let quiet = |text: &str| std::iter::once(OsString::from(text));
        quiet("--start-no-unused-arguments").chain(options).chain(quiet("--end-no-unused-arguments"))
    };
    // Reports need lines; any -g of the user comes later and wins. Without one, lines are not for the executable, and
    // the link knows them by this note.
    all.extend(quietly(vec!["-gline-tables-only".into(), "-D__COTREE__=1".into()]));
    if !wishes.debug_info {
        let note = ["-Xclang", "-dwarf-debug-flags", "-Xclang", LINES_FOR_REPORTS];
        all.extend(quietly(note.map(OsString::from).to_vec()));
    }
    // `cotree.h`, behind all other folders: the user's own copy wins.
    all.extend(quietly(vec!["-idirafter".into(), toolkit.include().into()]));
    let mut user = user.into_iter();
    all.extend(user.by_ref().take(end));
    let mut ours: Vec<OsString> = Vec::new();
    if !wishes.no_lto {
        ours.extend(compiling(wishes, options).map(OsString::from));
    }
    let mut path = OsString::from("--ld-path=");
    path.push(toolkit.linker());
    ours.push(path);
    all.extend(quietly(ours));
    all.extend(user);
    all
}

/// What has clang write bitcode that is as optimised as counters may find it, and mark it so that the link knows.
fn compiling(wishes: &Wishes, options: &BuildOptions) -> impl Iterator<Item = String> {
    let limits = options.event_limit == Some(true);
    let compiled = match (options.early(), limits) {
        (true, _) => Compiled::Early,
        (false, true) => Compiled::LateWithLimits,
        (false, false) => Compiled::Late,
    };
    // The front end's own, which clang does not hand on to the linker.
    let inside =
        |words: &[&str]| words.iter().flat_map(|&word| ["-Xclang".to_owned(), word.to_owned()]).collect::<Vec<_>>();
    let thin = !options.early() && !wishes.control_flow_integrity;
    let mut all = vec![if thin { "-flto=thin" } else { "-flto=full" }.to_owned()];
    if options.early() {
        all.extend(inside(&["-disable-llvm-passes"]));
        if options.coverage == Some(true) {
            all.extend(inside(&["-fprofile-instrument=clang", "-fcoverage-mapping"]));
            if options.mcdc == Some(true) {
                all.extend(inside(&["-fcoverage-mcdc"]));
            }
        }
    } else {
        if thin && wishes.devirtualises {
            all.push("-fno-split-lto-unit".into());
        }
        if !thin {
            all.extend(["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"].map(str::to_owned));
            all.extend(inside(&["-mllvm", "-force-vector-width=1", "-mllvm", "-force-vector-interleave=1"]));
        }
        for option in KEEP_CODE {
            all.extend(inside(&["-mllvm", option]));
        }
    }
    if limits {
        // A limit may be reached, and its callback throw, in functions that look as if nothing in them could.
        all.extend(["-mllvm".to_owned(), "-disable-nounwind-inference".to_owned()]);
    }
    all.extend(inside(&["-default-function-attr", &format!("{MARK}={}", compiled.name())]));
    // That of `-flto` clang hands on to the link.
    let asked: Vec<_> = options.asked_of_links().into_iter().filter(|name| name != "lto" || !wishes.lto).collect();
    if !asked.is_empty() {
        all.extend(inside(&["-default-function-attr", &format!("{ASKED}={}", asked.join(","))]));
    }
    all.into_iter()
}

/// Takes the options of cotree from among clang's.
fn own_options(options: &BuildOptions, user: Vec<OsString>) -> miette::Result<(BuildOptions, Vec<OsString>)> {
    const OURS: &[u8] = b"--cotree-";
    let end = user.iter().position(|argument| argument == "--").unwrap_or(user.len());
    let (mut own, mut rest) = (vec![OsString::from("cotree cc")], Vec::with_capacity(user.len()));
    for (index, argument) in user.into_iter().enumerate() {
        match argument.as_bytes().strip_prefix(OURS) {
            Some(option) if index < end => own.push(OsStr::from_bytes(&[b"--", option].concat()).to_owned()),
            _ => rest.push(argument),
        }
    }
    let mut options = options.clone();
    if own.len() > 1 {
        let command = shape(BuildOptions::augment_args(ClapCommand::new("cotree cc")));
        let matches = command.try_get_matches_from(&own).unwrap_or_else(|error| error.exit());
        options.update_from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        super::check(&options)?;
    }
    Ok((options, rest))
}

/// An option of ours that stands among clang's, which does not know it.
fn misplaced(user: &[OsString]) -> Option<String> {
    let names = environment_variables();
    let end = user.iter().position(|argument| argument == "--").unwrap_or(user.len());
    user[..end].iter().find_map(|argument| {
        let word = argument.to_str()?.strip_prefix("--")?;
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        names.iter().any(|(option, _)| option == name).then(|| name.to_owned())
    })
}

/// Runs clang, and ends as it ends.
pub fn run(language: Language, options: &BuildOptions, user: Vec<OsString>) -> miette::Result<ExitCode> {
    let (mut options, mut user) = own_options(options, user)?;
    mcdc::take_option(&mut options, &mut user);
    let clang = language.find()?;
    if options.mcdc == Some(true) {
        mcdc::check(&clang)?;
    }
    let toolkit = Toolkit::unpack()?;
    let wishes = Wishes::read(&user);
    if let Some(tool) = wishes.tool.as_deref().and_then(|name| toolkit.lasting_tool(name)) {
        print_path(&tool)?;
        return Ok(ExitCode::SUCCESS);
    }
    options.lto = options.lto.or(wishes.lto.then_some(true));
    let misplaced = misplaced(&user);
    let mut command = Command::new(clang);
    command.args(arguments(user, &wishes, &options, &toolkit)).envs(options.environment());
    if let Some(linker) = wishes.linker {
        command.env(linker::CHOICE, linker);
    }
    let ended = super::run(command)?;
    if let Some(option) = misplaced.filter(|_| ended != ExitCode::SUCCESS) {
        lines::note(format_args!(
            "cotree: help: --{option} stands before cc and c++, as in `cotree --{option} … cc …`; among clang's options it is --cotree-{option}"
        ));
    }
    Ok(ended)
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

    fn options(words: &str) -> (BuildOptions, Vec<OsString>) {
        let words = words.split(' ').map(OsString::from).collect();
        own_options(&BuildOptions::default(), words).expect("good options")
    }

    #[test]
    fn options_of_ours_stand_among_clangs() {
        let (own, rest) = options("-O2 --cotree-at=early --cotree-event-limit -c a.c -- --cotree-x");
        assert!(own.early() && own.event_limit == Some(true));
        assert_eq!(rest, ["-O2", "-c", "a.c", "--", "--cotree-x"]);
    }

    #[test]
    fn bitcode_is_neither_vectorised_nor_unrolled() {
        let line = |user: &str, own: &str| compiling(&wishes(user), &options(own).0).collect::<Vec<_>>().join(" ");
        let late = line("-O2 a.c", "a.c");
        assert!(
            late.starts_with("-flto=thin ")
                && late.contains("-unroll-count=1")
                && late.ends_with("cotree-compiled=late")
        );
        assert!(line("-fsanitize=address,cfi-icall a.c", "a.c").starts_with("-flto=full -fno-vectorize"));
        assert!(line("-fsanitize=address a.c", "a.c").starts_with("-flto=thin -Xclang"));
        assert!(line("-fwhole-program-vtables a.c", "a.c").starts_with("-flto=thin -fno-split-lto-unit"));
        let early = line("a.c", "--cotree-at=early a.c");
        assert!(early.contains("-disable-llvm-passes") && early.ends_with("cotree-compiled=early"), "{early}");
        let limits = line("a.c", "--cotree-event-limit a.c");
        assert!(limits.contains("cotree-compiled=late,event-limit") && limits.ends_with("cotree-asked=event-limit"));
        // That of `-flto` is no option of the compilation alone.
        let joined = line("-flto a.c", "--cotree-lto=on --cotree-threads=off a.c");
        assert!(joined.ends_with("cotree-asked=threads"), "{joined}");
    }

    #[test]
    fn the_last_linker_counts() {
        assert_eq!(wishes("-fuse-ld=lld -fuse-ld=gold a.c").linker, Some("gold".into()));
        assert_eq!(wishes("-fuse-ld= a.c").linker, None);
    }
}
