//! `cotree install-tools`: names of one word for build systems, as links to this executable; and with a prefix what
//! shells and `man` look for.

use super::completions::{self, Shell};
use super::manual;
use super::output::answer;
use clap::{Args, Command};
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

/// Where shells look for scripts that complete a command line, below a prefix.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/cotree"),
    (Shell::Zsh, "share/zsh/site-functions/_cotree"),
    (Shell::Fish, "share/fish/vendor_completions.d/cotree.fish"),
];

/// Where `man` looks for pages of commands, below a prefix.
const PAGES: &str = "share/man/man1";

/// What stands in each file of ours. Another file of that name is not replaced.
const OURS: &str = "Written by `cotree install-tools`";

/// Arguments of `cotree install-tools`.
#[derive(Args, Debug)]
pub struct InstallToolsArgs {
    /// A folder in PATH, which is created if it does not exist
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, required_unless_present = "prefix")]
    folder: Option<PathBuf>,
    /// Put the links into DIR/bin, manual pages into DIR/share/man, and completions where bash, zsh and fish look for
    /// them below DIR/share, as in `--prefix ~/.local`
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "folder")]
    prefix: Option<PathBuf>,
}

/// Runs `cotree install-tools`, given the definition of the command line.
pub fn run(args: &InstallToolsArgs, command: Command) -> Result<()> {
    let cotree = std::env::current_exe().into_diagnostic().wrap_err("cannot find cotree's own executable")?;
    let folder = match (&args.folder, &args.prefix) {
        (Some(folder), _) => folder.clone(),
        (None, prefix) => prefix.clone().unwrap_or_default().join("bin"),
    };
    let shared = args.prefix.as_ref().map(|prefix| shared(prefix, command)).transpose()?.unwrap_or_default();
    // Nothing is changed if anything is in the way.
    refuse_files_of_others(&folder.join(SITE), ANSWERS.lines().next().unwrap_or_default())?;
    for name in NAMES {
        refuse_what_is_no_link(&folder.join(name))?;
    }
    for (path, _) in &shared {
        refuse_files_of_others(path, OURS)?;
    }
    make_folder(&folder)?;
    for name in NAMES {
        let link = folder.join(name);
        replace(&cotree, &link)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot make the link {}", link.display()))?;
        answer(format_args!("{}", link.display()))?;
    }
    write_whole(&folder.join(SITE), ANSWERS.as_bytes())?;
    for (path, content) in &shared {
        path.parent().map_or(Ok(()), make_folder)?;
        write_whole(path, content)?;
    }
    Ok(())
}

/// What stands below `share` of a prefix: paths and contents.
fn shared(prefix: &Path, command: Command) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for (shell, path) in COMPLETIONS {
        let script = String::from_utf8_lossy(&completions::script(shell)?).into_owned();
        // zsh reads what a file completes in its first line.
        let (first, rest) = match script.split_once('\n') {
            Some((first, rest)) if first.starts_with('#') => (format!("{first}\n"), rest),
            _ => (String::new(), &*script),
        };
        files.push((prefix.join(path), format!("{first}# {OURS}\n{rest}").into_bytes()));
    }
    let pages = manual::pages(command).into_diagnostic().wrap_err("cannot write the manual pages")?;
    for (name, text) in pages {
        let content = [format!(".\\\" {OURS}\n").as_bytes(), &text].concat();
        files.push((prefix.join(PAGES).join(name), content));
    }
    Ok(files)
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).into_diagnostic().wrap_err_with(|| format!("cannot make {}", folder.display()))
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

/// A file that does not have our words is the user's.
fn refuse_files_of_others(path: &Path, ours: &str) -> Result<()> {
    match fs::read(path) {
        Ok(content) if !String::from_utf8_lossy(&content).contains(ours) => {
            bail!("{} is there already and not of cotree: move it away, or choose another folder", path.display())
        }
        _ => Ok(()),
    }
}

/// Writes a file, which is whole or not there.
fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let temporary = tempfile::TempDir::new_in(folder)?;
        let made = temporary.path().join("file");
        fs::write(&made, content)?;
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
        let args = InstallToolsArgs { folder: Some(folder.clone()), prefix: None };
        let run = |args: &InstallToolsArgs| run(args, Command::new("cotree"));
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

    #[test]
    fn a_prefix_gets_manual_pages_and_completions() {
        let base = tempfile::tempdir().unwrap();
        let command = || Command::new("cotree").subcommand(Command::new("report"));
        let args = InstallToolsArgs { folder: None, prefix: Some(base.path().to_owned()) };
        run(&args, command()).unwrap();
        run(&args, command()).unwrap();
        assert!(base.path().join("bin/cotree-cc").is_symlink());
        let read = |path: &str| fs::read_to_string(base.path().join(path)).unwrap();
        assert!(read("share/man/man1/cotree-report.1").starts_with(".\\\" Written by"));
        assert!(read("share/zsh/site-functions/_cotree").starts_with("#compdef cotree\n# Written by"));
        let page = base.path().join("share/man/man1/cotree.1");
        fs::write(&page, "mine").unwrap();
        fs::remove_file(base.path().join("bin/cotree-ar")).unwrap();
        assert!(run(&args, command()).unwrap_err().to_string().contains("not of cotree"));
        assert!(!base.path().join("bin/cotree-ar").is_symlink(), "nothing is made where something is in the way");
    }
}
