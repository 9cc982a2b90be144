//! Classifies the linker's input files: bitcode, objects that carry bitcode, native code, and others.

use crate::bitstream::{self, Malformed, TopLevel};
use object::Endianness;
use object::elf::{ET_DYN, ET_REL, FileHeader64};
use object::read::elf::{ElfFile, FileHeader, SectionHeader};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// The section in which `clang -ffat-lto-objects` puts bitcode beside native code.
const FAT_LTO_SECTION: &[u8] = b".llvm.lto";

/// What an input is.
#[derive(Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// Bitcode at this place of the file.
    Bitcode(Range<usize>, TopLevel<'a>),
    /// The file begins like bitcode but is damaged.
    Damaged(Malformed),
    /// A native relocatable object without bitcode.
    Native,
    /// A shared library.
    Shared,
    /// None of these: a script, an object of another kind of machine.
    Other,
}

impl Input<'_> {
    /// Looks at a file.
    #[must_use]
    pub fn recognise(data: &[u8]) -> Input<'_> {
        let range = match bitstream::unwrap(data) {
            Some(Ok(range)) => range,
            Some(Err(error)) => return Input::Damaged(error),
            None => match elf_kind(data) {
                ElfKind::Fat(section) => match bitstream::unwrap(&data[section.clone()]) {
                    Some(Ok(range)) => section.start + range.start..section.start + range.end,
                    Some(Err(error)) => return Input::Damaged(error),
                    None => return Input::Damaged(Malformed::Unexpected(section.start)),
                },
                ElfKind::Native => return Input::Native,
                ElfKind::Other if is_shared(data) => return Input::Shared,
                ElfKind::Other => return Input::Other,
            },
        };
        match bitstream::walk(&data[range.clone()]) {
            Ok(file) => Input::Bitcode(range, file),
            Err(error) => Input::Damaged(error),
        }
    }
}

enum ElfKind {
    Fat(Range<usize>),
    Native,
    Other,
}

fn elf_kind(data: &[u8]) -> ElfKind {
    let Ok(header) = FileHeader64::<Endianness>::parse(data) else { return ElfKind::Other };
    let Ok(endian) = header.endian() else { return ElfKind::Other };
    if header.e_type(endian) != ET_REL {
        return ElfKind::Other;
    }
    let Ok(sections) = header.sections(endian, data) else { return ElfKind::Native };
    let Some((_, section)) = sections.section_by_name(endian, FAT_LTO_SECTION) else { return ElfKind::Native };
    match section.file_range(endian) {
        Some((start, size)) => {
            let range = usize::try_from(start).ok().zip(usize::try_from(size).ok());
            let range = range.and_then(|(start, size)| Some(start..start.checked_add(size)?));
            match range {
                Some(range) if range.end <= data.len() && !range.is_empty() => ElfKind::Fat(range),
                _ => ElfKind::Native,
            }
        }
        None => ElfKind::Native,
    }
}

/// Names that decide how counters must be kept: code that refers to one of these may run code on a second thread, move
/// between stacks, use the segment register, install signal handlers, or ask for events.
pub fn matters(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 22] = [
        b"cotree_event_limit_total",
        b"cotree_event_call_count",
        b"cotree_event_count",
        b"cotree_event_count_total",
        b"cotree_event_limit",
        b"makecontext",
        b"swapcontext",
        b"setcontext",
        b"jump_fcontext",
        b"make_fcontext",
        b"ontop_fcontext",
        b"jump_zcontext",
        b"co_switch",
        b"co_swap",
        b"acosw",
        b"aco_resume",
        b"mco_resume",
        b"_mco_switch",
        b"coro_transfer",
        b"coro_switch",
        b"arch_prctl",
        b"modify_ldt",
    ];
    NAMES.contains(&unversioned(name)) || installs_handlers(name) || starts_threads(name)
}

/// `foo@VERSION` and the 64-bit twins of POSIX functions are the same function.
fn unversioned(name: &[u8]) -> &[u8] {
    let name = name.split(|&byte| byte == b'@').next().unwrap_or(name);
    name.strip_suffix(b"64").unwrap_or(name)
}

/// Does the function start threads, or load code that may? The C library's functions, and those of libraries that start
/// threads for their callers.
#[must_use]
pub fn starts_threads(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 12] = [
        b"pthread_create",
        b"thrd_create",
        b"clone",
        b"__clone",
        b"__clone2",
        b"clone3",
        b"timer_create",
        b"mq_notify",
        b"lio_listio",
        b"getaddrinfo_a",
        b"dlopen",
        b"dlmopen",
    ];
    const PREFIXES: [&[u8]; 14] = [
        b"aio_",
        b"_ZNSt6thread15_M_start_thread",
        b"__kmpc_fork_",
        b"__kmpc_omp_task",
        b"GOMP_parallel",
        b"GOMP_task",
        b"GOMP_teams",
        b"g_thread_new",
        b"g_thread_try_new",
        b"g_thread_create",
        b"g_thread_pool_new",
        b"uv_thread_create",
        b"uv_queue_work",
        b"dispatch_",
    ];
    let name = unversioned(name);
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Does the function install signal handlers? Code that refers to it may make any function a handler. Toolchain code
/// installs only handlers of its own.
#[must_use]
pub fn installs_handlers(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 9] = [
        b"signal",
        b"sigaction",
        b"__sigaction",
        b"bsd_signal",
        b"sysv_signal",
        b"__sysv_signal",
        b"ssignal",
        b"sigset",
        b"sigvec",
    ];
    NAMES.contains(&name.split(|&byte| byte == b'@').next().unwrap_or(name))
}

/// Does a linker's command line make an executable without a dynamic linker? Compilers say `-static` for one, and name
/// a dynamic linker for any other, even if `-static` stands there too to choose among libraries.
pub fn links_statically<'a>(mut arguments: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut is_static = false;
    let dynamic = arguments.any(|argument| {
        let option = argument.strip_prefix(b"--").or_else(|| argument.strip_prefix(b"-")).unwrap_or(b"");
        is_static |= matches!(option, b"static" | b"Bstatic" | b"static-pie" | b"dn" | b"non_shared");
        argument == b"-I" || option.starts_with(b"dynamic-linker")
    });
    is_static && !dynamic
}

/// The names of interest that a native object refers to.
#[must_use]
pub fn references(data: &[u8]) -> Vec<String> {
    let Ok(file) = ElfFile::<FileHeader64<Endianness>>::parse(data) else { return Vec::new() };
    file.symbols()
        .filter(ObjectSymbol::is_undefined)
        .filter_map(|symbol| symbol.name_bytes().ok())
        .filter(|name| matters(name))
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// Lists the references of a whole file, an object or an archive. Every member of an archive counts, needed or not.
#[must_use]
pub fn references_of_file(data: &[u8]) -> Vec<String> {
    if let Ok(archive) = object::read::archive::ArchiveFile::parse(data) {
        let members = archive.members().filter_map(Result::ok);
        return members.filter_map(|member| member.data(data).ok()).flat_map(references_of_object).collect();
    }
    references_of_object(data)
}

fn references_of_object(data: &[u8]) -> Vec<String> {
    match elf_kind(data) {
        ElfKind::Native => references(data),
        ElfKind::Fat(_) | ElfKind::Other => Vec::new(),
    }
}

/// The symbols of a sanitizer that a native object defines: `__interceptor_X` for each function `X` that it stands in
/// front of, with a weak definition; and what registers those who are to know before it ends the process.
#[must_use]
pub fn of_sanitizers(data: &[u8]) -> Vec<String> {
    let Ok(file) = ElfFile::<FileHeader64<Endianness>>::parse(data) else { return Vec::new() };
    let defined = || file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let mut weak: Option<BTreeSet<&[u8]>> = None;
    let mut is_intercepted = |name: &[u8]| {
        let names = || defined().filter(ObjectSymbol::is_weak).filter_map(|symbol| symbol.name_bytes().ok()).collect();
        weak.get_or_insert_with(names).contains(name)
    };
    let mut found = Vec::new();
    for name in defined().filter_map(|symbol| symbol.name_bytes().ok()) {
        if name == ADD_DIE_CALLBACK || name.strip_prefix(INTERCEPTOR).is_some_and(&mut is_intercepted) {
            found.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    found
}

/// Lists such symbols of a whole file, an object or an archive.
#[must_use]
pub fn of_sanitizers_in_file(data: &[u8]) -> Vec<String> {
    if let Ok(archive) = object::read::archive::ArchiveFile::parse(data) {
        let members = archive.members().filter_map(Result::ok);
        return members.filter_map(|member| member.data(data).ok()).flat_map(of_sanitizers).collect();
    }
    of_sanitizers(data)
}

/// What sanitizers put before the names of functions that they intercept.
const INTERCEPTOR: &[u8] = b"__interceptor_";

/// `__sanitizer::AddDieCallback`.
const ADD_DIE_CALLBACK: &[u8] = b"_ZN11__sanitizer14AddDieCallbackEPFvvE";

/// Is it a relocatable object without bitcode?
#[must_use]
pub fn is_native_object(data: &[u8]) -> bool {
    matches!(elf_kind(data), ElfKind::Native)
}

/// Is it a file of the C library, of the compiler's runtime or of Rust's standard library? We know these and need not
/// look into them.
#[must_use]
pub fn is_of_toolchain(path: &Path) -> bool {
    const FILES: [&str; 24] = [
        "crt1.o",
        "crti.o",
        "crtn.o",
        "Scrt1.o",
        "rcrt1.o",
        "gcrt1.o",
        "Mcrt1.o",
        "crtbegin.o",
        "crtbeginS.o",
        "crtbeginT.o",
        "crtend.o",
        "crtendS.o",
        "libc.a",
        "libm.a",
        "libpthread.a",
        "libc_nonshared.a",
        "libgcc.a",
        "libgcc_eh.a",
        "libstdc++.a",
        "libsupc++.a",
        "libmvec.a",
        "librt.a",
        "libdl.a",
        "libgcov.a",
    ];
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    FILES.contains(&name) || path.components().any(|part| part.as_os_str() == "rustlib")
}

/// Is it a shared library, or an executable that can be linked with?
#[must_use]
pub fn is_shared(data: &[u8]) -> bool {
    FileHeader64::<Endianness>::parse(data)
        .is_ok_and(|header| header.endian().is_ok_and(|endian| header.e_type(endian) == ET_DYN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_matter() {
        assert!(matters(b"pthread_create"));
        assert!(matters(b"pthread_create@GLIBC_2.34"));
        assert!(matters(b"aio_read64"));
        assert!(matters(b"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"));
        assert!(matters(b"__kmpc_fork_call@VERSION") && starts_threads(b"GOMP_parallel_start"));
        assert!(matters(b"swapcontext") && !starts_threads(b"swapcontext"));
        assert!(!matters(b"pthread_create_key"));
        assert!(!matters(b"clones"));
        assert!(matters(b"sigaction@GLIBC_2.2.5") && installs_handlers(b"sigaction@GLIBC_2.2.5"));
        assert!(!matters(b"sigaddset") && !installs_handlers(b"pthread_create"));
    }
}
