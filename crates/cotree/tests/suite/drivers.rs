//! `cotree cc` and `cargo cotree` as a build system uses them.

use crate::project::{Project, succeed};
use std::fs;
use std::process::Command;

const LINKERS: [&str; 3] = ["bfd", "gold", "mold"];

fn c() -> Project {
    Project::new(&[
        (
            "main.c",
            "#include <stdio.h>\nint square(int);\nint main(void) { printf(\"%d\\n\", square(7)); return 0; }\n",
        ),
        ("square.c", "int square(int x) { return x * x; }\n"),
        ("unused.c", "int unused(int x) { return absent(x); }\n"),
        ("a.s", ".globl answer\nanswer: ret\n.section .note.GNU-stack,\"\",@progbits\n"),
    ])
}

#[test]
fn the_demo_works_wherever_builds_go() {
    let project = Project::new(&[]);
    for (name, value) in [("CARGO_TARGET_DIR", "elsewhere"), ("NO_COLOR", "1")] {
        let said = succeed(project.cotree("demo").env(name, value));
        assert!(said.contains("exact: every count") && said.contains("queens"), "{said}");
    }
}

/// `/dev/full` is a file on a full disk.
#[test]
fn output_that_has_no_room_is_an_error() {
    let project = Project::new(&[]);
    let full = || fs::File::options().write(true).open("/dev/full").expect("a device");
    for line in ["install-tools bin", "cmake-toolchain"] {
        let output = project.cotree(line).stdout(full()).output().expect("cotree starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("write to standard output") && said.contains("No space left"), "{line}: {said}");
    }
    let status = project.cotree("report absent.cotree").stderr(full()).status().expect("cotree starts");
    assert_eq!(status.code(), Some(1), "what is wrong can't be said");
}

#[test]
fn one_command_compiles_and_links() {
    let project = c();
    for linker in LINKERS {
        for kind in ["", "-static", "-no-pie"] {
            project.ok(&format!("cc -fuse-ld={linker} {kind} -O2 main.c square.c a.s -o program"));
            assert_eq!(project.run("program"), "49\n", "{linker} {kind}");
            assert!(project.is_profiled("program"), "{linker} {kind}");
        }
    }
    project.clean();
}

#[test]
fn archives_need_no_llvm() {
    let project = c();
    project.ok("cc -c -Wno-implicit-function-declaration -std=gnu89 main.c square.c unused.c");
    project.ok("ar rcs libparts.a square.o unused.o");
    assert!(project.ok("nm -s libparts.a").contains("square in square.o"));
    for linker in LINKERS {
        project.ok(&format!("cc -fuse-ld={linker} main.o libparts.a -o program"));
        assert_eq!(project.run("program"), "49\n");
    }
}

#[test]
fn an_archive_without_an_index_is_named() {
    let project = c();
    project.ok("cc -c main.c square.c");
    // As an `ar` leaves it that does not know bitcode.
    let status = project.command("ar").args(["rcS", "libparts.a", "square.o"]).status().expect("ar starts");
    assert!(status.success());
    for line in ["cc main.o libparts.a -o program", "cc main.o -L. -lparts -o program"] {
        let link = project.cotree(line).output().expect("cotree starts");
        let text = String::from_utf8_lossy(&link.stderr);
        assert!(
            !link.status.success() && text.contains("libparts.a holds bitcode that its index does not list"),
            "{text}"
        );
    }
    project.ok("ranlib libparts.a");
    project.ok("cc main.o libparts.a -o program");
    assert_eq!(project.run("program"), "49\n");
}

#[test]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let project = c();
    let folder = std::ffi::OsStr::from_bytes(b"caf\xE9");
    std::fs::create_dir(project.path(".").join(folder)).expect("a folder");
    let program = std::path::Path::new(folder).join("program");
    let built = project.cotree("cc -O1 main.c square.c -o").arg(&program).output().expect("cotree starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run =
        project.command(project.path(".").join(&program)).env("COTREE_FILE", "p.cotree").output().expect("it runs");
    assert_eq!(run.stdout, b"49\n");
    assert!(project.ok("report p.cotree").contains("exact: every count"));
    // `-` is standard output, where that makes sense.
    assert!(project.ok("export --format json p.cotree -o -").starts_with('{'));
    assert!(project.fails("merge p.cotree -o -").contains("goes into a file"));
    assert!(!project.path("-").exists());
}

#[test]
fn libraries_and_partial_links() {
    let project = c();
    project.ok("cc -shared -fPIC square.c -o libsquare.so");
    assert!(project.is_profiled("libsquare.so"));
    project.ok("cc main.c -L. -lsquare -Wl,-rpath,$ORIGIN -o program");
    assert_eq!(project.run("program"), "49\n");
    for part in ["main", "square"] {
        let warning = project.cotree(&format!("cc -r {part}.c -o {part}.o")).output().expect("cotree starts");
        assert!(warning.status.success());
        let text = String::from_utf8_lossy(&[warning.stdout, warning.stderr].concat()).into_owned();
        assert!(text.contains("is a partial link (-r)"), "{text}");
    }
    project.ok("cc main.o square.o -o program");
    assert_eq!(project.run("program"), "49\n");
    // Beside one, the rest of the program is counted.
    project.ok("--verify cc main.o square.c -o program");
    assert_eq!(succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree")), "49\n");
    project.ok("verify --strict p.cotree");
}

#[test]
fn threads_start_in_every_kind_of_link() {
    let project = Project::new(&[(
        "main.c",
        "#include <pthread.h>\n#include <stdio.h>\n\
         static void *work(void *p) { for (int i = 0; i < 1000; i++) ++*(long *)p; return p; }\n\
         int main(void) { pthread_t t; long n = 0; pthread_create(&t, 0, work, &n); pthread_join(t, 0);\n\
         printf(\"%ld\\n\", n); return 0; }\n",
    )]);
    for linker in LINKERS {
        for flags in ["", "-static", "-fno-lto -static", "-fno-lto", "-Wl,--gc-sections"] {
            project.ok(&format!("cc -pthread -O2 -fuse-ld={linker} {flags} main.c -o program"));
            assert_eq!(project.run("program"), "1000\n", "{linker} {flags}");
        }
    }
}

/// A handler whose own file does not say that it is one, and per-thread counters of every kind.
#[test]
fn handlers_and_threads_across_files() {
    let project = Project::new(&[
        (
            "main.c",
            "#include <pthread.h>\n#include <signal.h>\n#include <string.h>\n#include <sys/time.h>\n\
             void on_alarm(int); int shared(int); extern volatile int hits;\n\
             static void *work(void *p) { while (hits < 500) shared(60); return p; }\n\
             int main(void) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = on_alarm;\n\
             sigaction(SIGALRM, &a, 0); struct itimerval e = {{0, 200}, {0, 200}}; setitimer(ITIMER_REAL, &e, 0);\n\
             pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0);\n\
             memset(&e, 0, sizeof e); setitimer(ITIMER_REAL, &e, 0); return 0; }\n",
        ),
        (
            "other.c",
            "volatile int hits; static volatile int level;\n\
             int shared(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & level) s += i; return s; }\n\
             void on_alarm(int s) { (void)s; hits++; level += shared(19); }\n",
        ),
    ]);
    for threads in ["auto", "word"] {
        project.ok(&format!("--verify --threads {threads} cc -O0 -pthread main.c other.c -o main"));
        project.run("main");
        project.ok("verify");
        fs::remove_file(project.path("main")).expect("it was built");
        for profile in fs::read_dir(project.path("")).expect("a folder") {
            let path = profile.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "cotree") {
                fs::remove_file(path).expect("a file");
            }
        }
    }
}

/// A handler that only machine code installs.
#[test]
fn handlers_that_native_objects_install() {
    let project = Project::new(&[
        (
            "main.c",
            "#include <signal.h>\n#include <sys/time.h>\n\
             void install(int, void (*)(int)); static volatile int hits; static volatile long level;\n\
             __attribute__((noinline)) static long shared(long n) { long s = 0;\n\
             for (long i = 0; i < n; i++) { if ((s ^ i) & 1) s += i * 3; else s ^= i; if (s % 5 == 0) s++; } return s; }\n\
             static void on_alarm(int s) { (void)s; hits++; level += shared(50); }\n\
             int main(void) { install(SIGALRM, on_alarm); struct itimerval e = {{0, 100}, {0, 100}};\n\
             setitimer(ITIMER_REAL, &e, 0); while (hits < 800) level += shared(2000);\n\
             e.it_value.tv_usec = 0; setitimer(ITIMER_REAL, &e, 0); return 0; }\n",
        ),
        (
            "native.c",
            "#include <signal.h>\n#include <string.h>\n\
             void install(int s, void (*f)(int)) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = f; sigaction(s, &a, 0); }\n",
        ),
    ]);
    succeed(project.command("gcc").args(["-O1", "-c", "native.c"]));
    succeed(project.command("ar").args(["rcs", "libnative.a", "native.o"]));
    for native in ["native.o", "libnative.a", "-fuse-ld=mold native.o", "-fuse-ld=gold libnative.a"] {
        project.ok(&format!("--at early --verify cc -O2 main.c {native} -o main"));
        succeed(project.command(project.path("main")).env("COTREE_FILE", "p.cotree"));
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn what_clang_does_without_linking_stays_clangs() {
    let project = c();
    assert!(
        project.ok("cc -S -o - main.c").contains("\tcallq\tsquare")
            || project.ok("cc -S -o - main.c").contains("square@PLT")
    );
    assert!(project.ok("cc -E main.c").contains("int square(int);"));
    assert_eq!(project.ok("cc -MM main.c").trim(), "main.o: main.c");
    assert!(project.ok("cc --version").contains("clang version"));
    assert!(project.ok("c++ -dumpmachine").contains("linux"));
    assert!(project.fails("cc").contains("no input files"));
    assert!(project.fails("cc -c absent.c").contains("no such file or directory"));
    project.ok("cc -fsyntax-only main.c");
    project.ok("cc -c a.s -o a.o");
    project.ok("cc -### main.c");
    fs::write(project.path("line"), "-c main.c -o 'a file.o'").expect("a file");
    project.ok("cc @line");
    assert!(fs::read(project.path("a file.o")).expect("an object").starts_with(b"BC"));
    let tool = project.ok("cc -print-prog-name=ar");
    assert!(succeed(Command::new(tool.trim()).arg("--version")).contains("GNU ar"));
}

#[test]
fn refused_optimisation_leaves_native_code() {
    let project = c();
    for linker in LINKERS {
        for kind in ["", "-static"] {
            project.ok(&format!("cc -fno-lto -fuse-ld={linker} {kind} main.c square.c -o program"));
            assert_eq!(project.run("program"), "49\n", "{linker} {kind}");
            assert!(!project.is_profiled("program"), "{linker} {kind}");
        }
    }
    project.ok("cc -flto=thin main.c square.c -o program");
    assert!(project.is_profiled("program"));
}

#[test]
fn options_reach_the_link() {
    let project = c();
    project.ok("--profile none cc -O2 main.c square.c -o program");
    assert!(!project.is_profiled("program"));
    succeed(project.cotree("cc -O2 main.c square.c -o program").env("COTREE_PROFILE", "none"));
    assert!(!project.is_profiled("program"));
    succeed(project.cotree("--profile=block cc -O2 main.c square.c -o program").env("COTREE_PROFILE", "none"));
    assert!(project.is_profiled("program"));
    project.ok("--at early cc -O2 main.c square.c -o program");
    assert_eq!(project.run("program"), "49\n");
    assert!(project.fails("--profile fine cc main.c").contains("invalid value 'fine' for '--profile"));
    assert!(project.fails("cc -fuse-ld=lld main.c square.c").contains("lld loads no plugins"));
    let mut absent = project.cotree("cc main.c");
    let output = absent.env("COTREE_CC", "no-such-clang").output().expect("cotree starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-clang was not found in PATH"));
    project.clean();
}

#[test]
fn a_linker_without_inputs_does_as_the_linker_does() {
    let project = c();
    let quiet = |line: &str| {
        let output = project.cotree(line).output().expect("cotree starts");
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    for flag in ["-v", "--version", "-v -L /lib -m elf_x86_64 -o out"] {
        let (success, text) = quiet(&format!("ld {flag}"));
        assert!(success && text.starts_with("GNU ld"), "{text}");
        assert!(!text.contains("warning"), "{text}");
    }
    assert!(quiet("ld").1.contains("no input files"));
    assert!(quiet("ld --help").0);
    assert!(!project.path("a.out").exists() && !project.path("out").exists());
}

#[test]
fn what_is_wrong_with_the_surroundings_is_said_in_a_sentence() {
    let project = c();
    let complaint = |command: &mut Command| {
        let output = command.output().expect("cotree starts");
        assert!(!output.status.success(), "{command:?}");
        let text = String::from_utf8_lossy(&output.stderr).replace("│ ", "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = complaint(project.cotree("cc main.c").env("COTREE_CC", "gcc"));
    assert!(text.contains("COTREE_CC names gcc, which is not clang"), "{text}");
    assert!(text.contains("set COTREE_CC to a clang"), "{text}");
    let text = complaint(&mut project.cotree("cargo build"));
    assert!(text.contains("there is no Cargo.toml in") && text.contains("or name its manifest"), "{text}");
    for (path, reason) in [("/no/such/library", "No such file"), ("/tmp", "it is a folder"), ("/etc/passwd", "ELF")] {
        let text = complaint(project.cotree("cc main.c square.c -o program").env("COTREE_LLVM", path));
        assert!(text.contains(&format!("cannot use LLVM from {path}")) && text.contains(reason), "{text}");
        assert!(text.contains("in COTREE_LLVM"), "{text}");
    }
}

#[test]
fn a_folder_is_no_name_for_a_profile() {
    let project = c();
    project.ok("cc main.c square.c -o program");
    for name in ["tmp", "tmp/"] {
        let output = project.command(project.path("program")).env("COTREE_FILE", name).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("no profile: COTREE_FILE names"), "{text}");
        assert!(text.contains("add the name of a file in it, such as /%n.%p.cotree"), "{text}");
    }
}

#[test]
fn other_names_are_other_commands() {
    let project = c();
    for (name, line) in
        [("cotree-cc", "-O1 main.c square.c -o program"), ("cotree-c++", "-x c++ -fsyntax-only square.c")]
    {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cotree"), project.path(name)).expect("a link");
        succeed(project.command(project.path(name)).args(line.split(' ')));
    }
    assert!(project.is_profiled("program"));
}

#[test]
fn cmake_builds_with_one_setting() {
    let project = Project::new(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.13)\nproject(p C CXX)\ninclude(CheckIPOSupported)\ncheck_ipo_supported()\nadd_library(square STATIC square.c)\nadd_executable(program main.cpp)\ntarget_link_libraries(program square)\nset_target_properties(square program PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)\n",
        ),
        ("square.c", "int square(int x) { return x * x; }\n"),
        (
            "main.cpp",
            "#include <cstdio>\nextern \"C\" int square(int);\nint main() { std::printf(\"%d\\n\", square(7)); }\n",
        ),
    ]);
    let toolchain = project.ok("cmake-toolchain");
    let mut configure = project.command("cmake");
    succeed(
        configure
            .args(["-B", "build", "-DCMAKE_BUILD_TYPE=Release"])
            .arg(format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.trim())),
    );
    succeed(project.command("cmake").args(["--build", "build"]));
    assert_eq!(project.run("build/program"), "49\n");
    assert!(project.is_profiled("build/program"));
    let mut homeless = project.cotree("cmake-toolchain");
    let output = homeless.env("XDG_CACHE_HOME", project.path("square.c")).output().expect("cotree starts");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no cache folder"));
}

#[test]
fn no_cache_is_needed() {
    let project = c();
    // A file where the folder should be.
    succeed(project.cotree("cc main.c square.c -o program").env("XDG_CACHE_HOME", project.path("main.c")));
    assert_eq!(project.run("program"), "49\n");
    project.clean();
}

fn rust() -> Project {
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    Project::new(&[
        ("Cargo.toml", &manifest("demo", "[dependencies]\nmacros = { path = \"macros\" }\n[workspace]\n")),
        ("build.rs", "fn main() { println!(\"cargo::rustc-env=BUILT=built\"); }"),
        (
            "src/lib.rs",
            "/// ```\n/// assert_eq!(demo::n(), 42);\n/// ```\npub fn n() -> u32 { macros::answer!() }\n#[test]\nfn works() { assert_eq!(n(), 42); }",
        ),
        ("src/main.rs", "fn main() { println!(\"{} {}\", demo::n(), env!(\"BUILT\")); }"),
        ("macros/Cargo.toml", &manifest("macros", "[lib]\nproc-macro = true\n")),
        (
            "macros/src/lib.rs",
            "#[proc_macro]\npub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"42u32\".parse().unwrap() }",
        ),
    ])
}

#[test]
fn cargo_builds_runs_and_tests() {
    let project = rust();
    assert_eq!(project.ok("cargo run -q"), "42 built\n");
    let program = "target/cotree/x86_64-unknown-linux-gnu/debug/demo";
    assert!(project.is_profiled(program));
    // Cargo links `deps/demo-HASH`; the profile has the name of what was run.
    let is_named = |name: &str| name.strip_prefix("demo.").is_some_and(|rest| rest.ends_with(".cotree"));
    let names = fs::read_dir(project.path("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(names.filter(|name| is_named(&name.to_string_lossy())).count(), 1);
    let tests = project.ok("cargo test");
    assert_eq!(tests.matches("1 passed").count(), 2, "{tests}");
    // Other options, another build; in the profile that has no debug information by itself.
    assert_eq!(project.ok("--profile none cargo run -q"), "42 built\n");
    assert!(!project.is_profiled(program));
    assert_eq!(project.ok("cargo --profile block run -q --release"), "42 built\n");
    assert!(project.is_profiled("target/cotree/x86_64-unknown-linux-gnu/release/demo"));
    assert!(project.fails("cargo publish").contains("`cargo publish` builds no program"));
}

#[test]
fn cargos_own_subcommand_is_the_same() {
    let project = rust();
    let mut command = project.command(env!("CARGO_BIN_EXE_cargo-cotree"));
    assert_eq!(succeed(command.args(["cotree", "--profile", "none", "run", "-q"])), "42 built\n");
}

#[test]
fn flags_of_the_user_stay() {
    let project = rust();
    let main = "fn main() { println!(\"{} {}\", cfg!(from_config), cfg!(from_environment)); }";
    fs::write(project.path("src/main.rs"), main).expect("a file");
    fs::create_dir(project.path(".cargo")).expect("a folder");
    for table in ["build", "target.x86_64-unknown-linux-gnu", "target.'cfg(unix)'"] {
        for flags in ["'--cfg from_config'", "['--cfg', 'from_config']"] {
            let config = format!("[{table}]\nrustflags = {flags}");
            fs::write(project.path(".cargo/config.toml"), &config).expect("a file");
            assert_eq!(project.ok("--profile none cargo run -q"), "true false\n", "{config}");
        }
    }
    // As cargo has it: the variable puts the files aside.
    let mut command = project.cotree("--profile none cargo run -q");
    assert_eq!(succeed(command.env("RUSTFLAGS", "--cfg from_environment")), "false true\n");
}
