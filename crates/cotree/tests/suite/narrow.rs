//! What fits a terminal of 80 columns, and what mistakes are answered with.

use crate::project::Project;
use std::fs;

const PROGRAM: &str = "#include <stdexcept>\n#include <string>\n\
namespace a_namespace_with_a_long_name::and_another_one_inside { template <class T> struct Container {\n\
__attribute__((noinline)) T add_all_of_these(T from, T to) const { T sum = 0; for (T i = from; i < to; i++) sum += i % 7;\n\
if (sum > 100) throw std::runtime_error(\"much\"); return sum; }\n\
}; }\n\
int main() { a_namespace_with_a_long_name::and_another_one_inside::Container<unsigned long long> c;\n\
try { return c.add_all_of_these(0, 5) + c.add_all_of_these(0, 1000); } catch (std::exception &) { return 0; } }\n";

#[test]
fn traces_and_plans_fit_eighty_columns() {
    let project = Project::new(&[("program.cpp", PROGRAM)]);
    project.ok("--profile trace c++ -O1 -g -o program program.cpp");
    project.run("program");
    for view in
        ["trace --by call", "trace --by line", "trace --last 9", "plan program", "plan program --explain add_all"]
    {
        let text = project.ok(&format!("{view} --width 80"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{view}: {text}");
        let named = match view {
            "plan program" => text.contains("every block (redundant)"),
            // Two long names in a row leave room for neither.
            "trace --last 9" => text.contains("ends without a return in its call of"),
            _ => text.contains("::add_all_of_these"),
        };
        assert!(named, "{view}: {text}");
    }
    // Nobody looks at columns where other programs read.
    let piped = project.cotree("trace --by call").env("COLUMNS", "80").output().expect("cotree starts");
    let whole =
        "calls a_namespace_with_a_long_name::and_another_one_inside::Container<unsigned long long>::add_all_of_these";
    assert!(String::from_utf8(piped.stdout).expect("text").contains(whole));
}

#[test]
fn mistakes_are_answered() {
    let project = Project::new(&[
        ("p.c", "int main(void) { missing(); return 0; }\n"),
        ("q.c", "int main(void) { return 0; }\n"),
    ]);
    for view in ["annotate p.c", "report nowhere.cpp", "export lib.rs"] {
        let said = project.fails(view);
        assert!(said.contains("is a source file") && said.contains("cotree annotate --file"), "{view}: {said}");
    }
    let number = project.fails("report -n many");
    assert!(number.contains("a whole number is expected") && !number.contains("digit"), "{number}");
    let undefined = project.fails("cc -Wno-implicit-function-declaration -o p p.c");
    assert!(undefined.contains("/0.p.o: in function `main'"), "the object is named for its source: {undefined}");

    let order = project.fails("cc --profile path -o q q.c");
    assert!(order.contains("--profile stands before cc and c++") && order.contains("--cotree-profile"), "{order}");
    for command in ["plan q.c", "instrument q.c -o q.bc"] {
        assert!(project.fails(command).contains("q.c is a source file, and bitcode is read here"), "{command}");
    }
    project.ok("cc -O0 -g -o q q.c");
    let here = project.fails("run q");
    assert!(here.contains("say ./q"), "{here}");
    for profile in ["a.cotree", "b.cotree"] {
        let run = project.command(project.path("q")).env("COTREE_FILE", profile).status().expect("it starts");
        assert!(run.success());
    }
    let order = project.fails("cfg a.cotree main");
    assert!(order.contains("`cotree cfg main a.cotree`"), "{order}");
    let note = |line: &str| {
        let output = project.cotree(line).output().expect("cotree starts");
        String::from_utf8(output.stderr).expect("text").contains("q.c: it was edited since the program was built")
    };
    let views = ["diff a.cotree b.cotree", "diff --json a.cotree b.cotree", "export --format json a.cotree"];
    assert!(views.iter().all(|view| !note(view)));
    fs::write(project.path("q.c"), "\nint main(void) { return 0; }\n").expect("a file");
    for view in views {
        assert!(note(view), "{view}");
    }
}
