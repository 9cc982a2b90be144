//! How the unit was built: who compiled it, and by which options. The strings are not those of the table, whose
//! readers must know all that refers to it: whoever does not know this section skips it.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Build, ProgramMap};

/// Writes the compilers, and then the options with their values.
pub(super) fn write(program: &ProgramMap, w: &mut Writer) {
    let Build { compilers, options } = &program.build;
    if compilers.is_empty() && options.is_empty() {
        return;
    }
    w.put(Stream::Build, compilers.len() as u64);
    let words = options.iter().flat_map(|(option, value)| [option, value]);
    for word in compilers.iter().chain(words) {
        w.put(Stream::Build, word.len() as u64);
        w.put_bytes(Stream::BuildText, word.as_bytes());
    }
}

/// Reads what [`write`] wrote, if the map has it.
pub(super) fn read(program: &mut ProgramMap, r: &mut Reader<'_>) -> Result<(), MapError> {
    if r.left(Stream::Build) == 0 {
        return Ok(());
    }
    let compilers = r.get_count(Stream::Build, Stream::Build)?;
    for _ in 0..compilers {
        let compiler = word(r)?;
        program.build.compilers.insert(compiler);
    }
    while r.left(Stream::Build) > 0 {
        let option = word(r)?;
        let value = word(r)?;
        program.build.options.insert(option, value);
    }
    Ok(())
}

fn word(r: &mut Reader<'_>) -> Result<String, MapError> {
    let length = usize::try_from(r.get(Stream::Build)?).map_err(|_| MapError::Invalid("a string is too long"))?;
    let bytes = r.get_bytes(Stream::BuildText, length)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| MapError::Invalid("a string is not UTF-8"))
}
