//! Files that keep their `.live` names: what is finished counts, and what is newer and unfinished is named.

use crate::project::{Project, succeed};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Output, Stdio};

fn run(command: &mut Command, profile: &str) -> Output {
    command.env("COTREE_FILE", profile).output().expect("it starts")
}

fn said(project: &Project, line: &str) -> (String, String) {
    let output = project.cotree(line).output().expect("cotree starts");
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{line}: {err}");
    (out, err)
}

#[test]
fn finished_profiles_count_whatever_their_names_are() {
    let project = Project::new(&[
        ("drop.c", include_str!("../programs/findings/drop-privileges.c")),
        ("daemon.c", include_str!("../programs/findings/daemon.c")),
        ("main.c", "#include <sys/stat.h>\nint main(void) { return chmod(\"runs\", 0555); }\n"),
        ("runs/.keep", ""),
        ("pool/.keep", ""),
        ("jail/.keep", ""),
        ("daemon/.keep", ""),
    ]);
    let is_root = fs::metadata("/proc/self").expect("a process").uid() == 0;
    if !is_root {
        // Others have no rights to drop, but may close the folder to themselves.
        project.ok("cc -O1 main.c -o program");
        assert!(run(&mut project.command(project.path("program")), "runs/%n.%p.cotree").status.success());
        let (report, notes) = said(&project, "report runs");
        assert!(report.contains("exact: every count") && notes.is_empty(), "{report}{notes}");
        return;
    }
    project.ok("cc -O1 drop.c -o drop");
    project.ok("cc -O1 daemon.c -o daemon-program");
    fs::set_permissions(project.path("."), fs::Permissions::from_mode(0o755)).expect("a folder");
    for ending in ["exit", "exec"] {
        assert!(run(project.command(project.path("drop")).arg(ending), "runs/%n.%p.cotree").status.success());
    }
    assert!(run(project.command(project.path("drop")).arg("exit"), "pool/%n.%2m.cotree").status.success());
    let live = |folder: &str| {
        let entries =
            fs::read_dir(project.path(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "live")).count()
    };
    assert_eq!((live("runs"), live("pool")), (2, 1));
    let (report, notes) = said(&project, "report runs");
    assert!(report.contains("2 runs") && report.contains("exact: every count"), "{report}");
    assert_eq!(notes, "");
    let (report, notes) = said(&project, "report pool");
    assert!(report.contains("exact: every count") && notes.is_empty(), "{report}{notes}");
    project.ok("merge --strict -o sum.cotree runs");
    // A daemon: its own session, nothing open, another root, no rights; told to stop by its handler or by the default.
    for (round, how) in ["handler", "default"].into_iter().enumerate() {
        let folder = project.path("daemon");
        let mut daemon = project.command(project.path("daemon-program"));
        daemon.arg(project.path("jail")).arg(how).current_dir(&folder);
        assert!(run(&mut daemon, "%n.%p.cotree").status.success());
        let ready = || fs::read_to_string(folder.join("ready")).unwrap_or_default().trim().parse::<u32>().ok();
        let start = std::time::Instant::now();
        let pid = loop {
            match ready() {
                Some(pid) => break pid,
                None => assert!(start.elapsed().as_secs() < 120, "it does not begin"),
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        // It says so before it waits.
        std::thread::sleep(std::time::Duration::from_millis(50));
        succeed(Command::new("kill").arg(pid.to_string()));
        let process = std::path::PathBuf::from(format!("/proc/{pid}/root"));
        while fs::read_link(&process).is_ok() {
            assert!(start.elapsed().as_secs() < 120, "it does not end");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        fs::remove_file(folder.join("ready")).expect("a file");
        let (report, notes) = said(&project, "report daemon");
        assert!(report.contains(&format!("{} runs", 3 * (round + 1))), "{how}: {report}");
        assert!(report.contains("exact: every count") && notes.is_empty(), "{how}: {report}{notes}");
    }
}

#[test]
fn a_newer_run_that_was_cut_off_is_named() {
    let project = Project::new(&[("main.c", include_str!("../programs/findings/newest-is-live.c"))]);
    for (profile, commands) in [("edge", &["report", "export", "annotate"][..]), ("trace", &["trace", "report"])] {
        project.ok(&format!("--profile {profile} cc -O0 main.c -o program"));
        let start = |depth: &str, pattern: &str| run(project.command(project.path("program")).arg(depth), pattern);
        assert!(start("10", "a.cotree").status.success());
        assert_eq!(start("100000000", "a.cotree").status.code(), None);
        let live = fs::read_dir(project.path(".")).expect("a folder");
        let live = live.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        let live = live.into_iter().find(|name| name.ends_with(".live")).expect("a run that was cut off");
        for command in commands {
            for line in [(*command).to_owned(), format!("{command} a.cotree")] {
                let (_, notes) = said(&project, &line);
                assert!(notes.contains(&format!("{live} is newer")), "{line}: {notes}");
            }
            // It is what was asked for.
            let (_, notes) = said(&project, &format!("{command} {live}"));
            assert!(!notes.contains("is newer"), "{command}: {notes}");
        }
        if profile == "trace" {
            let (_, notes) = said(&project, "trace");
            let program = project.path("program");
            assert!(
                notes.contains("this is a.cotree, of `") && notes.contains(program.to_str().expect("text")),
                "{notes}"
            );
        }
        assert!(start("10", "a.cotree").status.success());
        let (_, notes) = said(&project, commands[0]);
        assert!(!notes.contains("is newer"), "{notes}");
        fs::remove_file(project.path(&live)).expect("a file");
        fs::remove_file(project.path("a.cotree")).expect("a file");
    }
}

/// One process, several profiles of one name: none takes another's place.
#[test]
fn profiles_of_one_process_take_no_others_place() {
    let project = Project::new(&[
        ("lib.c", "int twice(int n) { return n > 2 ? 2 * n : n + n; }\n"),
        (
            "host.c",
            "#include <dlfcn.h>\nint main(void) {\n  for (int i = 1; i <= 3; i++) {\n    void *library = dlopen(\"./libtwice.so\", RTLD_NOW);\n\
             \x20   for (int k = 0; k < i; k++) ((int (*)(int))dlsym(library, \"twice\"))(k);\n    dlclose(library);\n  }\n  return 0;\n}\n",
        ),
        (
            "again.c",
            "#include <unistd.h>\nint main(int argc, char **argv) {\n  if (argc == 1) execl(argv[0], argv[0], \"x\", (char *)0);\n  return argc - 2;\n}\n",
        ),
    ]);
    project.ok("cc -O0 -fPIC -shared lib.c -o libtwice.so");
    succeed(project.command("gcc").args(["host.c", "-o", "foreign", "-ldl"]));
    project.ok("cc -O0 host.c -o profiled -ldl");
    project.ok("cc -O0 again.c -o again");
    let entries = |profile: &str, name: &str| -> u64 {
        let json: serde_json::Value = serde_json::from_str(&project.ok(&format!("export {profile}"))).expect("JSON");
        let functions = json["units"][0]["functions"].as_array().expect("functions");
        functions.iter().find(|f| f["symbol"] == name).expect("a function")["entries"].as_u64().expect("a count")
    };
    // Later runs do take the place of earlier ones: the name says so.
    for _ in 0..2 {
        for host in ["foreign", "profiled"] {
            let mut command = project.command(project.path(host));
            assert!(command.env("COTREE_FILE", "p.cotree").stdin(Stdio::null()).status().expect("it starts").success());
            let names = ["p.libtwice.so.cotree", "p.libtwice.so.2.cotree", "p.libtwice.so.3.cotree"];
            assert_eq!(names.map(|name| entries(name, "twice")), [1, 2, 3], "{host}");
            assert!(!project.path("p.libtwice.so.4.cotree").exists());
            names.iter().for_each(|name| fs::remove_file(project.path(name)).expect("a profile"));
        }
        let mut command = project.command(project.path("again"));
        assert!(command.env("COTREE_FILE", "e.cotree").status().expect("it starts").success());
        assert_eq!([entries("e.cotree", "main"), entries("e.2.cotree", "main")], [1, 1]);
        assert!(!project.path("e.3.cotree").exists());
    }
}
