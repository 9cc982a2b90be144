//! `cotree install-tools`: names of one word for build systems, as links to this executable.

use super::output::answer;
use clap::Args;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The names. `cotree` called by one of them is that tool.
const NAMES: [&str; 6] = ["cotree-cc", "cotree-c++", "cotree-ld", "cotree-ar", "cotree-nm", "cotree-ranlib"];

/// Answers for `configure` scripts that look for bytes in an object file, which in bitcode are not found. They name it
/// by the variable `CONFIG_SITE`.
const SITE: &str = "config.site";
const ANSWERS: &str = "\
# Answers of cotree for configure scripts that look for bytes in object files: CONFIG_SITE=THIS_FILE ../configure
: \"${ax_cv_c_float_words_bigendian=no}\"
: \"${ac_cv_c_bigendian=no}\"
: \"${gmp_cv_c_double_format=IEEE little endian}\"
";

/// Arguments of `cotree install-tools`.
#[derive(Args, Debug)]
pub struct InstallToolsArgs {
    /// A folder in PATH, which is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs `cotree install-tools`.
pub fn run(args: &InstallToolsArgs) -> Result<()> {
    let cotree = std::env::current_exe().into_diagnostic().wrap_err("cannot find cotree's own executable")?;
    let folder = &args.folder;
    fs::create_dir_all(folder).into_diagnostic().wrap_err_with(|| format!("cannot make {}", folder.display()))?;
    // Nothing is changed if anything is in the way.
    refuse_answers_of_others(&folder.join(SITE))?;
    for name in NAMES {
        refuse_what_is_no_link(&folder.join(name))?;
    }
    for name in NAMES {
        let link = folder.join(name);
        replace(&cotree, &link)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot make the link {}", link.display()))?;
        answer(format_args!("{}", link.display()))?;
    }
    write_answers(&folder.join(SITE))?;
    Ok(())
}

/// A file of that name is the user's.
fn refuse_what_is_no_link(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_symlink() => {
            bail!("{} is there already and is no link: move it away, or choose another folder", path.display())
        }
        _ => Ok(()),
    }
}

/// A file of answers that is not ours is the user's.
fn refuse_answers_of_others(path: &Path) -> Result<()> {
    match fs::read_to_string(path) {
        Ok(text) if text.lines().next() != ANSWERS.lines().next() => {
            bail!("{} is there already and not of cotree: move it away, or choose another folder", path.display())
        }
        _ => Ok(()),
    }
}

/// Writes the answers. The file is whole or not there.
fn write_answers(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let temporary = tempfile::TempDir::new_in(folder)?;
        let made = temporary.path().join(SITE);
        fs::write(&made, ANSWERS)?;
        fs::rename(made, path)
    };
    write().into_diagnostic().wrap_err_with(|| format!("cannot write {}", path.display()))?;
    answer(format_args!("{}", path.display()))?;
    Ok(())
}

/// Makes the link, or leads the one that is there to this executable. At no moment is there none.
fn replace(cotree: &Path, link: &Path) -> io::Result<()> {
    let folder = link.parent().unwrap_or(Path::new("."));
    let temporary = tempfile::TempDir::new_in(folder)?;
    let made = temporary.path().join("link");
    symlink(cotree, &made)?;
    fs::rename(made, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_and_led_anew_and_files_stay() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("deep/bin");
        let args = InstallToolsArgs { folder: folder.clone() };
        run(&args).unwrap();
        let cotree = std::env::current_exe().unwrap();
        for name in NAMES {
            assert_eq!(fs::read_link(folder.join(name)).unwrap(), cotree, "{name}");
        }
        let ar = folder.join("cotree-ar");
        fs::remove_file(&ar).unwrap();
        symlink("/an/older/cotree", &ar).unwrap();
        run(&args).unwrap();
        assert_eq!(fs::read_link(&ar).unwrap(), cotree);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), NAMES.len() + 1);
        assert_eq!(fs::read_to_string(folder.join(SITE)).unwrap(), ANSWERS);
        fs::write(folder.join(SITE), "mine=yes\n").unwrap();
        assert!(run(&args).unwrap_err().to_string().contains("not of cotree"));
        fs::write(folder.join(SITE), ANSWERS).unwrap();

        fs::remove_file(&ar).unwrap();
        fs::write(&ar, "a script of the user's").unwrap();
        fs::remove_file(folder.join("cotree-cc")).unwrap();
        let refused = run(&args).unwrap_err().to_string();
        assert!(refused.contains("cotree-ar is there already"), "{refused}");
        assert_eq!(fs::read_to_string(&ar).unwrap(), "a script of the user's");
        assert!(!folder.join("cotree-cc").exists(), "nothing is made where something is in the way");
    }
}
