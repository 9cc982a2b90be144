//! `cotree ld`: runs a real linker with the plugin loaded.
//!
//! clang and gcc start this as their linker, under the names `ld`, `ld.bfd`, `ld.gold` and `ld.mold`. It is the one
//! place that knows what a link needs besides the user's arguments: the plugin, its options, and the flags that let
//! the runtime stand in front of functions of the C library.

use super::unpack::{Toolkit, driver_option};
use super::{Error, archives, embedded, inputs, response_file, search};
use crate::lines;
use cotree_lto::input;
use cotree_options::{BuildOptions, Profile, plugin_value};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The variable that names the linker: `bfd`, `gold`, `mold` or a path. `cotree cc` sets it from `-fuse-ld=`.
pub const CHOICE: &str = "COTREE_LD";

/// Prefixes of the file names of plugins that would claim our inputs.
const RIVAL: &str = "LLVMgold";
const OURS: &str = "libcotree_lto";

/// Links.
pub fn run(options: &BuildOptions, user: Vec<OsString>) -> Result<ExitCode, Error> {
    let real = real_linker()?;
    let expanded = response_file::expand(&user);
    if !has_input(&expanded) {
        // `-v`, `--help`, or nothing at all. If we added inputs, the linker would link them.
        let mut command = Command::new(real);
        command.args(user);
        return super::run(command);
    }
    let kind = OutputKind::of(&expanded);
    let asked = with_plugin_values(options, &expanded);
    let counts = has_runtime(&asked);
    let expanded = if asked.coverage == Some(true) { without_runtime_of_llvm(expanded) } else { expanded };
    if !inputs::may_have_bitcode(&expanded) {
        if counts && !is_partial(&expanded) {
            lines::note(format_args!(
                "cotree: {} is linked from native code alone, which has no counters, and leaves no profile: compile its \
                 sources with `cotree cc` or `cotree c++`, without -fno-lto",
                output(&expanded)
            ));
        }
        let mut command = Command::new(real);
        command.args(user);
        return super::run(command);
    }
    let toolkit = Toolkit::unpack()?;
    let ours: Vec<OsString> = std::iter::once(driver_option(toolkit.cotree()))
        .chain(options.plugin_option())
        .chain((kind == OutputKind::Static).then(|| "cotree-static".to_owned()))
        .chain(spoken_of(&expanded).map(|name| format!("cotree-foreign={name}")))
        .chain(folders(&expanded).map(|folder| format!("cotree-folder={folder}")))
        .map(|option| format!("-plugin-opt={option}").into())
        .collect();
    let mut arguments = put_in(expanded.clone(), toolkit.plugin(), ours);
    let is_mold = real.to_string_lossy().contains("mold");
    match kind {
        // What nothing stands in front of needs no detour: `--wrap` would make null pointers of weak references.
        _ if !counts => {}
        OutputKind::Dynamic => {
            wrap(&mut arguments, kind, &toolkit, is_mold);
            arguments.extend(exports(is_mold));
        }
        OutputKind::Static => wrap(&mut arguments, kind, &toolkit, is_mold),
        OutputKind::Library => {}
    }
    let mut command = Command::new(real);
    // A long command line came in a response file and has to go on in one.
    let _file = if user.iter().any(|argument| argument.as_bytes().starts_with(b"@")) {
        let file = write_response_file(&arguments)?;
        let mut name = OsString::from("@");
        name.push(file.path());
        command.arg(name);
        Some(file)
    } else {
        command.args(arguments);
        None
    };
    let end = super::run(command)?;
    if end == ExitCode::SUCCESS {
        return Ok(end);
    }
    archives::without_index(&expanded).map_or(Ok(end), |archive| Err(Error::Archive { archive }))
}

/// The options with those that are among the plugin's.
fn with_plugin_values(options: &BuildOptions, arguments: &[OsString]) -> BuildOptions {
    let mut asked = options.clone();
    for argument in arguments {
        let option = argument.to_str().and_then(|word| word.trim_start_matches('-').strip_prefix("plugin-opt="));
        if let Some(value) = option.and_then(plugin_value) {
            // The plugin refuses what can't be read.
            let _ = asked.add_plugin_value(value);
        }
    }
    asked
}

/// The symbol by which rustc and clang have LLVM's own runtime of profiles linked.
const RUNTIME_OF_LLVM: &[u8] = b"__llvm_profile_runtime";

/// The arguments without what asks for LLVM's own runtime of profiles, which would write a profile of its own.
fn without_runtime_of_llvm(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let word = argument.as_bytes();
        let joined =
            [&b"-u"[..], b"--undefined="].iter().any(|option| word.strip_prefix(*option) == Some(RUNTIME_OF_LLVM));
        let asks = |option: &OsString| matches!(option.as_bytes(), b"-u" | b"--undefined" | b"-undefined");
        if word == RUNTIME_OF_LLVM && kept.last().is_some_and(asks) {
            kept.pop();
        } else if !joined {
            kept.push(argument);
        }
    }
    kept
}

/// Does the link get a runtime, if there is something to count in it?
fn has_runtime(asked: &BuildOptions) -> bool {
    let method = asked.profile.map(|Profile(method, _)| method).unwrap_or_default();
    !method.is_none() && asked.use_profile.is_none()
}

/// Is it an object that is linked?
fn is_partial(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| matches!(argument.as_bytes(), b"-r" | b"--relocatable" | b"-i"))
}

/// What is linked, for people.
fn output(arguments: &[OsString]) -> String {
    let words = arguments.iter().zip(arguments.iter().skip(1));
    let name = words.filter(|(option, _)| *option == "-o" || *option == "--output").map(|(_, name)| name).next_back();
    name.map_or_else(|| "a.out".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Is there anything to link? A word after an option that is not known to take a value counts as an input: a link that
/// the linker would refuse anyway does less harm than a link without the plugin.
fn has_input(arguments: &[OsString]) -> bool {
    let mut rest = arguments.iter().map(|argument| argument.as_bytes());
    while let Some(argument) = rest.next() {
        let (long, name) = match argument {
            [b'-', b'-', name @ ..] => (true, name),
            [b'-', name @ ..] if !name.is_empty() => (false, name),
            // A file, or `-` for standard input. The linker complains about `@` files that can't be read.
            _ => return true,
        };
        let name = &name[..name.iter().position(|&byte| byte == b'=').unwrap_or(name.len())];
        // Scripts may name inputs.
        let script = name.starts_with(b"T") && !PLACES.iter().any(|place| name.starts_with(place));
        let library = !long && name.starts_with(b"l") && !name.starts_with(b"library-path");
        if library || script || matches!(name, b"library" | b"script" | b"c" | b"mri-script") {
            return true;
        }
        if TAKES_A_WORD.contains(&name) && !argument.contains(&b'=') {
            rest.next();
        }
    }
    false
}

/// Options that begin like the one for scripts but mean something else.
const PLACES: [&[u8]; 5] = [b"Tbss", b"Tdata", b"Ttext", b"Trodata", b"Tldata"];

/// Options, without dashes, whose value may be the next word.
#[rustfmt::skip]
const TAKES_A_WORD: [&[u8]; 62] = [
    b"A", b"F", b"G", b"I", b"L", b"Map", b"P", b"R", b"Tbss", b"Tdata", b"Tldata-segment", b"Trodata-segment",
    b"Ttext", b"Ttext-segment", b"Y", b"a", b"architecture", b"assert", b"auxiliary", b"b", b"defsym",
    b"dependency-file", b"dynamic-linker", b"dynamic-list", b"e", b"entry", b"error-handling-script", b"exclude-libs",
    b"export-dynamic-symbol", b"export-dynamic-symbol-list", b"f", b"filter", b"fini", b"format", b"gpsize", b"h",
    b"init", b"just-symbols", b"library-path", b"m", b"o", b"oformat", b"out-implib", b"output", b"plugin",
    b"plugin-opt", b"require-defined", b"retain-symbols-file", b"rpath", b"rpath-link", b"section-start", b"soname",
    b"sort-section", b"spare-dynamic-tags", b"task-link", b"trace-symbol", b"u", b"undefined", b"version-script",
    b"wrap", b"y", b"z",
];

/// Functions that options name as entry points, or replace by others. Linkers don't report all of these to the plugin.
fn spoken_of(arguments: &[OsString]) -> impl Iterator<Item = String> {
    let words = arguments.iter().map(|argument| argument.as_bytes());
    let next = words.clone().skip(1).chain(std::iter::once(&b""[..]));
    let value = |(word, next): (&[u8], &[u8])| {
        let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-"))?;
        let (option, value) = match name.iter().position(|&byte| byte == b'=') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (name, next),
        };
        let speaks = matches!(option, b"init" | b"fini" | b"wrap" | b"defsym" | b"e" | b"entry");
        // `--defsym NAME=EXPRESSION`: any word of it.
        speaks.then(|| String::from_utf8_lossy(value).into_owned())
    };
    let symbol = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let values: Vec<String> = words.zip(next).filter_map(value).collect();
    let names = values.iter().flat_map(|value| value.split(|c| !symbol(c))).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The folders in which options have libraries looked for.
fn folders(arguments: &[OsString]) -> impl Iterator<Item = String> {
    let mut folders = Vec::new();
    let mut rest = arguments.iter().map(|argument| argument.as_bytes()).peekable();
    while let Some(word) = rest.next() {
        let Some(option) = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-")) else { continue };
        let named = [&b"rpath-link"[..], b"rpath", b"library-path"].iter().find_map(|name| option.strip_prefix(*name));
        let value = match named.or_else(|| option.strip_prefix(b"L")) {
            Some([]) => rest.peek().copied().unwrap_or_default(),
            Some(value) => value.strip_prefix(b"=").unwrap_or(value),
            None => continue,
        };
        folders.extend(value.split(|&byte| byte == b':').filter(|folder| !folder.is_empty()).map(<[u8]>::to_owned));
    }
    folders.into_iter().map(|folder| String::from_utf8_lossy(&folder).into_owned())
}

/// The kind of output, which decides how the runtime gets in front of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    /// An executable with a dynamic linker: the first definition of a name wins, if the executable shows it.
    Dynamic,
    /// An executable without one: the linker has to redirect references with `--wrap`.
    Static,
    /// A shared library, or an object: the executable takes care of it.
    Library,
}

impl OutputKind {
    fn of(arguments: &[OsString]) -> OutputKind {
        let library = [&b"-shared"[..], b"--shared", b"-Bshareable", b"-r", b"--relocatable", b"-i"];
        if arguments.iter().any(|argument| library.contains(&argument.as_bytes())) {
            OutputKind::Library
        } else if input::links_statically(arguments.iter().map(|argument| argument.as_bytes())) {
            OutputKind::Static
        } else {
            OutputKind::Dynamic
        }
    }
}

/// Exports the runtime's functions, so that shared libraries that are loaded later find them before those of the C
/// library. Without a runtime there is nothing to export.
fn exports(is_mold: bool) -> impl Iterator<Item = OsString> {
    // mold warns about names without a match, unless they are patterns.
    let pattern = move |name: &str| match name.char_indices().next_back() {
        Some((last, letter)) if is_mold => format!("{}[{letter}]", &name[..last]),
        _ => name.to_owned(),
    };
    let shown = embedded::DYNAMIC_EXPORTS.lines().filter(|name| !name.starts_with(WRAP));
    shown.map(move |name| format!("--export-dynamic-symbol={}", pattern(name)).into())
}

/// `--wrap=X` turns references to X into references to this prefix and X.
const WRAP: &str = "__wrap_";

/// Redirects references to functions of the C library to the runtime, or back to the C library if there is no runtime.
fn wrap(arguments: &mut Vec<OsString>, kind: OutputKind, toolkit: &Toolkit, is_mold: bool) {
    let is_static = kind == OutputKind::Static;
    let exports = if is_static { embedded::STATIC_EXPORTS } else { embedded::DYNAMIC_EXPORTS };
    let has_libc = arguments.iter().any(|argument| argument == "-lc");
    place(arguments, exports, &toolkit.passthrough(), is_static);
    if is_mold && has_libc {
        // mold prefers a strong definition in an archive to a weak one, whatever their order.
        let forced = ["--whole-archive".into(), toolkit.passthrough_threads().into(), "--no-whole-archive".into()];
        arguments.extend::<[OsString; 3]>(forced);
    }
}

fn place(arguments: &mut Vec<OsString>, exports: &str, passthrough: &Path, is_static: bool) {
    let wrapped: Vec<_> = exports.lines().filter_map(|name| name.strip_prefix(WRAP)).collect();
    if wrapped.is_empty() {
        return;
    }
    // The archive has to come before libgcc, which has a `__wrap_pthread_create` of its own (for -fsplit-stack), and be
    // searched again with the C library: each refers to the other.
    let system = [&b"-lgcc"[..], b"-lgcc_eh", b"-lgcc_s", b"-lc"];
    let is_system = |argument: &OsString| system.contains(&argument.as_bytes());
    let is_group = |argument: &OsString| argument == "--start-group" || argument == "-(";
    let first = arguments.iter().position(is_system).unwrap_or(arguments.len());
    let grouped = arguments[..first].iter().rposition(is_group).is_some_and(|start| {
        !arguments[start..first].iter().any(|argument| argument == "--end-group" || argument == "-)")
    });
    if grouped {
        arguments.insert(first, passthrough.into());
    } else {
        let has_libc = arguments.iter().any(|argument| argument == "-lc");
        arguments.insert(first, passthrough.into());
        let libc = has_libc.then(|| "-lc".into());
        if is_static {
            // rustc ends with -Bdynamic, by which this would be the shared library.
            arguments.push("-Bstatic".into());
        }
        arguments.extend(["--start-group".into(), passthrough.into()].into_iter().chain(libc));
        arguments.push("--end-group".into());
    }
    arguments.extend(wrapped.iter().map(|name| format!("--wrap={name}").into()));
}

/// The linker to run: named by the name that we were started by, else by the environment, else GNU ld.
fn real_linker() -> Result<PathBuf, Error> {
    let own_name = std::env::args_os().next().unwrap_or_default();
    let flavour = Path::new(&own_name).file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix("ld."));
    let choice = flavour.map(OsString::from).or_else(|| std::env::var_os(CHOICE)).unwrap_or_default();
    let names: Vec<OsString> = match choice.to_str() {
        Some("" | "bfd") => vec!["ld.bfd".into(), "ld".into()],
        Some("gold") => vec!["ld.gold".into(), "gold".into()],
        Some("mold") => vec!["ld.mold".into(), "mold".into()],
        _ => vec![choice],
    };
    let names_lld =
        |name: &OsString| name.to_string_lossy().rsplit('/').next().is_some_and(|name| name.contains("lld"));
    if names.iter().any(names_lld) {
        return Err(Error::Lld);
    }
    names.iter().find_map(search::in_path).ok_or_else(|| Error::Missing {
        tool: names[0].to_string_lossy().into_owned(),
        remedy: "install GNU binutils, or link with another of ld.bfd, gold and mold by -fuse-ld=".into(),
    })
}

/// Puts our plugin in the place of LLVM's, so that the options after that become ours; without one, puts it in front.
fn put_in(arguments: Vec<OsString>, plugin: PathBuf, options: Vec<OsString>) -> Vec<OsString> {
    let file_name = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_owned();
    let mut result = Vec::with_capacity(arguments.len() + options.len() + 2);
    let mut present = false;
    let mut rest = arguments.into_iter().peekable();
    while let Some(argument) = rest.next() {
        let bytes = argument.as_bytes();
        let joined = bytes.strip_prefix(b"-plugin=").or_else(|| bytes.strip_prefix(b"--plugin="));
        let separate = matches!(bytes, b"-plugin" | b"--plugin");
        let path = if separate { rest.peek().map(|path| path.as_bytes()) } else { joined };
        let name = path.map(file_name).unwrap_or_default();
        present |= name.starts_with(OURS.as_bytes());
        if !name.starts_with(RIVAL.as_bytes()) {
            result.push(argument);
            continue;
        }
        if separate {
            rest.next();
        }
        if !present {
            present = true;
            result.extend(["-plugin".into(), plugin.clone().into()]);
            result.extend(options.iter().cloned());
        }
    }
    if !present {
        let front = [OsString::from("-plugin"), plugin.into()].into_iter().chain(options);
        result.splice(0..0, front);
    }
    result
}

fn write_response_file(arguments: &[OsString]) -> Result<tempfile::NamedTempFile, Error> {
    let mut text = Vec::new();
    for argument in arguments {
        // A backslash before every byte that could mean something; empty arguments need quotes.
        if argument.is_empty() {
            text.extend(b"\"\"");
        }
        for &byte in argument.as_bytes() {
            if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'\n');
    }
    let fail = |error| Error::File { verb: "write a file in", path: std::env::temp_dir(), error };
    let mut file = tempfile::Builder::new().prefix("cotree-ld-").tempfile().map_err(fail)?;
    file.write_all(&text).map_err(fail)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passthrough_comes_before_libgcc_and_with_libc() {
        let wrapped = |line: &str| {
            let mut arguments = line.split(' ').map(OsString::from).collect();
            place(&mut arguments, "cotree_dump\n__wrap_abort\n", Path::new("p.a"), line.starts_with("-static"));
            arguments.join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            wrapped("--start-group x.a --end-group a.o --start-group -lgcc -lc --end-group"),
            "--start-group x.a --end-group a.o --start-group p.a -lgcc -lc --end-group --wrap=abort"
        );
        assert_eq!(
            wrapped("a.o -lgcc_eh -lgcc -lc"),
            "a.o p.a -lgcc_eh -lgcc -lc --start-group p.a -lc --end-group --wrap=abort"
        );
        assert_eq!(
            wrapped("-static -Bstatic -lc -Bdynamic"),
            "-static -Bstatic p.a -lc -Bdynamic -Bstatic --start-group p.a -lc --end-group --wrap=abort"
        );
        assert_eq!(wrapped("a.o"), "a.o p.a --start-group p.a --end-group --wrap=abort");
    }

    #[test]
    fn links_without_counters_get_no_runtime() {
        use cotree_core::method::Method;
        use cotree_options::Detail;
        let of = |method| BuildOptions { profile: Some(Profile(method, Detail::None)), ..BuildOptions::default() };
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(has_runtime(&with_plugin_values(&BuildOptions::default(), &words("a.o"))));
        assert!(
            !has_runtime(&with_plugin_values(&of(Method::None), &words("a.o")))
                && has_runtime(&with_plugin_values(&of(Method::Path), &words("a.o")))
        );
        assert!(!has_runtime(&with_plugin_values(
            &of(Method::Path),
            &words(r#"-plugin-opt=cotree-options={"profile":"none"} a.o"#)
        )));
        assert!(!has_runtime(&with_plugin_values(
            &BuildOptions::default(),
            &words(r#"--plugin-opt=cotree-options={"use":"x"} a.o"#)
        )));
        assert_eq!(output(&words("-o x a.o -o y")), "y");
    }

    #[test]
    fn questions_are_no_links() {
        let asks = |line: &str| !has_input(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        assert!(asks(""));
        assert!(asks("-v"));
        assert!(asks("--version -m elf_x86_64 -L /lib -o out -plugin /p/LLVMgold.so -plugin-opt=x -Ttext 0"));
        assert!(asks("--ld-generated-unwind-info --library-path /lib --soname=x"));
        assert!(!asks("-v a.o"));
        assert!(!asks("-v -lc"));
        assert!(!asks("--library=c"));
        assert!(!asks("-T link.ld"));
        assert!(!asks("-o out -"));
    }

    #[test]
    fn functions_that_options_speak_of() {
        let line = "-init start -fini=end --wrap=open --wrap close --defsym=a=b+4 -o e x.o -e main --entry";
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let names: Vec<String> = spoken_of(&arguments).collect();
        assert_eq!(names, ["start", "end", "open", "close", "a", "b", "4", "main"]);
    }

    #[test]
    fn folders_of_libraries() {
        let line = "-L/a -L b -rpath /c:/d --rpath-link=/e --library-path=f -o L x.o -Bstatic";
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        assert_eq!(folders(&arguments).collect::<Vec<_>>(), ["/a", "b", "/c", "/d", "/e", "f"]);
    }

    #[test]
    fn kinds_of_links() {
        let kind = |line: &str| OutputKind::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(kind("-static -o a a.o"), OutputKind::Static);
        assert_eq!(kind("-static -pie --no-dynamic-linker a.o"), OutputKind::Static);
        assert_eq!(kind("-dynamic-linker /lib/ld.so -Bstatic a.o"), OutputKind::Dynamic);
        assert_eq!(kind("-shared a.o"), OutputKind::Library);
        assert_eq!(kind("a.o"), OutputKind::Dynamic);
    }

    fn put(line: &str) -> String {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        let result = put_in(arguments, "/p/libcotree_lto.so".into(), vec!["-plugin-opt=x".into()]);
        result.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn the_rival_makes_place() {
        assert_eq!(
            put("-o a -plugin /usr/lib/LLVMgold.so -plugin-opt=O2 a.o"),
            "-o a -plugin /p/libcotree_lto.so -plugin-opt=x -plugin-opt=O2 a.o"
        );
        assert_eq!(put("--plugin=/LLVMgold-22.so a.o"), "-plugin /p/libcotree_lto.so -plugin-opt=x a.o");
    }

    #[test]
    fn other_plugins_stay() {
        assert_eq!(
            put("-plugin /gcc/liblto_plugin.so -plugin-opt=y a.o"),
            "-plugin /p/libcotree_lto.so -plugin-opt=x -plugin /gcc/liblto_plugin.so -plugin-opt=y a.o"
        );
    }

    #[test]
    fn once_is_enough() {
        let line = "-plugin=/elsewhere/libcotree_lto.so -plugin-opt=z a.o";
        assert_eq!(put(line), line);
    }

    #[test]
    fn response_files_survive_the_round_trip() {
        let arguments: Vec<OsString> = ["-o", "a b", "", "c\\d\"e'"].map(OsString::from).to_vec();
        let file = write_response_file(&arguments).unwrap();
        let mut name = OsString::from("@");
        name.push(file.path());
        assert_eq!(response_file::expand(&[name]), arguments);
    }

    #[test]
    fn the_runtime_of_llvm_is_not_linked() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let all =
            "-o p -u __llvm_profile_runtime a.o --undefined=__llvm_profile_runtime -u other -u__llvm_profile_runtime";
        assert_eq!(without_runtime_of_llvm(words(all)), words("-o p a.o -u other"));
    }
}
