//! One source is one file, however its name was spelt.

use crate::project::{Project, succeed};
use std::fs;
use std::os::unix::fs::symlink;

const HEADER: &str = include_str!("../programs/findings/one-header/h.h");
const MAIN: &str = "int fa(int); int fb(int); int fc(int);\n\
    int main(void) { fa(2); fa(4); fb(3); fc(1); fc(2); return 0; }\n";

/// A header in `inc`, which three objects find by three names; one of these leads through a symbolic link.
fn project() -> Project {
    let unit = |name: &str, header: &str| format!("#include \"{header}\"\nint f{name}(int n) {{ return half(n); }}\n");
    let [a, b, c] = [("a", "../inc/h.h"), ("b", "h.h"), ("c", "h.h")].map(|(name, header)| unit(name, header));
    let project = Project::new(&[("inc/h.h", HEADER), ("a/a.c", &a), ("b/b.c", &b), ("b/c.c", &c), ("main.c", MAIN)]);
    fs::create_dir(project.path("build")).expect("a folder");
    symlink("inc", project.path("link")).expect("a link");
    for (folder, options) in [
        ("a", "a.c -o ../a.o"),
        ("b", "-I../link b.c -o ../b.o"),
        ("b", "-I../build/../inc -I. ./c.c -o ../c.o"),
        (".", "main.c -o main.o"),
    ] {
        let mut compile = project.cotree(&format!("--coverage cc -O0 -g -c {options}"));
        succeed(compile.current_dir(project.path(folder)));
    }
    project.ok("--coverage cc a.o b.o c.o main.o -o main");
    succeed(project.command(project.path("main")).env("COTREE_FILE", "p.cotree"));
    project
}

/// The files of a tracefile.
fn files(tracefile: &str) -> Vec<&str> {
    tracefile.lines().filter_map(|line| line.strip_prefix("SF:")).collect()
}

/// The records of a file in a tracefile.
fn records<'t>(tracefile: &'t str, file: &str) -> &'t str {
    let name = format!("SF:{file}\n");
    let (_, records) = tracefile.split_once(&name).unwrap_or_else(|| panic!("no {file} in {tracefile}"));
    records.split("end_of_record").next().unwrap_or_default()
}

#[test]
fn a_header_of_many_names_is_one_file() {
    let project = project();
    let root = fs::canonicalize(project.path(".")).expect("a path");
    let root = root.to_str().expect("text");
    let names = |files: &[&str]| files.iter().map(|file| format!("{root}/{file}")).collect::<Vec<_>>();
    let tracefiles = ["export --format lcov", "coverage --lcov"];
    for tracefile in tracefiles {
        let text = project.ok(&format!("{tracefile} p.cotree"));
        let expected = names(&["a/a.c", "b/b.c", "b/c.c", "inc/h.h", "link/h.h", "main.c"]);
        assert_eq!(files(&text), expected, "{tracefile}");
        assert!(records(&text, &expected[3]).contains("DA:3,4\n"), "{tracefile}: {text}");
        let text = project.ok(&format!("{tracefile} --resolve-symlinks p.cotree"));
        let expected = names(&["a/a.c", "b/b.c", "b/c.c", "inc/h.h", "main.c"]);
        assert_eq!(files(&text), expected, "{tracefile}");
        let header = records(&text, &expected[3]);
        assert!(header.contains("DA:3,5\n") && header.contains("FNDA:5,half\nFNF:1\n"), "{tracefile}: {text}");
        assert!(header.contains("BRDA:3,0,0,2\nBRDA:3,0,1,3\nBRF:2\nBRH:2\n"), "{tracefile}: {text}");
    }
    let table = project.ok("coverage --resolve-symlinks p.cotree");
    assert_eq!(table.matches("h.h").count(), 1, "{table}");
    let annotated = project.ok("annotate --resolve-symlinks --file h.h p.cotree");
    assert_eq!(annotated.matches("static inline int half").count(), 1, "{annotated}");
    // Folders that are gone are taken for what they seem to be.
    for folder in ["a", "build", "inc"] {
        fs::remove_dir_all(project.path(folder)).expect("a folder");
    }
    for tracefile in tracefiles {
        let absent = if tracefile.starts_with("export") { "--absent-sources" } else { "" };
        let text = project.ok(&format!("{tracefile} {absent} --source-prefix {root}=/moved p.cotree"));
        let expected = ["a/a.c", "b/b.c", "b/c.c", "inc/h.h", "link/h.h", "main.c"].map(|f| format!("/moved/{f}"));
        assert_eq!(files(&text), expected, "{tracefile}");
    }
}

/// The first path of a list in the map is the folder of the compiler, to which relative names refer.
#[test]
fn folders_of_the_compiler_may_be_renamed() {
    let project =
        Project::new(&[("sub/h.h", HEADER), ("m.c", "#include \"sub/h.h\"\nint main(void) { return half(2); }\n")]);
    let root = fs::canonicalize(project.path(".")).expect("a path");
    let root = root.to_str().expect("text");
    for (option, folder) in [
        ("-fcoverage-compilation-dir=/elsewhere", "/elsewhere/"),
        (&*format!("-fcoverage-prefix-map={root}=/pre/x/.."), "/pre/"),
        (&*format!("-ffile-prefix-map={root}=."), ""),
    ] {
        project.ok(&format!("--coverage cc -O0 {option} m.c -o m"));
        project.command(project.path("m")).env("COTREE_FILE", "p.cotree").status().expect("it starts");
        let text = project.ok("coverage --lcov p.cotree");
        assert_eq!(files(&text), ["m.c", "sub/h.h"].map(|file| format!("{folder}{file}")), "{option}");
    }
    // One object has relative names, another one has absolute ones.
    project.ok("--coverage cc -O0 -Dmain=other -c m.c -o other.o");
    project.ok(&format!("--coverage cc -O0 -ffile-prefix-map={root}=. m.c other.o -o m"));
    project.command(project.path("m")).env("COTREE_FILE", "p.cotree").status().expect("it starts");
    let expected = ["m.c", "sub/h.h"].map(|file| format!("{root}/{file}"));
    for tracefile in ["export --format lcov", "coverage --lcov"] {
        assert_eq!(files(&project.ok(&format!("{tracefile} p.cotree"))), expected, "{tracefile}");
    }
}

/// A regular expression may be given several times, and a file that was edited is named.
#[test]
fn coverage_leaves_files_out_and_names_edited_ones() {
    let project = project();
    let left = project.ok("coverage --lcov --ignore-filename-regex /b/ --ignore-filename-regex h[.]h$ p.cotree");
    assert_eq!(files(&left).len(), 2, "{left}");
    let notes = |line: &str| String::from_utf8(project.cotree(line).output().expect("it starts").stderr).expect("text");
    assert_eq!(notes("coverage p.cotree"), "");
    fs::write(project.path("b/b.c"), "/* new */\n").expect("a file");
    let said = notes("coverage --output-path cov.info --lcov p.cotree");
    assert!(said.contains("b/b.c: it was edited since the program was built"), "{said}");
    assert!(project.path("cov.info").exists());
    assert_eq!(notes("coverage --ignore-filename-regex b[.]c$ p.cotree"), "");
}
