//! Finds the loaded object that holds an address, and its unwind tables.
//!
//! glibc answers without a lock since 2.35 (`_dl_find_object`). Elsewhere we keep our own list, taken with
//! `dl_iterate_phdr` at start and again when an address is missing from it.

use crate::arch::linkage::weak;
use crate::runtime::os::lock::Lock;
use crate::runtime::os::sys;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A range of code and its `.eh_frame_hdr`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Module {
    start: u64,
    end: u64,
    tables: u64,
}

/// glibc's `struct dl_find_object`.
#[repr(C)]
struct FoundObject {
    flags: u64,
    map_start: u64,
    map_end: u64,
    link_map: u64,
    eh_frame: u64,
    reserved: [u64; 7],
}

weak!(dl_find_object_address = "_dl_find_object");

/// Address of the `.eh_frame_hdr` that covers the code address.
pub fn tables_for(pc: u64) -> Option<u64> {
    ask_loader(pc).or_else(|| search(pc)).or_else(|| {
        take_snapshot();
        search(pc)
    })
}

fn ask_loader(pc: u64) -> Option<u64> {
    let function = dl_find_object_address()?;
    // SAFETY: glibc's documented signature.
    let function: unsafe extern "C" fn(u64, *mut FoundObject) -> c_int = unsafe { core::mem::transmute(function) };
    let mut found = core::mem::MaybeUninit::<FoundObject>::zeroed();
    // SAFETY: the structure is at least as large as glibc's.
    let found = unsafe {
        if function(pc, found.as_mut_ptr()) != 0 {
            return None;
        }
        found.assume_init()
    };
    (found.eh_frame != 0).then_some(found.eh_frame)
}

const MOST: usize = 4096 / size_of::<Module>() * 16;
/// The list in use: never freed, so that walks going on elsewhere stay safe. Renewals are rare.
static LIST: AtomicPtr<Module> = AtomicPtr::new(core::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static LOCK: Lock = Lock::new();

fn search(pc: u64) -> Option<u64> {
    let list = LIST.load(Ordering::Acquire);
    if list.is_null() {
        return None;
    }
    // SAFETY: LENGTH is stored before LIST and each list has room for MOST modules, zeroed beyond its length.
    let list = unsafe { core::slice::from_raw_parts(list, LENGTH.load(Ordering::Acquire).min(MOST)) };
    list.iter().find(|module| module.start <= pc && pc < module.end).map(|module| module.tables)
}

/// Takes the list where the loader can't be asked without a lock, so that a forked child need not ask.
pub fn start() {
    if dl_find_object_address().is_none() {
        take_snapshot();
    }
}

/// Takes the list of modules again.
fn take_snapshot() {
    let _held = LOCK.take();
    let Ok(memory) = sys::map_anonymous(MOST * size_of::<Module>()) else { return };
    let mut fresh = (memory.cast::<Module>(), 0_usize);
    // SAFETY: the callback gets back what is passed here, while it lives.
    unsafe { libc::dl_iterate_phdr(Some(add_module), (&raw mut fresh).cast()) };
    LENGTH.store(fresh.1, Ordering::Release);
    LIST.store(fresh.0, Ordering::Release);
}

/// Breaks the lock of a thread that is not in this forked child.
pub fn after_fork() {
    LOCK.break_open();
}

unsafe extern "C" fn add_module(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's record, and take_snapshot's variable.
    let (info, (list, length)) = unsafe { (&*info, &mut *data.cast::<(*mut Module, usize)>()) };
    // SAFETY: the loader's own array.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let at = |header: &libc::Elf64_Phdr| info.dlpi_addr.wrapping_add(header.p_vaddr);
    let Some(header) = headers.iter().find(|h| h.p_type == libc::PT_GNU_EH_FRAME) else { return 0 };
    let tables = at(header);
    for load in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0) {
        if *length < MOST {
            // SAFETY: the list has room for MOST.
            unsafe { list.add(*length).write(Module { start: at(load), end: at(load) + load.p_memsz, tables }) };
            *length += 1;
        }
    }
    0
}
