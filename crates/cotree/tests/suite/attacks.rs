//! What somebody may have put into a folder that others can write to: a link, a pipe, a file of the same name. Nothing
//! that it leads to is written, nobody waits for it, and no counts are lost.

use crate::project::{Project, succeed};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SIMPLE: &str = "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n";

/// Another user than any who runs tests.
const STRANGER: u32 = 65534;

fn is_root() -> bool {
    fs::metadata("/proc/self").expect("a process").uid() == 0
}

fn run(command: &mut Command, profile: &str) -> Output {
    command.env("COTREE_FILE", profile).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Commands that must not wait for anybody.
fn at_once(command: &mut Command) -> Output {
    let mut timed = Command::new("timeout");
    timed.arg("60").arg(command.get_program()).args(command.get_args());
    timed.current_dir(command.get_current_dir().expect("a folder"));
    command.get_envs().for_each(|(name, value)| {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    });
    let output = timed.output().expect("timeout");
    assert_ne!(output.status.code(), Some(124), "{command:?} waits");
    output
}

fn pipe(path: &Path) {
    succeed(Command::new("mkfifo").arg(path));
}

/// The profile of one run, which must be exact.
fn exact(project: &Project, profile: &str) {
    let report = project.ok(&format!("report {profile}"));
    assert!(report.contains("exact: every count"), "{report}");
}

#[test]
fn snapshots_are_written_through_no_link() {
    let project = Project::new(&[
        ("dump.c", include_str!("../programs/findings/dump-follows-symlink.c")),
        (
            "pipe.c",
            "#include \"cotree.h\"\n#include <errno.h>\n\
             int main(int argc, char **argv) { return cotree_dump(argv[1]) == -1 ? errno : -1; }\n",
        ),
        ("victim", "precious"),
        ("folder/.keep", ""),
    ]);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    for name in ["dump", "pipe"] {
        project.ok(&format!("cc -O1 -I {} {name}.c -o {name}", include.display()));
    }
    let victim = project.path("victim");
    for turn in 1..=2 {
        let status = run(project.command(project.path("dump")).arg(&victim), "s.cotree").status;
        assert_eq!(status.code(), Some(0));
        assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
        // A second run takes no snapshot's place.
        for number in 1..=turn {
            project.ok(&format!("report s.snapshot-{number}.cotree"));
        }
    }
    // What is no file is not replaced by one, be the program root.
    pipe(&project.path("a-pipe"));
    symlink(project.path("a-pipe"), project.path("to-pipe")).expect("a link");
    for (name, error) in [("a-pipe", libc::EEXIST), ("to-pipe", libc::EEXIST), ("folder", libc::EISDIR)] {
        let status = run(project.command(project.path("pipe")).arg(name), "p.cotree").status;
        assert_eq!(status.code(), Some(error), "{name}");
    }
    assert!(fs::metadata(project.path("a-pipe")).expect("a pipe").file_type().is_fifo());
    exact(&project, "p.cotree");
}

#[test]
fn pools_are_written_through_no_link() {
    let project = Project::new(&[("main.c", SIMPLE), ("runs/.keep", ""), ("victim", "precious")]);
    project.ok("cc -O0 main.c -o program");
    let start = || run(&mut project.command(project.path("program")), "runs/pool.%1m.cotree");
    assert_eq!(start().stderr, b"");
    let names = || fs::read_dir(project.path("runs")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let pool = names().find(|path| path.extension().is_some_and(|e| e == "cotree")).expect("a pool");
    let beside = |ending: &str| Path::new(&format!("{}{ending}", pool.display())).to_owned();
    let runs = || project.ok("report runs").lines().find_map(|line| Some(line.split(", ").nth(2)?.to_owned()));
    let mut expected = 1;
    for ending in [".new", ".joining"] {
        for foreign in ["link", "pipe", "file"] {
            let path = beside(ending);
            match foreign {
                "link" => symlink(project.path("victim"), &path).expect("a link"),
                "pipe" => pipe(&path),
                _ => fs::write(&path, "somebody's notes").expect("a file"),
            }
            let output = at_once(project.command(project.path("program")).env("COTREE_FILE", "runs/pool.%1m.cotree"));
            let message = text(&output.stderr);
            assert!(output.status.success() && message.contains("something else has the name"), "{foreign}: {message}");
            assert!(message.contains(&path.display().to_string()), "{message}");
            assert!(fs::symlink_metadata(&path).is_ok(), "{foreign} is gone");
            fs::remove_file(&path).expect("it is still there");
            expected += 1;
            assert_eq!(runs(), Some(format!("{expected} runs")), "{foreign} as {ending}");
        }
    }
    assert_eq!(fs::read_to_string(project.path("victim")).expect("a file"), "precious");
    // What a killed process has left there is no obstacle.
    fs::write(beside(".new"), b"COTREERW and no more").expect("a file");
    assert_eq!(start().stderr, b"");
    // A pool that is a link stays one.
    let kept = project.path("kept.cotree");
    fs::rename(&pool, &kept).expect("a pool");
    symlink(&kept, &pool).expect("a link");
    assert!(text(&start().stderr).contains("something else has the name"));
    assert!(fs::symlink_metadata(&pool).expect("a link").is_symlink());
}

/// A program that runs with rights of its own writes where it was told to when it was built, and else nowhere.
#[test]
fn programs_with_rights_of_their_own() {
    let project = Project::new(&[("main.c", SIMPLE), ("here/.keep", "")]);
    project.ok("cc -O0 main.c -o plain");
    let there = project.path("there/%n.%p.cotree");
    project.ok(&format!("--profile-file {} cc -O0 main.c -o told", there.display()));
    let profiles = |folder: &str| {
        let entries = fs::read_dir(project.path(folder)).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().expect("an entry").file_name() != ".keep").count()
    };
    // Without such rights the environment comes first.
    assert!(run(&mut project.command(project.path("told")), "here/%p.cotree").status.success());
    assert!(project.command(project.path("told")).env("COTREE_FILE", "").status().expect("it runs").success());
    assert_eq!((profiles("here"), profiles("there")), (1, 0));
    assert!(
        project
            .command(project.path("told"))
            .current_dir(project.path("here"))
            .env_clear()
            .status()
            .expect("it runs")
            .success()
    );
    assert_eq!((profiles("here"), profiles("there")), (1, 1));
    if !is_root() {
        return; // nobody else can make such a program
    }
    fs::set_permissions(project.path("."), fs::Permissions::from_mode(0o777)).expect("a folder");
    fs::set_permissions(project.path("there"), fs::Permissions::from_mode(0o777)).expect("a folder");
    for name in ["plain", "told"] {
        chown(project.path(name), Some(STRANGER), None).expect("a program");
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o4755)).expect("a program");
    }
    let here = project.path("here");
    fs::set_permissions(&here, fs::Permissions::from_mode(0o777)).expect("a folder");
    let output = run(project.command(project.path("plain")).current_dir(&here), "elsewhere.cotree");
    let message = text(&output.stderr);
    if message.is_empty() && profiles("here") == 2 {
        return; // the file system does not heed the bit
    }
    assert!(output.status.success() && message.contains("build it with --profile-file"), "{message}");
    let output = run(project.command(project.path("told")).current_dir(&here), "elsewhere.cotree");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    assert_eq!((profiles("here"), profiles("there")), (1, 2));
    exact(&project, "there");
}

#[test]
fn outputs_are_written_through_no_link_of_a_stranger() {
    let project = Project::new(&[("main.c", SIMPLE), ("victim", "precious")]);
    project.ok("cc -O0 main.c -o program");
    run(&mut project.command(project.path("program")), "p.cotree");
    let victim = project.path("victim");
    symlink(&victim, project.path("own")).expect("a link");
    project.ok("export --format lcov --force -o own p.cotree");
    assert!(fs::read_to_string(&victim).expect("a file").contains("SF:"));
    assert!(fs::symlink_metadata(project.path("own")).expect("a link").is_symlink());
    if !is_root() {
        return; // links of others are made by root only
    }
    fs::write(&victim, "precious").expect("a file");
    let device = project.path("device");
    for (link, to) in [(project.path("planted"), victim.as_path()), (device, Path::new("/dev/null"))] {
        symlink(to, &link).expect("a link");
        lchown(&link, Some(STRANGER), Some(STRANGER)).expect("a link");
    }
    symlink("planted", project.path("twice")).expect("a link");
    for link in ["planted", "twice", "device"] {
        for command in ["merge -o", "export --format json -o", "export --format lcov -o", "export --format weights -o"]
        {
            let message = project.fails(&format!("{command} {link} p.cotree"));
            assert!(message.contains("it is a symbolic link of another user"), "{message}");
        }
    }
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
}

/// A profile names files: its binary, and that names sources. Whatever is there now is not waited for.
#[test]
fn readers_wait_for_nobody() {
    let project = Project::new(&[("main.c", SIMPLE)]);
    let source = project.path("main.c");
    project.ok(&format!("cc -O0 {} -o program", source.display()));
    run(&mut project.command(project.path("program")), "p.cotree");
    fs::remove_file(&source).expect("a file");
    pipe(&source);
    for command in ["annotate p.cotree", "export --format lcov p.cotree", "report p.cotree"] {
        at_once(&mut project.cotree(command));
    }
    let binary = project.path("program");
    fs::remove_file(&binary).expect("a file");
    pipe(&binary);
    for command in
        ["report p.cotree", "export p.cotree", "verify p.cotree", "trace p.cotree", "--weights p.cotree cc -c x.c"]
    {
        let output = at_once(&mut project.cotree(command));
        let message = text(&output.stderr);
        assert!(!output.status.success() && message.contains("it is a pipe or a"), "{command}: {message}");
    }
    pipe(&project.path("q.cotree"));
    pipe(&project.path("p.cotree.joining"));
    for command in
        ["report", "report q.cotree", "report p.cotree", "report .", "merge -o m q.cotree", "--use q.cotree cc -c x.c"]
    {
        let output = at_once(&mut project.cotree(command));
        assert!(!output.status.success(), "{command}: {}", text(&output.stdout));
    }
}

/// What has the name of a profile that a process has mapped may be something else by now.
#[test]
fn snapshots_of_processes_are_of_their_own_files() {
    let source = "#include <stdio.h>\nint main(void) { puts(\"ready\"); fflush(stdout); return getchar(); }\n";
    let project = Project::new(&[("main.c", source), ("victim", "precious")]);
    project.ok("cc -O0 main.c -o program");
    let mut child = project.command(project.path("program"));
    let mut child =
        child.env("COTREE_FILE", "p.cotree").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut [0; 6]).expect("it is ready");
    let (pid, live) = (child.id(), format!("p.cotree.{}.live", child.id()));
    let snapshot = |number: &str| format!("p.cotree.{pid}.snapshot{number}.cotree");
    project.ok(&format!("dump {pid}"));
    project.ok(&format!("dump {pid}"));
    for number in ["", "-2"] {
        project.ok(&format!("report {}", snapshot(number)));
    }
    symlink(project.path("victim"), project.path(&snapshot("-3"))).expect("a link");
    project.ok(&format!("dump {pid}"));
    assert_eq!(fs::read_to_string(project.path("victim")).expect("a file"), "precious");
    project.ok(&format!("report {}", snapshot("-4")));
    fs::rename(project.path(&live), project.path("aside")).expect("a file");
    pipe(&project.path(&live));
    at_once(&mut project.cotree(&format!("dump {pid}")));
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").code().is_some());
}

/// Weights guide what is built: nobody else may put them where they are looked for.
#[test]
fn weights_are_cached_where_nobody_else_can_write() {
    let project = Project::new(&[("main.c", SIMPLE), ("shared/.keep", "")]);
    project.ok("cc -O0 main.c -o program");
    run(&mut project.command(project.path("program")), "p.cotree");
    let build = |cache: Option<&Path>| {
        let mut command = project.cotree("--weights p.cotree cc -O1 main.c -o guided");
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache);
        }
        succeed(&mut command);
    };
    let weights = |folder: &Path| fs::read_dir(folder.join("cotree/weights")).map_or(0, Iterator::count);
    // There is no cache without a home, and nothing of ours stays in the folder for temporary files.
    build(None);
    assert!(!project.path("tmp/weights").exists());
    project.clean();
    // A folder that others can write to is none of ours.
    let shared = project.path("shared");
    fs::create_dir_all(shared.join("cotree/weights")).expect("a folder");
    fs::set_permissions(shared.join("cotree/weights"), fs::Permissions::from_mode(0o777)).expect("a folder");
    build(Some(&shared));
    assert_eq!(weights(&shared), 0);
    if is_root() {
        fs::set_permissions(shared.join("cotree/weights"), fs::Permissions::from_mode(0o755)).expect("a folder");
        chown(shared.join("cotree/weights"), Some(STRANGER), None).expect("a folder");
        build(Some(&shared));
        assert_eq!(weights(&shared), 0);
    }
    let own = project.path("own");
    build(Some(&own));
    assert_eq!(weights(&own), 1);
    assert_eq!(fs::metadata(own.join("cotree/weights")).expect("a folder").mode() & 0o777, 0o700);
    // The same profile by another name and time has the same weights; other counts have others.
    let mut again = fs::read(project.path("p.cotree")).expect("a profile");
    fs::write(project.path("p.cotree"), &again).expect("a profile");
    build(Some(&own));
    assert_eq!(weights(&own), 1);
    again.clear();
    run(&mut project.command(project.path("program")), "p.cotree");
    build(Some(&own));
    assert_eq!(weights(&own), 2);
}

/// Names of a stranger's program command no terminal, and forge no line of a report.
#[test]
fn names_command_no_terminal() {
    let symbol = "\u{1b}]0;owned\u{7}\nexact: every count";
    let source = format!(
        "int f(void) __asm__(\"{}\");\nint f(void) {{ return 3; }} // \u{1b}[2Jgone\u{202e}\nint main(void) {{ return f() - 3; }}\n",
        symbol.replace('\u{1b}', "\\033").replace('\u{7}', "\\007").replace('\n', "\\n")
    );
    let project = Project::new(&[("main.c", source.as_str())]);
    project.ok("cc -O0 main.c -o program");
    let mut command = project.command(project.path("program"));
    assert!(run(command.arg("\u{1b}[8m"), "p.cotree").status.success());
    for view in
        ["report -v p.cotree", "annotate p.cotree", "costs p.cotree", "report p.cotree -f nosuch", "plan program"]
    {
        let output = project.cotree(view).output().expect("cotree starts");
        let shown = text(&output.stdout) + &text(&output.stderr);
        let controls = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!shown.contains(controls), "{view}: {shown:?}");
        assert_eq!(shown.matches("\nexact: every count").count(), usize::from(view.starts_with("report -v")), "{view}");
    }
    // Formats for programs have what there is, by their own rules.
    assert!(project.ok("export p.cotree").contains("\\u001b]0;owned\\u0007\\nexact"));
}
