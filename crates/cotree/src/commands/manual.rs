//! Manual pages: one for `cotree`, and one for each subcommand that people call.

use clap::Command;
use clap_mangen::Man;
use std::io;

/// The pages: the names of their files, and their texts.
pub fn pages(command: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    // `cotree help` repeats what the pages say.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned();
    let mut pages = Vec::new();
    for subcommand in std::iter::once(command.clone()).chain(shown) {
        let man = Man::new(subcommand);
        let mut text = Vec::new();
        man.render(&mut text)?;
        let (name, _) = man
            .get_filename()
            .rsplit_once('.')
            .map(|(name, end)| (name.to_owned(), end.to_owned()))
            .unwrap_or_default();
        pages.push((man.get_filename(), tidy(&name, &String::from_utf8_lossy(&text)).into_bytes()));
    }
    Ok(pages)
}

/// The page as readers want it. `clap_mangen` writes an empty date without quotes, so that the version is read as the
/// date, and breaks lines beside empty lines.
fn tidy(name: &str, page: &str) -> String {
    let lines: Vec<&str> = page.lines().filter(|line| !line.is_empty()).collect();
    let empty = |index: Option<usize>| {
        index
            .and_then(|index| lines.get(index))
            .is_none_or(|line| line.starts_with(".sp") || line.starts_with(".S") || *line == ".br")
    };
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with(".TH ") {
            text += &format!(".TH \"{name}\" 1 \"\" \"cotree {}\" \"cotree\"\n", env!("CARGO_PKG_VERSION"));
        } else if *line != ".br" || !empty(index.checked_sub(1)) && !empty(Some(index + 1)) {
            text += line;
            text.push('\n');
        }
    }
    text
}
