//! The plugin proper: the functions that the linker calls, and the state between these calls.
//!
//! The order of events is that of every LTO plugin: `onload` once; `claim_file` for each input that the linker
//! considers; `all_symbols_read` once all resolutions are known; `cleanup` when the output is written.
//!
//! No lock is held while the linker is called: a fatal message ends the process inside of that call and runs
//! `cleanup` before it ends.

use crate::api::{self, InputFile, Status, TransferValue, level, output, resolution, tag};
use crate::input::{self, Input};
use crate::libraries;
use crate::protocol::{LinkRequest, ModuleInput, NativeInput, OutputKind, Resolution, SymbolInput};
use crate::symtab::{Symbol, SymbolKind, Table, Unusable, Visibility};
use crate::worker::{Driver, Failure, KEEP_ENV, WorkDir};
use memmap2::{Mmap, MmapOptions};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The option that keeps the folder of a link, with its modules as text.
const KEEP_OPTION: &str = "cotree-keep-temps";

/// The values and functions that the linker passed to `onload`.
#[derive(Clone, Default)]
struct Linker {
    kind: Option<OutputKind>,
    output: PathBuf,
    options: Vec<String>,
    add_symbols: Option<api::AddSymbols>,
    get_symbols: Option<(api::GetSymbols, GetSymbolsVersion)>,
    add_input_file: Option<api::AddInputFile>,
    message: Option<api::Message>,
    get_wrap_symbols: Option<api::GetWrapSymbols>,
}

/// The version of `get_symbols`, in ascending order: later ones give more detail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GetSymbolsVersion {
    V1,
    V2,
    V3,
}

/// A bitcode file that is ours.
struct Claimed {
    handle: Handle,
    input: ModuleInput,
    table: Table,
    c_symbols: CSymbols,
}

/// The linker's name for a file.
#[derive(Clone, Copy)]
struct Handle(*mut c_void);

// SAFETY: we only hand it back to the linker, which allows that from any thread (`LAPI_V1`).
unsafe impl Send for Handle {}

/// Symbols as the linker wants them, and the strings that they point to. Linkers keep the pointers: the arrays stay in
/// place until the process ends.
struct CSymbols {
    array: Vec<api::Symbol>,
    _strings: Vec<CString>,
}

// SAFETY: the pointers inside are to `_strings`, which moves along with them and is never changed.
unsafe impl Send for CSymbols {}

#[derive(Default)]
struct State {
    linker: Linker,
    claimed: Vec<Claimed>,
    /// Claimed files whose symbols the linker may still look at.
    retired: Vec<Claimed>,
    native_references: BTreeSet<String>,
    of_sanitizers: BTreeSet<String>,
    natives: BTreeSet<NativeInput>,
    libraries: BTreeSet<PathBuf>,
    seen_native: bool,
    rewritten: usize,
    work_dir: Option<WorkDir>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// A panic in one call must not turn the rest of the link into panics.
fn lock() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_state<T>(f: impl FnOnce(&mut State) -> T) -> T {
    f(lock().get_or_insert_with(State::default))
}

/// The entry point of a linker plugin.
///
/// # Safety
/// `vector` is a transfer vector that ends with `LDPT_NULL`: only a linker calls this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn onload(vector: *const TransferValue) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let linker = unsafe { read_transfer_vector(vector) };
        with_state(|state| state.linker = linker);
        Ok(())
    })
}

/// # Safety
/// As for [`onload`].
unsafe fn read_transfer_vector(vector: *const TransferValue) -> Linker {
    let mut linker = Linker::default();
    let mut get_api_version = None;
    let mut at = vector;
    // SAFETY: entries up to and with the `NULL` one exist, and which union member holds follows from the tag
    // (plugin-api.h). Strings are C strings that live as long as the linker.
    unsafe {
        while (*at).tag != tag::NULL {
            let value = (*at).value;
            match (*at).tag {
                tag::LINKER_OUTPUT => {
                    linker.kind = Some(match value.number {
                        output::REL => OutputKind::Relocatable,
                        output::DYN => OutputKind::Shared,
                        output::PIE => OutputKind::Pie,
                        _ => OutputKind::Executable,
                    });
                }
                tag::OUTPUT_NAME => linker.output = path_of(value.string),
                tag::OPTION => linker.options.push(CStr::from_ptr(value.string).to_string_lossy().into_owned()),
                tag::REGISTER_CLAIM_FILE_HOOK => {
                    (value.register_claim_file)(claim_file);
                }
                tag::REGISTER_ALL_SYMBOLS_READ_HOOK => {
                    (value.register_hook)(all_symbols_read);
                }
                tag::REGISTER_CLEANUP_HOOK => {
                    (value.register_hook)(cleanup);
                }
                // Version 2 has the same signature and reads the symbols' types, which we always fill in.
                tag::ADD_SYMBOLS | tag::ADD_SYMBOLS_V2 => linker.add_symbols = Some(value.add_symbols),
                tag::GET_SYMBOLS => linker.offer(value.get_symbols, GetSymbolsVersion::V1),
                tag::GET_SYMBOLS_V2 => linker.offer(value.get_symbols, GetSymbolsVersion::V2),
                tag::GET_SYMBOLS_V3 => linker.offer(value.get_symbols, GetSymbolsVersion::V3),
                tag::ADD_INPUT_FILE => linker.add_input_file = Some(value.add_input_file),
                tag::MESSAGE => linker.message = Some(value.message),
                tag::GET_WRAP_SYMBOLS => linker.get_wrap_symbols = Some(value.get_wrap_symbols),
                tag::GET_API_VERSION => get_api_version = Some(value.get_api_version),
                _ => {}
            }
            at = at.add(1);
        }
    }
    if let Some(negotiate) = get_api_version {
        let version = concat!(env!("CARGO_PKG_VERSION"), "\0");
        let (mut name, mut linker_version) = (std::ptr::null(), std::ptr::null());
        // mold starts itself anew for plugins that don't say that they know version 1.
        // SAFETY: C strings that live for ever, and places for two pointers.
        unsafe {
            negotiate(
                c"cotree".as_ptr(),
                version.as_ptr().cast(),
                api::LAPI_V0,
                api::LAPI_V1,
                &raw mut name,
                &raw mut linker_version,
            );
        }
    }
    linker
}

/// # Safety
/// `string` is a C string.
unsafe fn path_of(string: *const c_char) -> PathBuf {
    // SAFETY: the caller's promise.
    PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(string) }.to_bytes()))
}

impl Linker {
    fn offer(&mut self, function: api::GetSymbols, version: GetSymbolsVersion) {
        if self.get_symbols.is_none_or(|(_, known)| known < version) {
            self.get_symbols = Some((function, version));
        }
    }

    fn say(&self, level: c_int, text: &str) {
        let Some(message) = self.message else {
            eprintln!("cotree: {text}");
            return;
        };
        // A NUL can't be in a message: names come from C strings or were checked.
        let text = CString::new(format!("cotree: {text}")).unwrap_or_default();
        // SAFETY: a printf-like function, a format with one `%s`, a C string.
        unsafe { message(level, c"%s".as_ptr(), text.as_ptr()) };
    }

    /// The value of `cotree-NAME=VALUE`, the last one if there are several.
    fn option(&self, name: &str) -> Option<&str> {
        let of_option = |option| str::strip_prefix(option, "cotree-")?.strip_prefix(name)?.strip_prefix('=');
        self.options.iter().rev().find_map(|option| of_option(option))
    }

    /// The folders in which the command line has libraries looked for.
    fn folders(&self) -> Vec<PathBuf> {
        self.options.iter().filter_map(|option| option.strip_prefix("cotree-folder=")).map(PathBuf::from).collect()
    }

    /// Does the folder of this link stay where it is?
    fn keeps_files(&self) -> bool {
        std::env::var_os(KEEP_ENV).is_some() || self.options.iter().any(|option| option == KEEP_OPTION)
    }

    fn driver(&self) -> Result<Driver, Failure> {
        Driver::find(self.option("driver"))
    }
}

impl State {
    fn work_dir(&mut self) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.work_dir {
            return Ok(dir.path().to_owned());
        }
        // Linkers that fail later on, as for an undefined symbol, exit without calling `cleanup`.
        // SAFETY: a function that takes nothing; the C library runs it before this library is unloaded.
        unsafe { atexit(remove_work_dir) };
        let dir = self.work_dir.insert(WorkDir::new(self.linker.keeps_files())?);
        Ok(dir.path().to_owned())
    }
}

/// Runs a hook; any error becomes one message of the linker.
fn guarded(hook: impl FnOnce() -> Result<(), String>) -> Status {
    let text = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(hook)) {
        Ok(Ok(())) => return api::OK,
        Ok(Err(text)) => text,
        Err(_) => "the linker plugin failed an internal check (this is a bug)".into(),
    };
    // Linkers end the process inside the call for a fatal message, and not all of them clean up first.
    let (linker, work_dir) = with_state(|state| (state.linker.clone(), state.work_dir.take()));
    drop(work_dir);
    linker.say(level::FATAL, &text);
    api::ERR
}

/// The references that matter in a file, which may be of the toolchain.
fn of_interest(references: Vec<String>, of_toolchain: bool) -> impl Iterator<Item = String> {
    references.into_iter().filter(move |name| !(of_toolchain && input::installs_handlers(name.as_bytes())))
}

unsafe extern "C" fn claim_file(file: *const InputFile, claimed: *mut c_int) -> Status {
    guarded(|| {
        // SAFETY: the linker passes a description of an open file and a place for the answer.
        let ours = unsafe { claim(&*file) }?;
        // SAFETY: as above.
        unsafe { *claimed = c_int::from(ours) };
        Ok(())
    })
}

/// # Safety
/// `file` describes an open file.
unsafe fn claim(file: &InputFile) -> Result<bool, String> {
    // SAFETY: the caller's promise: the name is a C string.
    let path = unsafe { path_of(file.name) };
    let offset = u64::try_from(file.offset).unwrap_or(0);
    let name = if offset == 0 { path.display().to_string() } else { format!("{}+{offset:#x}", path.display()) };
    let Some(data) = map(file) else { return Ok(false) };
    let (range, file_walk) = match Input::recognise(&data) {
        Input::Bitcode(range, walk) => (range, walk),
        Input::Damaged(error) => {
            return Err(format!("{name} holds damaged LLVM bitcode: {error}; compile it again"));
        }
        Input::Native => {
            let of_toolchain = input::is_of_toolchain(&path);
            let references = of_interest(input::references(&data), of_toolchain);
            let of_sanitizers = if of_toolchain { Vec::new() } else { input::of_sanitizers(&data) };
            with_state(|state| {
                state.of_sanitizers.extend(of_sanitizers);
                state.seen_native = true;
                state.native_references.extend(references);
                if !of_toolchain {
                    let size = data.len() as u64;
                    state.natives.insert(NativeInput { path, offset, size });
                }
            });
            return Ok(false);
        }
        Input::Shared => {
            with_state(|state| state.libraries.insert(path));
            return Ok(false);
        }
        Input::Other => return Ok(false),
    };
    let mut module =
        ModuleInput { name, path, offset: offset + range.start as u64, size: range.len() as u64, symbols: Vec::new() };
    let table = match Table::read(&file_walk) {
        Ok(table) => table,
        Err(reason) => rewrite(&mut module, &data[range], reason)?,
    };
    let claimed = Claimed { handle: Handle(file.handle), c_symbols: CSymbols::new(&table), input: module, table };
    let Some(add_symbols) = with_state(|state| state.linker.add_symbols) else {
        return Err("the linker has no function to add symbols: cotree does not know this linker".into());
    };
    let array = &claimed.c_symbols.array;
    if !array.is_empty() {
        let count = c_int::try_from(array.len()).map_err(|_| format!("{} has too many symbols", claimed.input.name))?;
        // SAFETY: the array has `count` entries and stays in place until the process ends, like what it points to.
        if unsafe { add_symbols(file.handle, count, array.as_ptr()) } != api::OK {
            return Err(format!("the linker refuses the symbols of {}", claimed.input.name));
        }
    }
    with_state(|state| state.claimed.push(claimed));
    Ok(true)
}

/// Maps the bytes of an input; `None` if that fails, as for an empty file: then it is not ours.
fn map(file: &InputFile) -> Option<Mmap> {
    let length = usize::try_from(file.filesize).ok().filter(|&length| length > 0)?;
    let offset = u64::try_from(file.offset).ok()?;
    // SAFETY: a file that changes while it is being linked breaks the link in any case.
    unsafe { MmapOptions::new().offset(offset).len(length).map(file.fd) }.ok()
}

/// Has LLVM write the bitcode again, this time with a symbol table of a known layout.
fn rewrite(module: &mut ModuleInput, bitcode: &[u8], reason: Unusable) -> Result<Table, String> {
    let why = match reason {
        Unusable::Missing => "it has no symbol table for linkers".to_owned(),
        Unusable::Version(version) => format!("its symbol table has version {version}"),
        Unusable::OtherModules => "it was pasted together from several files".to_owned(),
        Unusable::Damaged => "its symbol table is damaged".to_owned(),
    };
    let (linker, work_dir, number) = with_state(|state| {
        state.rewritten += 1;
        (state.linker.clone(), state.work_dir(), state.rewritten)
    });
    let sentence = |failure: Failure| format!("{} can't be linked as it is ({why}): {failure}", module.name);
    let work_dir = work_dir.map_err(sentence)?;
    let (before, after) = (work_dir.join(format!("{number}.in.bc")), work_dir.join(format!("{number}.bc")));
    let write = |error| sentence(Failure::File { verb: "write", path: before.clone(), error });
    fs::write(&before, bitcode).map_err(write)?;
    linker.driver().and_then(|driver| driver.rewrite(&before, &after)).map_err(sentence)?;
    let read = |error| sentence(Failure::File { verb: "read", path: after.clone(), error });
    let data = fs::read(&after).map_err(read)?;
    let Input::Bitcode(range, walk) = Input::recognise(&data) else {
        return Err(format!("{} can't be linked ({why}), and writing it again gave no bitcode", module.name));
    };
    let table = Table::read(&walk)
        .map_err(|_| format!("{} can't be linked ({why}), and writing it again did not help", module.name))?;
    module.path = after;
    module.offset = range.start as u64;
    module.size = range.len() as u64;
    Ok(table)
}

impl CSymbols {
    fn new(table: &Table) -> CSymbols {
        let mut strings = Vec::new();
        let mut keep = |text: &str| {
            // `Table::read` admits no NUL.
            let string = CString::new(text).unwrap_or_default();
            let pointer = string.as_ptr().cast_mut();
            strings.push(string);
            pointer
        };
        let comdats: Vec<_> = table.comdats.iter().map(|name| keep(name)).collect();
        let array = table
            .symbols
            .iter()
            .map(|symbol| api::Symbol {
                name: keep(&symbol.name),
                version: std::ptr::null_mut(),
                def: match symbol.kind {
                    SymbolKind::Defined => api::kind::DEF,
                    SymbolKind::Weak => api::kind::WEAKDEF,
                    SymbolKind::Undefined => api::kind::UNDEF,
                    SymbolKind::WeakUndefined => api::kind::WEAKUNDEF,
                    SymbolKind::Common(_) => api::kind::COMMON,
                },
                symbol_type: match (symbol.ir_name.is_empty(), symbol.executable) {
                    (true, _) => api::symbol_type::UNKNOWN,
                    (false, true) => api::symbol_type::FUNCTION,
                    (false, false) => api::symbol_type::VARIABLE,
                },
                section_kind: 0,
                unused: 0,
                visibility: match symbol.visibility {
                    Visibility::Default => api::visibility::DEFAULT,
                    Visibility::Hidden => api::visibility::HIDDEN,
                    Visibility::Protected => api::visibility::PROTECTED,
                },
                size: if let SymbolKind::Common(size) = symbol.kind { size } else { 0 },
                comdat_key: symbol.comdat.map_or(std::ptr::null_mut(), |index| comdats[index]),
                resolution: resolution::UNKNOWN,
            })
            .collect();
        CSymbols { array, _strings: strings }
    }
}

unsafe extern "C" fn all_symbols_read() -> Status {
    guarded(link)
}

/// Lets `cotree` do the link, and adds the objects that it makes.
fn link() -> Result<(), String> {
    let (linker, mut claimed) = with_state(|state| (state.linker.clone(), std::mem::take(&mut state.claimed)));
    if claimed.is_empty() {
        return Ok(());
    }
    let wrapped = wrapped_symbols(&linker);
    let mut members = Vec::new();
    for file in &mut claimed {
        if resolve(&linker, file)? {
            members.push(&*file);
        }
    }
    let inputs = settle(&members, &wrapped);
    // Linkers hold on to the arrays.
    with_state(|state| state.retired.extend(claimed));
    if inputs.is_empty() {
        return Ok(());
    }
    let (work_dir, mut references, mut natives, seen_native, mut shared) = with_state(|state| {
        let natives = (state.native_references.clone(), state.natives.clone());
        (state.work_dir(), natives.0, natives.1, state.seen_native, state.libraries.clone())
    });
    let mut of_sanitizers = with_state(|state| std::mem::take(&mut state.of_sanitizers));
    if !seen_native {
        for (path, data) in mapped_files() {
            if input::is_shared(&data) {
                shared.insert(path); // or the output
                continue;
            }
            let of_toolchain = input::is_of_toolchain(&path);
            references.extend(of_interest(input::references_of_file(&data), of_toolchain));
            if !of_toolchain {
                of_sanitizers.extend(input::of_sanitizers_in_file(&data));
            }
            if input::is_native_object(&data) && !of_toolchain {
                natives.insert(NativeInput { path, offset: 0, size: data.len() as u64 });
            }
        }
    }
    shared.remove(&linker.output);
    references.extend(libraries::starters(&shared, &linker.folders()));
    let kind = linker.kind.unwrap_or(OutputKind::Executable);
    let mut options = linker.options.clone();
    if linker.keeps_files() {
        options.push(KEEP_OPTION.into());
        if let Ok(folder) = &work_dir {
            linker.say(level::INFO, &format!("the files of this link are in {}", folder.display()));
        }
    }
    let request = LinkRequest {
        output: linker.output.clone(),
        kind,
        is_static: matches!(kind, OutputKind::Executable | OutputKind::Pie) && links_statically(&linker),
        options,
        modules: inputs,
        native_references: references.into_iter().collect(),
        of_sanitizers: of_sanitizers.into_iter().collect(),
        natives: natives.into_iter().collect(),
        work_dir: work_dir.map_err(|failure| failure.to_string())?,
    };
    let output = linker.driver().and_then(|driver| driver.link(&request)).map_err(|failure| failure.to_string())?;
    for warning in &output.warnings {
        linker.say(level::WARNING, warning);
    }
    for object in &output.objects {
        add(&linker, object)?;
    }
    Ok(())
}

fn add(linker: &Linker, object: &Path) -> Result<(), String> {
    let refused = || format!("the linker refuses {}, an object that cotree made", object.display());
    let add_input_file = linker.add_input_file.ok_or_else(refused)?;
    let path = CString::new(object.as_os_str().as_bytes()).map_err(|_| refused())?;
    // SAFETY: a C string; leaked because linkers may keep the pointer.
    let status = unsafe { add_input_file(path.into_raw()) };
    if status == api::OK { Ok(()) } else { Err(refused()) }
}

/// Asks for the verdicts on a file's symbols; `false` if the file is not part of the link after all.
fn resolve(linker: &Linker, file: &mut Claimed) -> Result<bool, String> {
    let Some((get_symbols, version)) = linker.get_symbols else {
        return Err("the linker offers no symbol resolutions, it is not one that cotree knows".into());
    };
    let array = &mut file.c_symbols.array;
    // Before version 3, a file without symbols gets no answer, and no file can be left out.
    if array.is_empty() && version < GetSymbolsVersion::V3 {
        return Ok(true);
    }
    let count = c_int::try_from(array.len()).unwrap_or(c_int::MAX);
    // SAFETY: `count` entries, those that `add_symbols` was given.
    match unsafe { get_symbols(file.handle.0, count, array.as_mut_ptr()) } {
        api::OK => Ok(true),
        api::NO_SYMS => Ok(false),
        _ => Err(format!("the linker has no verdict on the symbols of {}", file.input.name)),
    }
}

/// The symbols named by `--wrap`.
fn wrapped_symbols(linker: &Linker) -> Vec<String> {
    let Some(get_wrap_symbols) = linker.get_wrap_symbols else { return Vec::new() };
    let (mut count, mut names) = (0, std::ptr::null());
    // SAFETY: places for the answer.
    let status = unsafe { get_wrap_symbols(&raw mut count, &raw mut names) };
    if status != api::OK || names.is_null() {
        return Vec::new();
    }
    // SAFETY: on success the linker gives `count` C strings.
    (0..usize::try_from(count).unwrap_or(0))
        .map(|index| unsafe { CStr::from_ptr(*names.add(index)) }.to_string_lossy().into_owned())
        .collect()
}

/// Turns the linker's verdicts into ours, which say for each definition who can see it.
///
/// The linker knows references from other files only as symbols. In three cases that is not enough, and a definition to
/// which only bitcode seems to refer becomes visible to all. First, `llvm.used` and module assembly: a symbol that is
/// `used` in one file is used wherever it is defined. Second, `--wrap`, which changes the names of references. Third,
/// tentative definitions, of which the largest must win: all copies stay, and the linker merges them as in objects.
fn settle(files: &[&Claimed], wrapped: &[String]) -> Vec<ModuleInput> {
    let symbols = || files.iter().flat_map(|file| file.table.symbols.iter().zip(&file.c_symbols.array));
    let mut seen_by_all: HashSet<&str> =
        symbols().filter(|(symbol, _)| symbol.used).map(|(symbol, _)| symbol.name.as_str()).collect();
    let wrapping: Vec<_> =
        wrapped.iter().flat_map(|name| [name.clone(), format!("__wrap_{name}"), format!("__real_{name}")]).collect();
    seen_by_all.extend(wrapping.iter().map(String::as_str));
    let mut tentative: HashMap<&str, (usize, bool)> = HashMap::new();
    for (symbol, verdict) in symbols().filter(|(symbol, _)| matches!(symbol.kind, SymbolKind::Common(_))) {
        let (copies, prevails) = tentative.entry(&symbol.name).or_default();
        *copies += 1;
        *prevails |= matches!(
            verdict.resolution,
            resolution::PREVAILING_DEF | resolution::PREVAILING_DEF_IRONLY | resolution::PREVAILING_DEF_IRONLY_EXP
        );
    }
    let verdict = |symbol: &Symbol, resolution: c_int| {
        let merged = matches!(symbol.kind, SymbolKind::Common(_))
            && tentative.get(symbol.name.as_str()).is_some_and(|&(copies, prevails)| copies > 1 && prevails);
        match (symbol.kind, resolution) {
            _ if merged => Resolution::Prevailing,
            (_, resolution::PREVAILING_DEF_IRONLY) if seen_by_all.contains(symbol.name.as_str()) => {
                Resolution::Prevailing
            }
            (_, resolution::PREVAILING_DEF_IRONLY) => Resolution::PrevailingInternal,
            (_, resolution::PREVAILING_DEF_IRONLY_EXP) => Resolution::PrevailingExported,
            (_, resolution::PREVAILING_DEF) => Resolution::Prevailing,
            (_, resolution::UNDEF) | (SymbolKind::Undefined | SymbolKind::WeakUndefined, resolution::UNKNOWN) => {
                Resolution::Undefined
            }
            // A definition without a verdict: assume that everyone sees it.
            (_, resolution::UNKNOWN) => Resolution::Prevailing,
            _ => Resolution::Elsewhere,
        }
    };
    let input = |file: &Claimed| {
        let pairs = file.table.symbols.iter().zip(&file.c_symbols.array);
        let symbols = pairs.map(|(symbol, c_symbol)| SymbolInput {
            name: symbol.name.clone(),
            ir_name: symbol.ir_name.clone(),
            resolution: verdict(symbol, c_symbol.resolution),
        });
        ModuleInput { symbols: symbols.collect(), ..file.input.clone() }
    };
    files.iter().map(|file| input(file)).collect()
}

/// Is the output a static executable? The plugin interface doesn't say, but the linker's command line does. If that is
/// in a response file, `cotree ld` has read it.
fn links_statically(linker: &Linker) -> bool {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    linker.options.iter().any(|option| option == "cotree-static")
        || input::links_statically(line.split(|&byte| byte == 0))
}

/// mold shows a plugin only files that look like bitcode, but has all its inputs mapped, so we look at the mappings:
/// each input is mapped as a whole, the libraries that mold itself is made of are not. Archive members that are not
/// needed count too, which errs on the safe side.
fn mapped_files() -> Vec<(PathBuf, Mmap)> {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return Vec::new() };
    // address perms offset dev inode path
    let mapping = |line: &'_ str| -> Option<(PathBuf, u64)> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let path = fields.nth(4)?.trim_start();
        let length = u64::from_str_radix(end, 16).ok()?.checked_sub(u64::from_str_radix(start, 16).ok()?)?;
        path.starts_with('/').then(|| (PathBuf::from(path), length))
    };
    let files: BTreeSet<_> = maps.lines().filter_map(mapping).collect();
    let map = |(path, length): (PathBuf, u64)| {
        let file = fs::File::open(&path).ok()?;
        if file.metadata().ok()?.len() > length {
            return None;
        }
        // SAFETY: as for any input of the link.
        let data = unsafe { Mmap::map(&file) }.ok()?;
        Some((path, data))
    };
    files.into_iter().filter_map(map).collect()
}

unsafe extern "C" fn cleanup() -> Status {
    guarded(|| {
        remove_work_dir();
        Ok(())
    })
}

extern "C" fn remove_work_dir() {
    let work_dir = with_state(|state| state.work_dir.take());
    drop(work_dir);
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}
