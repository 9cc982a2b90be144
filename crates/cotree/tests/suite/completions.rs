//! Completion in real shells, and manual pages in real readers. A shell or reader that is not installed is passed over.

use crate::project::{Project, succeed};
use std::fs;
use std::path::Path;
use std::process::Command;

fn installed(tool: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    if !found {
        eprintln!("passed over: there is no {tool}");
    }
    found
}

/// A shell of the project, in whose PATH the cotree is that was just built.
fn shell(project: &Project, shell: &str, script: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_cotree")).parent().expect("a folder").to_owned();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&old))).expect("a path");
    let mut command = project.command(shell);
    command.env("PATH", path).args(["-c", script]);
    command
}

/// What bash offers for the last word of a line.
fn in_bash(project: &Project, line: &str) -> Vec<String> {
    const SCRIPT: &str = r#"
        source <(cotree completions bash)
        registered=$(complete -p cotree); function=${registered#*-F }; function=${function%% *}
        read -ra COMP_WORDS <<< "$LINE"; [[ $LINE == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )) COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
        "$function" cotree "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let said = succeed(shell(project, "bash", SCRIPT).env("LINE", line));
    said.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn bash_completes() {
    let project = Project::new(&[("app.c", ""), ("runs/a.cotree", "")]);
    let offered = |line: &str| in_bash(&project, line);
    let all = |line: &str, expected: &[&str]| {
        let offered = offered(line);
        assert!(expected.iter().all(|word| offered.iter().any(|o| o == word)), "{line}: {offered:?}");
        offered
    };
    assert_eq!(offered("cotree repo"), ["report"]);
    let commands = all("cotree ", &["cc", "c++", "cargo", "report", "coverage"]);
    assert!(!commands.iter().any(|word| word.starts_with("lto-") || word.starts_with('-')), "{commands:?}");
    all("cotree --pro", &["--profile"]);
    all("cotree --profile ", &["edge", "path", "trace"]);
    all("cotree --profile=pa", &["--profile=path"]);
    all("cotree export --format ", &["json", "lcov", "pprof"]);
    // `trace` is a value here, and no subcommand.
    all("cotree --profile trace report --", &["--function", "--width"]);
    assert_eq!(offered("cotree report run"), ["runs/"]);
    assert_eq!(offered("cotree completions "), ["bash", "zsh", "fish", "elvish", "powershell"]);
    // What follows a tool is for the tool.
    for tool in ["cc", "c++", "ar", "--profile trace cc -O2 -c"] {
        assert_eq!(offered(&format!("cotree {tool} ap")), ["app.c"], "{tool}");
        let options = offered(&format!("cotree {tool} --"));
        assert!(options.is_empty(), "{tool}: {options:?}");
    }
    assert_eq!(offered("cotree explain cut"), ["cut-off"]);
    all("cotree cargo ", &["build", "test", "coverage"]);
    all("cotree cargo --profile path ", &["build"]);
    all("cotree cargo test --", &["--release", "--package"]);
    all("cotree cargo coverage --", &["--html", "--no-clean", "--release"]);
}

#[test]
fn other_shells_complete() {
    let project = Project::new(&[]);
    if installed("fish") {
        let script = "cotree completions fish | source; complete --do-complete 'cotree --profile tra'";
        assert!(succeed(&mut shell(&project, "fish", script)).starts_with("trace\t"));
    }
    if installed("zsh") {
        // zsh completes in a terminal alone: what it asks stands in its script.
        let script = "compdef() { print $2 }; source <(cotree completions zsh); \
            _COTREE_COMPLETE=zsh _CLAP_IFS=$'\\n' _CLAP_COMPLETE_INDEX=1 cotree -- cotree rep";
        assert!(succeed(&mut shell(&project, "zsh", script)).contains("cotree\nreport:"));
    }
    for name in ["elvish", "powershell"] {
        assert!(project.ok(&format!("completions {name}")).contains("_COTREE_COMPLETE"), "{name}");
    }
}

#[test]
fn manual_pages_are_sound() {
    let project = Project::new(&[]);
    let said = project.ok("install-tools --prefix local");
    let of_shells = ["share/bash-completion/completions/cotree", "share/fish/vendor_completions.d/cotree.fish"];
    assert!(of_shells.iter().all(|path| said.contains(path)), "{said}");
    let folder = project.path("local/share/man/man1");
    let pages: Vec<_> = fs::read_dir(&folder).expect("pages").map(|page| page.expect("a page").path()).collect();
    assert!(pages.len() > 20 && folder.join("cotree-cc.1").exists() && !folder.join("cotree-lto-link.1").exists());
    if installed("mandoc") {
        let output = Command::new("mandoc").args(["-Tlint", "-Wwarning"]).args(&pages).output().expect("it starts");
        // The same program writes the same pages on any day.
        let said = String::from_utf8_lossy(&output.stdout);
        let faults: Vec<&str> = said.lines().filter(|line| !line.contains("missing date")).collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
    if installed("man") && installed("groff") {
        let page = folder.join("cotree-report.1");
        let mut command = project.command("man");
        let output = command.args(["--warnings", "-P", "cat", "-l"]).arg(page).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("SYNOPSIS") && text.contains("PROFILE"), "{text}");
    }
}
