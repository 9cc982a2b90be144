//! A hash of what an executable loads: two builds with the same hash execute the same instructions.

use super::store;
use anyhow::{Context as _, Result};
use object::elf::{SHF_ALLOC, SHT_NOTE};
use object::{Object, ObjectSection, SectionFlags, elf};
use std::path::Path;

/// Hashes name, address and content of each section that is loaded, but for notes: the build id among them also hashes
/// what is not loaded, such as names of object files.
pub fn hash(executable: &Path) -> Result<String> {
    let bytes = std::fs::read(executable).with_context(|| format!("can't read {}", executable.display()))?;
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*bytes)
        .with_context(|| format!("in {}", executable.display()))?;
    let mut loaded = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let kind = section.elf_section_header().sh_type.get(file.endian());
        if sh_flags & u64::from(SHF_ALLOC) == 0 || kind == SHT_NOTE {
            continue;
        }
        loaded.extend(section.name_bytes()?);
        loaded.extend(section.address().to_le_bytes());
        loaded.extend(section.size().to_le_bytes());
        if kind != elf::SHT_NOBITS {
            loaded.extend(section.data()?);
        }
    }
    Ok(store::hash(&loaded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{command, workspace};
    use std::process::Command;

    #[test]
    fn symbols_and_build_ids_do_not_count_but_code_does() -> Result<()> {
        let folder = workspace::scratch().join("code-hash");
        workspace::fresh(&folder)?;
        let build = |name: &str, options: &[&str]| -> Result<String> {
            let (source, executable) = (folder.join(format!("{name}.c")), folder.join(name));
            std::fs::write(&source, "int main(void) { return RESULT; }\n")?;
            let mut gcc = Command::new("gcc");
            command::succeed(gcc.args(options).arg(&source).arg("-o").arg(&executable))?;
            hash(&executable)
        };
        let one = build("one", &["-DRESULT=1"])?;
        assert_eq!(
            build("another", &["-DRESULT=1", "-s", "-Wl,--build-id=0x1234567812345678123456781234567812345678"])?,
            one
        );
        assert_ne!(build("two", &["-DRESULT=2"])?, one);
        Ok(())
    }
}
