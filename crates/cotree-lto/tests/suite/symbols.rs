//! The symbol tables of files that real compilers write, whole and damaged.

use cotree_lto::input::{Input, references_of_file};
use cotree_lto::symtab::{Symbol, SymbolKind, Table, Visibility};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

const SOURCE: &str = r#"
int tentative[7];
static int internal(int x) { return x + 1; }
__attribute__((weak)) int weak(int x) { return internal(x); }
__attribute__((visibility("hidden"))) int hidden = 3;
__attribute__((visibility("protected"))) int protected_(void) { return hidden; }
__attribute__((used)) int kept(void) { return 1; }
extern int outside(void);
extern int perhaps(void) __attribute__((weak));
__asm__(".globl from_asm\nfrom_asm: jmp asm_needs\n");
__asm__(".symver versioned_impl, versioned@VERS_1");
int versioned_impl(void) { return 2; }
int main(void) { return outside() + (perhaps ? perhaps() : 0); }
"#;

/// What each compiler at hand makes of a small program: a label and the file.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let dir = tempfile::TempDir::new().expect("a folder");
    fs::write(dir.path().join("a.c"), SOURCE).expect("a source");
    fs::write(dir.path().join("b.rs"), "#[unsafe(no_mangle)] pub extern \"C\" fn exported() {} pub fn other<T>() {}")
        .expect("a source");
    let mut files = Vec::new();
    let mut make = |label: String, command: &mut Command| {
        let status = command.current_dir(dir.path()).status().expect("the compiler starts");
        assert!(status.success(), "{command:?}");
        files.push((label, fs::read(dir.path().join("out.o")).expect("an object")));
    };
    let clangs = (14..40).filter(|version| Path::new(&format!("/usr/bin/clang-{version}")).exists());
    for version in clangs {
        let clang = format!("clang-{version}");
        let base = ["-fcommon", "-O1", "-c", "a.c", "-o", "out.o"];
        make(clang.clone(), Command::new(&clang).args(base).arg("-flto"));
        make(format!("{clang} thin"), Command::new(&clang).args(base).arg("-flto=thin"));
        if version >= 17 {
            make(format!("{clang} fat"), Command::new(&clang).args(base).args(["-flto", "-ffat-lto-objects"]));
        }
    }
    let rustc = ["--crate-type=lib", "--emit=obj", "-Clinker-plugin-lto", "b.rs", "-o", "out.o"];
    make("rustc".into(), Command::new("rustc").args(rustc));
    files
});

fn table(data: &[u8]) -> Table {
    let Input::Bitcode(_, file) = Input::recognise(data) else { panic!("no bitcode: {:?}", Input::recognise(data)) };
    Table::read(&file).expect("a usable table")
}

fn symbol<'a>(table: &'a Table, name: &str, defined: bool) -> &'a Symbol {
    let undefined = |kind| matches!(kind, SymbolKind::Undefined | SymbolKind::WeakUndefined);
    let mut found = table.symbols.iter().filter(|s| s.name == name && undefined(s.kind) != defined);
    found.next().unwrap_or_else(|| panic!("{name} in {table:#?}"))
}

#[test]
fn all_that_a_linker_needs_is_read() {
    let of_clang = FILES.iter().filter(|(label, _)| label.starts_with("clang"));
    for (label, data) in of_clang {
        let table = table(data);
        let defined = |name| symbol(&table, name, true);
        let undefined = |name| symbol(&table, name, false);
        assert_eq!(defined("tentative").kind, SymbolKind::Common(28), "{label}");
        assert_eq!(defined("weak").kind, SymbolKind::Weak, "{label}");
        assert_eq!(defined("main").kind, SymbolKind::Defined, "{label}");
        assert!(defined("main").executable && !defined("hidden").executable, "{label}");
        assert_eq!(defined("hidden").visibility, Visibility::Hidden, "{label}");
        assert_eq!(defined("protected_").visibility, Visibility::Protected, "{label}");
        assert!(defined("kept").used && !defined("main").used, "{label}");
        assert_eq!(undefined("outside").kind, SymbolKind::Undefined, "{label}");
        assert_eq!(undefined("perhaps").kind, SymbolKind::WeakUndefined, "{label}");
        assert_eq!(defined("from_asm").ir_name, "", "{label}");
        assert!(undefined("asm_needs").used, "{label}");
        assert_eq!(defined("versioned@VERS_1").ir_name, "", "{label}");
        assert!(!table.symbols.iter().any(|s| s.name == "internal"), "{label}");
        assert!(table.comdats.is_empty(), "{label}");
    }
}

#[test]
fn rust_is_read_too() {
    let (_, data) = FILES.iter().find(|(label, _)| label == "rustc").expect("a rustc");
    let table = table(data);
    assert_eq!(symbol(&table, "exported", true).kind, SymbolKind::Defined);
}

fn explore(data: &[u8]) {
    if let Input::Bitcode(range, file) = Input::recognise(data) {
        assert!(range.end <= data.len());
        let _ = Table::read(&file);
    }
    let _ = references_of_file(data);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_never_panics(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let mut data = file.get(&FILES).1.clone();
        for (at, value) in changes {
            *at.get_mut(&mut data) = value;
        }
        if let Some(cut) = cut {
            data.truncate(cut.index(data.len()));
        }
        explore(&data);
    }

    /// The interesting bytes are few: block headers at the front, the table and its names at the end.
    #[test]
    fn damage_of_the_table_never_panics(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((0_usize..1200, any::<u8>()), 1..8),
    ) {
        let mut data = file.get(&FILES).1.clone();
        let last = data.len() - 1;
        for (from_end, value) in changes {
            data[last.saturating_sub(from_end)] = value;
        }
        explore(&data);
    }
}
