//! The identity of the program in the header: the file of the link unit and the command line.

use crate::runtime::os::sys;
use crate::runtime::unit;
use core::ffi::{CStr, c_int, c_void};

/// Absolute path of the link unit's file; gives its length.
pub fn binary(path: &mut [u8; 2048]) -> usize {
    if unit::descriptor().executable != 0 {
        return sys::read_link(c"/proc/self/exe", path).unwrap_or(0);
    }
    let mut used = 0_usize;
    let mut data = (path, &mut used);
    // SAFETY: the callback gets back what is passed here, while it lives.
    unsafe { libc::dl_iterate_phdr(Some(name_of_unit), (&raw mut data).cast()) };
    used
}

/// Copies the name of the object that holds this unit.
unsafe extern "C" fn name_of_unit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's record, and `binary`'s variable.
    let (info, (path, used)) = unsafe { (&*info, &mut *data.cast::<(&mut [u8; 2048], &mut usize)>()) };
    let (start, end) = unit::image();
    // SAFETY: the loader's own array.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let ours = headers.iter().any(|header| {
        let at = info.dlpi_addr.wrapping_add(header.p_vaddr);
        header.p_type == libc::PT_LOAD && start <= at && at < end
    });
    if !ours || info.dlpi_name.is_null() {
        return 0;
    }
    // SAFETY: NUL-terminated.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let mut at = 0;
    if name.first() != Some(&b'/') {
        at = sys::current_directory(&mut path[..]).unwrap_or(0);
        path[at] = b'/';
        at += usize::from(at > 0);
    }
    let len = name.len().min(path.len() - at);
    path[at..at + len].copy_from_slice(&name[..len]);
    **used = at + len;
    1
}

/// The arguments, separated by NUL; gives the length.
pub fn command(line: &mut [u8; 1024]) -> usize {
    let Ok(fd) = sys::open(c"/proc/self/cmdline", libc::O_RDONLY, 0) else { return 0 };
    let mut used = 0;
    while let Ok(n @ 1..) = sys::read(fd, &mut line[used..]) {
        used += n;
    }
    sys::close(fd);
    used - usize::from(used > 0 && line[used - 1] == 0)
}
