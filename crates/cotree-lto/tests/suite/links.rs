//! The plugin inside of real linkers, with a stand-in for `cotree` that compiles bitcode as it is.

use cotree_lto::protocol::{LinkRequest, ModuleInput, OutputKind, Resolution};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const LINKERS: [&str; 3] = ["bfd", "gold", "mold"];

/// A folder of sources and products.
struct Bench {
    dir: TempDir,
    clang: String,
}

impl Bench {
    fn new() -> Bench {
        Bench::with_clang(*clangs().last().expect("a clang is installed"))
    }

    fn with_clang(version: u32) -> Bench {
        let bench = Bench { dir: TempDir::new().expect("a folder"), clang: format!("clang-{version}") };
        fs::create_dir(bench.path("tmp")).expect("a folder");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a C source to bitcode (or what `flags` make of it).
    fn compile(&self, object: &str, flags: &[&str], source: &str) {
        let file = format!("{object}.c");
        fs::write(self.path(&file), source).expect("a source");
        let mut command = Command::new(&self.clang);
        self.succeed(command.args(["-O1", "-flto", "-fPIC", "-o", object, "-c"]).args(flags).arg(&file));
    }

    fn tool(&self, name: &str, arguments: &[&str]) {
        self.succeed(Command::new(name).args(arguments));
    }

    fn succeed(&self, command: &mut Command) -> Output {
        let output = self.run(command);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn run(&self, command: &mut Command) -> Output {
        command.current_dir(self.dir.path()).env("TMPDIR", self.path("tmp")).env("LC_ALL", "C");
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    fn linker(&self, linker: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("gcc");
        command
            .args([format!("-fuse-ld={linker}"), format!("-Wl,-plugin,{}", plugin().display())])
            .args([format!("-Wl,-plugin-opt=cotree-driver={}", fake().display()), "-o".into(), "out".into()])
            .args(arguments)
            .env("FAKE_COTREE_LOG", self.path("request.json"));
        command
    }

    /// Links, and returns what the plugin asked for.
    fn link(&self, linker: &str, arguments: &[&str]) -> LinkRequest {
        self.succeed(&mut self.linker(linker, arguments));
        self.nothing_left_behind();
        serde_json::from_slice(&fs::read(self.path("request.json")).expect("a request")).expect("of the protocol")
    }

    fn nothing_left_behind(&self) {
        let left: Vec<_> = fs::read_dir(self.path("tmp"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .filter(|name| name.starts_with("cotree-"))
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    fn output_of_program(&self) -> String {
        String::from_utf8(self.succeed(&mut Command::new("./out")).stdout).expect("text")
    }
}

fn clangs() -> Vec<u32> {
    let installed = |version: &u32| Path::new(&format!("/usr/bin/clang-{version}")).exists();
    (14..40).filter(installed).collect()
}

/// The newest: archives' indices need to be made by one that reads the members.
fn llvm_ar() -> String {
    format!("llvm-ar-{}", clangs().last().expect("a clang is installed"))
}

/// The folder `target/debug`.
fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().and_then(Path::parent).expect("it is in deps").to_owned()
}

fn plugin() -> PathBuf {
    let candidates = [target().join("libcotree_lto.so"), target().join("deps/libcotree_lto.so")];
    let newest = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    candidates.into_iter().max_by_key(newest).expect("the plugin is built along with its tests")
}

fn fake() -> PathBuf {
    target().join("examples/fake-cotree")
}

fn resolution(module: &ModuleInput, name: &str) -> Resolution {
    let symbol = module.symbols.iter().find(|symbol| symbol.name == name);
    symbol.unwrap_or_else(|| panic!("{name} is in {}", module.name)).resolution
}

fn names(request: &LinkRequest) -> Vec<&str> {
    request.modules.iter().map(|module| module.name.split('+').next().expect("a name")).collect()
}

const PRINT: &str = "int printf(const char*, ...);";

#[test]
fn archives_give_only_what_is_needed() {
    for clang in clangs() {
        let bench = Bench::with_clang(clang);
        bench.compile("main.o", &[], &format!("{PRINT} int f(void); int main(void) {{ printf(\"%d\", f()); }}"));
        bench.compile("f.o", &[], "int f(void) { return 7; }");
        bench.compile("g.o", &[], "int f(void) { return 8; } int g(void) { return 9; }");
        bench.tool(&llvm_ar(), &["rcs", "libf.a", "f.o", "g.o"]);
        bench.tool(&llvm_ar(), &["rcsT", "libthin.a", "f.o", "g.o"]);
        for linker in LINKERS {
            for (archive, member) in [("libf.a", "libf.a"), ("libthin.a", "f.o")] {
                let request = bench.link(linker, &["main.o", archive]);
                assert_eq!(bench.output_of_program(), "7");
                assert_eq!(names(&request).len(), 2, "{linker}: {request:?}");
                assert!(names(&request)[1].ends_with(member), "{linker}: {request:?}");
                assert_eq!(resolution(&request.modules[0], "main"), Resolution::Prevailing);
                assert_eq!(resolution(&request.modules[0], "f"), Resolution::Elsewhere);
                assert_eq!(resolution(&request.modules[1], "f"), Resolution::PrevailingInternal);
                assert!(request.native_references.is_empty(), "{linker}: {:?}", request.native_references);
            }
        }
    }
}

#[test]
fn the_kind_of_output_is_told() {
    let bench = Bench::new();
    bench.compile("main.o", &[], "int main(void) { return 0; } int api(void) { return 1; }");
    for linker in LINKERS {
        assert_eq!(bench.link(linker, &["main.o", "-pie"]).kind, OutputKind::Pie);
        assert_eq!(bench.link(linker, &["main.o", "-no-pie"]).kind, OutputKind::Executable);
        let request = bench.link(linker, &["main.o", "-shared", "-Wl,-Map,map"]);
        assert_eq!((request.kind, request.output), (OutputKind::Shared, PathBuf::from("out")));
        assert_eq!(resolution(&request.modules[0], "api"), Resolution::PrevailingExported, "{linker}");
        // gold knows no `--no-dynamic-linker`, which a static PIE needs.
        for flag in if linker == "gold" { &["-static"][..] } else { &["-static", "-static-pie"] } {
            assert!(bench.link(linker, &["main.o", flag]).is_static, "{linker} {flag}");
            bench.output_of_program();
        }
        let mixed = ["main.o", "-Wl,-Bstatic", "-lm", "-Wl,-Bdynamic"];
        assert!(!bench.link(linker, &mixed).is_static, "{linker}");
        if linker != "mold" {
            assert_eq!(bench.link(linker, &["main.o", "-r", "-nostdlib"]).kind, OutputKind::Relocatable);
        }
    }
}

#[test]
fn weak_symbols_follow_the_linker() {
    let bench = Bench::new();
    let print =
        format!("{PRINT} int __attribute__((weak)) f(void) {{ return 1; }} int absent(void) __attribute__((weak));");
    bench.compile("main.o", &[], &format!("{print} int main(void) {{ printf(\"%d %d\", f(), !absent); }}"));
    bench.compile("strong.o", &[], "int f(void) { return 2; }");
    for linker in LINKERS {
        let request = bench.link(linker, &["main.o", "strong.o", "-no-pie"]);
        assert_eq!(bench.output_of_program(), "2 1");
        assert_eq!(resolution(&request.modules[0], "f"), Resolution::Elsewhere, "{linker}");
        assert_eq!(resolution(&request.modules[0], "absent"), Resolution::Undefined, "{linker}");
        assert_eq!(resolution(&request.modules[1], "f"), Resolution::PrevailingInternal, "{linker}");
    }
}

#[test]
fn the_largest_tentative_definition_wins() {
    let bench = Bench::new();
    bench.compile(
        "main.o",
        &["-fcommon"],
        &format!("{PRINT} int a[1]; int f(void); int main(void) {{ printf(\"%d\", f()); }}"),
    );
    bench.compile(
        "f.o",
        &["-fcommon"],
        "int a[1000], b[1000]; int f(void) { for (int i = 0; i < 1000; i++) a[i] = 1; return b[0]; }",
    );
    // mold 1.10 lets the first win, in native objects too.
    for linker in ["bfd", "gold"] {
        let request = bench.link(linker, &["main.o", "f.o"]);
        assert_eq!(bench.output_of_program(), "0", "{linker}");
        for module in &request.modules {
            assert_eq!(resolution(module, "a"), Resolution::Prevailing, "{linker}");
        }
    }
}

#[test]
fn what_assembly_or_wrap_refers_to_stays_visible() {
    let bench = Bench::new();
    let assembly = "__asm__(\".text\\n.globl via\\nvia: jmp target\\n\");";
    bench.compile(
        "main.o",
        &[],
        &format!("{PRINT} {assembly} int via(void), g(void); int main(void) {{ printf(\"%d %d\", via(), g()); }}"),
    );
    bench.compile(
        "f.o",
        &[],
        "int target(void) { return 5; } int g(void) { return 1; } int __wrap_g(void) { return 6; }",
    );
    for linker in LINKERS {
        let request = bench.link(linker, &["main.o", "f.o", "-no-pie", "-Wl,--wrap=g"]);
        assert_eq!(bench.output_of_program(), "5 6", "{linker}");
        assert_eq!(resolution(&request.modules[1], "target"), Resolution::Prevailing, "{linker}");
    }
}

#[test]
fn comdats_sections_and_constructors_survive() {
    let bench = Bench::new();
    let shared =
        "template<int N> __attribute__((noinline)) int twice(int x) { static int calls; return x * N + ++calls; }";
    let cxx = |flags: &[&str], name: &str, text: String| bench.compile(name, &[&["-x", "c++"], flags].concat(), &text);
    cxx(
        &[],
        "main.o",
        format!("extern \"C\" {PRINT} {shared} int f(); int main() {{ printf(\"%d %d\", twice<2>(1), f()); }}"),
    );
    cxx(&[], "f.o", format!("{shared} int f() {{ return twice<2>(2); }}"));
    cxx(&[], "c.o", format!("extern \"C\" {PRINT} static struct S {{ S() {{ printf(\"c \"); }} }} s;"));
    for linker in LINKERS {
        let request = bench.link(linker, &["main.o", "f.o", "c.o", "-Wl,--gc-sections"]);
        assert_eq!(bench.output_of_program(), "c 3 6", "{linker}");
        let copies = request.modules.iter().take(2).map(|module| resolution(module, "_Z5twiceILi2EEii"));
        let prevailing = copies.filter(|&copy| copy != Resolution::Elsewhere).count();
        assert_eq!(prevailing, 1, "{linker}");
    }
}

#[test]
fn native_objects_show_what_they_refer_to() {
    let bench = Bench::new();
    bench.compile("main.o", &[], "void t(void); int main(void) { t(); }");
    let native = "typedef unsigned long T; int pthread_create(T*, void*, void*(*)(void*), void*); void *f(void*); void t(void) { T x; pthread_create(&x, 0, f, 0); } void *f(void *p) { return p; }";
    bench.compile("t.o", &["-fno-lto"], native);
    for linker in LINKERS {
        let request = bench.link(linker, &["main.o", "t.o"]);
        assert_eq!(request.native_references, ["pthread_create"], "{linker}");
    }
}

#[test]
fn bitcode_inside_of_an_object_is_taken() {
    let bench = Bench::new();
    bench.compile("main.o", &["-ffat-lto-objects"], "int main(void) { return 0; }");
    assert!(fs::read(bench.path("main.o")).expect("an object").starts_with(b"\x7fELF"));
    // mold keeps such objects to itself and links their native code.
    for linker in ["bfd", "gold"] {
        let request = bench.link(linker, &["main.o"]);
        assert_eq!(names(&request), ["main.o"], "{linker}");
        assert_ne!(request.modules[0].offset, 0);
    }
}

#[test]
fn gcc_keeps_its_own_objects() {
    let bench = Bench::new();
    // gcc's plugin counts our references as references from its own code: a program can't be split between the two
    // compilers' LTO at will. Where gcc's object keeps its symbols, the two go together.
    bench.compile("main.o", &[], &format!("{PRINT} int f(void); int main(void) {{ printf(\"%d\", f()); }}"));
    let kept = "int __attribute__((used, externally_visible)) f(void) { return 3; }";
    fs::write(bench.path("f.c"), kept).expect("a source");
    bench.tool("gcc", &["-O1", "-flto", "-c", "f.c"]);
    let request = bench.link("bfd", &["-flto", "main.o", "f.o"]);
    assert_eq!(bench.output_of_program(), "3");
    assert_eq!(names(&request), ["main.o"]);
    assert_eq!(resolution(&request.modules[0], "f"), Resolution::Elsewhere);
}

#[test]
fn without_bitcode_nothing_happens() {
    let bench = Bench::new();
    bench.compile("main.o", &["-fno-lto"], "int main(void) { return 0; }");
    for linker in LINKERS {
        bench.succeed(bench.linker(linker, &["main.o"]).env("FAKE_COTREE_FAILS", "it was started"));
    }
}

#[test]
fn bitcode_without_a_table_is_written_again() {
    let bench = Bench::new();
    bench.compile("whole.o", &[], "int main(void) { return 0; }");
    let mut bitcode = fs::read(bench.path("whole.o")).expect("bitcode");
    // Identification, module, symbol table, names: leave out the third.
    let table = block_end(&bitcode, block_end(&bitcode, 4));
    let names = block_end(&bitcode, table);
    bitcode.drain(table..names);
    fs::write(bench.path("main.o"), &bitcode).expect("a file");
    for linker in LINKERS {
        let request = bench.link(linker, &["main.o"]);
        assert_eq!(request.modules[0].path.extension(), Some("bc".as_ref()));
        assert_eq!(resolution(&request.modules[0], "main"), Resolution::Prevailing);
        bench.output_of_program();
    }
    // Without the names LLVM can't read it either.
    bitcode.truncate(table);
    fs::write(bench.path("main.o"), &bitcode).expect("a file");
    let output = bench.run(&mut bench.linker("bfd", &["main.o"]));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(message.contains("main.o can't be linked as it is (it has no symbol table for linkers)"), "{message}");
    assert!(message.contains("lto-symtab"), "{message}");
    bench.nothing_left_behind();
    // Pasted files: the table of the last one says nothing of the first.
    bench.compile("other.o", &[], "int other(void) { return 0; }");
    let whole = fs::read(bench.path("whole.o")).expect("bitcode");
    let other = fs::read(bench.path("other.o")).expect("bitcode");
    fs::write(bench.path("main.o"), [&whole[..], &other[4..]].concat()).expect("a file");
    let output = bench.run(&mut bench.linker("bfd", &["main.o"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it was pasted together from several files"));
}

/// Where the block that begins at a byte ends: id and width take less than a word, then comes its length in words.
fn block_end(data: &[u8], start: usize) -> usize {
    let words = u32::from_le_bytes(data[start + 4..start + 8].try_into().expect("four bytes"));
    start + 8 + words as usize * 4
}

#[test]
fn failures_are_one_sentence() {
    let bench = Bench::new();
    bench.compile("main.o", &[], "int main(void) { return 0; }");
    let bitcode = fs::read(bench.path("main.o")).expect("bitcode");
    fs::write(bench.path("cut.o"), &bitcode[..bitcode.len() / 2]).expect("a file");
    for linker in LINKERS {
        let said = |command: &mut Command, sentence: &str| {
            let output = bench.run(command);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{linker}");
            assert!(message.contains(sentence), "{linker}: {message}");
            bench.nothing_left_behind();
        };
        said(&mut bench.linker(linker, &["cut.o"]), "cotree: cut.o holds damaged LLVM bitcode: it ends in the middle");
        said(bench.linker(linker, &["main.o"]).env("FAKE_COTREE_FAILS", "no such pass"), "cotree: no such pass");
        said(
            bench.linker(linker, &["main.o"]).env("FAKE_COTREE_FAILS", ""),
            "fake-cotree lto-link` ended with status 3",
        );
        said(&mut bench.linker(linker, &["main.o", "-Wl,-plugin-opt=cotree-driver=/absent"]), "can't start /absent");
        let warning = bench.succeed(bench.linker(linker, &["main.o"]).env("FAKE_COTREE_WARNS", "mind the gap"));
        // GNU ld prints warnings of plugins to standard output.
        let text = [warning.stdout, warning.stderr].concat();
        assert!(String::from_utf8_lossy(&text).contains("cotree: mind the gap"), "{linker}");
    }
}

/// LLVM has crashed: the link is done again, with care.
#[test]
fn a_crash_is_no_end() {
    let bench = Bench::new();
    bench.compile("main.o", &[], "int main(void) { return 0; }");
    for linker in LINKERS {
        bench.succeed(bench.linker(linker, &["main.o"]).env("FAKE_COTREE_CRASHES", "1"));
        bench.nothing_left_behind();
        bench.output_of_program();
    }
}

#[test]
fn a_link_that_fails_later_leaves_nothing_behind() {
    let bench = Bench::new();
    bench.compile("main.o", &[], "int absent(void); int main(void) { return absent(); }");
    // mold ends without giving anyone a chance.
    for linker in ["bfd", "gold"] {
        let output = bench.run(&mut bench.linker(linker, &["main.o"]));
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("absent"), "{linker}");
        bench.nothing_left_behind();
    }
}

#[test]
fn ar_and_nm_read_our_symbols() {
    let bench = Bench::new();
    bench.compile("f.o", &[], "int f(void) { return 7; }");
    let plugin = plugin().display().to_string();
    bench.tool("ar", &["--plugin", &plugin, "rcs", "lib.a", "f.o"]);
    let output = bench.succeed(Command::new("nm").args(["--plugin", &plugin, "-s", "lib.a"]));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("f in f.o") && text.contains("T f"), "{text}");
}
