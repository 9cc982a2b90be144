//! The object that says what a program was compiled by: one section, which is never loaded.

use crate::error::Error;
use cotree_profile::used::{USED_SECTION, Used};
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind};

/// The object.
pub(crate) fn write(used: &Used) -> Result<Vec<u8>, Error> {
    let failed = |reason: String| Error::Internal { module: USED_SECTION.into(), reason };
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = object.add_section(Vec::new(), USED_SECTION.as_bytes().to_vec(), SectionKind::Note);
    let content = used.to_section().map_err(|error| failed(error.to_string()))?;
    object.append_section_data(section, &content, 4);
    object.section_mut(section).flags = SectionFlags::Elf { sh_flags: 0 };
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object.write().map_err(|error| failed(error.to_string()))
}
