//! Links that get no runtime: nothing of cotree stands in the way of the program's own references.

use crate::project::{Project, succeed};

macro_rules! finding {
    ($name:literal) => {
        include_str!(concat!("../programs/findings/", $name))
    };
}

/// A weak reference to what cotree would stand in front of leads where it leads without cotree.
#[test]
fn weak_references_without_a_runtime() {
    let project = Project::new(&[
        ("cleanup.c", finding!("use-none-pthread-cleanup.c")),
        ("weak.c", finding!("use-none-weak-references.c")),
    ]);
    for source in ["cleanup.c", "weak.c"] {
        let said = |command: &mut std::process::Command| {
            let output = command.env("COTREE_FILE", "p.cotree").output().expect("it starts");
            (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
        };
        succeed(project.command("cc").args(["-w", source, "-o", "plain"]));
        let plain = said(&mut project.command(project.path("plain")));
        project.ok(&format!("cc -O1 -w {source} -o counted"));
        assert_eq!(said(&mut project.command(project.path("counted"))), plain, "{source}");
        for (options, linker) in [
            ("--profile none", ""),
            ("--use p.cotree", ""),
            ("--profile none", "-fuse-ld=mold"),
            ("--profile none", "-fuse-ld=gold"),
            ("--profile none", "-static"),
        ] {
            if linker == "-static" && source == "weak.c" {
                continue; // its references are weak alone: what the archive of the C library has is for the linker to say
            }
            project.ok(&format!("{options} cc -O1 -w {linker} {source} -o program"));
            assert_eq!(said(&mut project.command(project.path("program"))), plain, "{options} {linker} {source}");
        }
        std::fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// A program without any code of `cotree cc` is told to have no profile, and is linked as without cotree.
#[test]
fn foreign_objects_alone() {
    let weak = finding!("use-none-weak-references.c");
    let project = Project::new(&[
        ("weak.c", weak),
        ("f.c", "int f(void) { return 0; }\n"),
        ("m.c", "int f(void); int main(void) { return f(); }\n"),
    ]);
    let said = |line: &str| {
        let output = project.cotree(line).output().expect("cotree starts");
        assert!(output.status.success(), "{line}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    succeed(project.command("cc").args(["-w", "-c", "weak.c", "-o", "weak.o"]));
    assert!(said("cc weak.o -o program").contains("program is linked from native code alone"));
    assert!(project.command(project.path("program")).output().expect("it starts").stdout.starts_with(b"11111111"));
    assert_eq!(said("--profile none cc weak.o -o program"), "");
    assert_eq!(said("cc -r weak.o -o part.o"), "");
    // Bitcode in a library counts.
    project.ok("cc -c f.c -o f.o");
    succeed(project.command(env!("CARGO_BIN_EXE_cotree")).args(["ar", "rc", "libf.a", "f.o"]));
    succeed(project.command("cc").args(["-c", "m.c", "-o", "m.o"]));
    assert_eq!(said("cc m.o -L. -lf -o program"), "");
    assert!(project.is_profiled("program"));
}

/// Rust's static executables, which may be loaded anywhere or not, hold no trace of a shared C library and leave a
/// profile.
#[test]
fn static_rust() {
    let project = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"still\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/main.rs", "fn main() {\n    std::thread::spawn(|| println!(\"hello\")).join().expect(\"it ends\");\n}\n"),
    ]);
    for model in ["pic", "static"] {
        let flags = format!("-Ctarget-feature=+crt-static -Crelocation-model={model}");
        let mut command = project.cotree("cargo run -q");
        let said = succeed(command.env("RUSTFLAGS", flags).env("COTREE_FILE", "p.cotree"));
        assert_eq!(said, "hello\n", "{model}");
        let report = project.ok("report p.cotree");
        assert!(report.contains("exact: every count"), "{model}: {report}");
        std::fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// The answers for `configure` are what a shell takes them for, and a user's own win.
#[test]
fn answers_for_configure() {
    let project = Project::new(&[]);
    project.ok("install-tools tools");
    let ask = |before: &str| {
        let script =
            format!("{before} . ./tools/config.site; echo $ax_cv_c_float_words_bigendian $gmp_cv_c_double_format");
        succeed(project.command("sh").args(["-euc", &script]))
    };
    assert_eq!(ask(""), "no IEEE little endian\n");
    assert_eq!(ask("ax_cv_c_float_words_bigendian=yes;"), "yes IEEE little endian\n");
}
