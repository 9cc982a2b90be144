//! Finds and loads LLVM.
//!
//! Order: `COTREE_LLVM` (a library file), the active Rust toolchain (`rustc --print sysroot`), the toolchain that built
//! cotree. The major version must be the one whose C API we speak.

use super::table;
use crate::error::Error;
use std::ffi::{CStr, c_char, c_uint};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once, OnceLock};

/// The major version whose C API the table describes.
const MAJOR: u32 = 22;

/// A loaded library, kept for the life of the process.
pub(super) struct Library {
    handle: libloading::Library,
    path: PathBuf,
}

impl Library {
    fn open(path: &Path) -> Result<Self, Error> {
        // SAFETY: LLVM's initialisers only set up its own tables; we load no other code than the file named.
        let handle = unsafe { libloading::Library::new(path) }
            .map_err(|e| Error::LlvmUnusable { path: path.into(), reason: why(&e) })?;
        Ok(Self { handle, path: path.into() })
    }

    /// # Safety
    /// `T` must be the type of the C function `name`.
    pub(super) unsafe fn symbol<T: Copy>(&self, name: &str) -> Result<T, Error> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.handle.get::<T>(name.as_bytes()) }
            .map(|s| *s)
            .map_err(|_| Error::LlvmUnusable { path: self.path.clone(), reason: format!("it has no function {name}") })
    }

    fn version(&self) -> Result<(u32, u32, u32), Error> {
        let (mut major, mut minor, mut patch): (c_uint, c_uint, c_uint) = (0, 0, 0);
        // SAFETY: LLVMGetVersion has had this signature since it exists (LLVM 16).
        unsafe {
            let get: unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) = self.symbol("LLVMGetVersion")?;
            get(&raw mut major, &raw mut minor, &raw mut patch);
        }
        Ok((major, minor, patch))
    }
}

static LOADED: OnceLock<Library> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Ends the process with what LLVM says of an error that it does not go on from; LLVM expects no return.
extern "C" fn end_in_a_sentence(reason: *const c_char) {
    // SAFETY: LLVM hands over a string of its own.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    let reason = reason.trim_end_matches(['.', '!', '\n']);
    eprintln!("error: LLVM cannot compile this: {reason}; look at the processor and the features that it is made for");
    std::process::exit(1);
}

/// Loads LLVM unless it is loaded, registers the x86 target and makes LLVM's fatal errors messages.
///
/// # Errors
/// No library is found, or the one found is of another version.
pub fn ensure_loaded() -> Result<(), Error> {
    let _guard = LOADING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if LOADED.get().is_some() {
        return Ok(());
    }
    let library = find()?;
    table::fill(&library)?;
    // SAFETY: the table is filled, and this runs once, before any other use of LLVM.
    unsafe {
        table::LLVMInstallFatalErrorHandler(Some(end_in_a_sentence));
        table::LLVMInitializeX86TargetInfo();
        table::LLVMInitializeX86Target();
        table::LLVMInitializeX86TargetMC();
        table::LLVMInitializeX86AsmParser();
        table::LLVMInitializeX86AsmPrinter();
    }
    let _ = LOADED.set(library);
    Ok(())
}

/// Lets values that calls carry ([`crate::lower`]) stay in registers that the callee preserves; otherwise they are
/// stored to the stack before each call. This is only for code generators that optimise: others would leave values in
/// any register. LLVM has this setting once per process.
pub fn keep_carried_in_registers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let options = [c"cotree", c"-use-registers-for-deopt-values"].map(CStr::as_ptr);
        // SAFETY: the library is loaded wherever there is a module; two C strings.
        unsafe { table::LLVMParseCommandLineOptions(2, options.as_ptr(), std::ptr::null()) };
    });
}

/// The version of the loaded LLVM, for messages; empty before [`ensure_loaded`].
#[must_use]
pub fn loaded_version() -> String {
    LOADED.get().and_then(|l| l.version().ok()).map(|(a, b, c)| format!("{a}.{b}.{c}")).unwrap_or_default()
}

fn find() -> Result<Library, Error> {
    if let Some(path) = std::env::var_os("COTREE_LLVM").filter(|path| !path.is_empty()) {
        return named(Path::new(&path));
    }
    let mut tried = Vec::new();
    let mut unsuitable = None;
    for root in roots() {
        let lib = root.join("lib");
        match library_in(&lib) {
            Some(path) => match checked(&path) {
                Ok(library) => return Ok(library),
                Err(e) => unsuitable = Some(e),
            },
            None => tried.push(lib),
        }
    }
    Err(unsuitable.unwrap_or(Error::LlvmNotFound { tried, major: MAJOR }))
}

/// Rust toolchains to look into, best first.
fn roots() -> Vec<PathBuf> {
    let mut roots = Vec::new();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    if let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output()
        && output.status.success()
        && let Ok(text) = String::from_utf8(output.stdout)
    {
        roots.push(PathBuf::from(text.trim()));
    }
    if let Some(built_with) = option_env!("COTREE_BUILD_SYSROOT") {
        roots.push(PathBuf::from(built_with));
    }
    roots
}

fn library_in(dir: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(dir)
        .ok()?
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("libLLVM.so.")))
        .collect();
    found.sort();
    found.pop()
}

/// Checks the library that the user names: the loader's own messages for other files are hard to read.
fn named(path: &Path) -> Result<Library, Error> {
    let unusable = |reason: &str| Error::LlvmUnusable { path: path.into(), reason: reason.into() };
    // The loader searches for a name without a folder.
    if path.components().count() > 1 {
        let data = std::fs::metadata(path).map_err(|e| unusable(&e.to_string()))?;
        if data.is_dir() {
            return Err(unusable("it is a folder, and has to be a file such as libLLVM.so.22.1"));
        }
    }
    checked(path)
}

/// What the loader says; its error shows that only as its cause.
fn why(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn checked(path: &Path) -> Result<Library, Error> {
    let library = Library::open(path)?;
    let (major, minor, patch) = library.version()?;
    if major != MAJOR {
        return Err(Error::LlvmVersion { path: path.into(), found: format!("{major}.{minor}.{patch}"), wanted: MAJOR });
    }
    Ok(library)
}
