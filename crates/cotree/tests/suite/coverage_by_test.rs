//! Which test runs a line: profiles keep the name of the test that their program ran in.

use crate::project::{Project, succeed};
use serde_json::{Value, json};

const SOURCE: &str = r#"#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int number(void) {
    return 1;
}
static int text(void) {
    return 2;
}
static int child(void) {
    return 3;
}
int main(int count, char **words) {
    int sum = 0;
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "number"))
            sum += number();
        if (!strcmp(words[i], "text"))
            sum += text();
        if (!strcmp(words[i], "fork") && fork() == 0)
            return child();
    }
    wait(NULL);
    printf("%d\n", sum);
    return 0;
}
"#;

fn run(project: &Project, words: &[&str], variables: &[(&str, &str)]) {
    let mut program = project.command(project.path("app"));
    program.args(words).env("COTREE_FILE", project.path("profiles/%n.%p.cotree")).env_remove("NEXTEST_TEST_NAME");
    succeed(program.envs(variables.iter().copied()));
}

#[test]
fn lines_have_the_tests_that_ran_them() {
    let project = Project::new(&[("app.c", SOURCE)]);
    project.ok("--coverage cc -O2 app.c -o app");
    std::fs::create_dir(project.path("profiles")).expect("a folder");
    assert!(project.fails("coverage --by-test").contains("name the profiles"));
    run(&project, &[], &[]);
    let refused = project.fails("coverage --by-test profiles");
    assert!(refused.contains("no profile has the name of a test"), "{refused}");

    run(&project, &["number"], &[("COTREE_TEST", "numbers")]);
    // The name of the binary that nextest says, and the test's; a child that is forked is part of the test.
    let nextest = [("NEXTEST_BINARY_ID", "app::it"), ("NEXTEST_TEST_NAME", "texts::one")];
    run(&project, &["text", "fork"], &nextest);
    let pytest = [("PYTEST_CURRENT_TEST", "test_app.py::test_both[a (b)] (call)")];
    run(&project, &["number", "text"], &pytest);

    let document: Value = serde_json::from_str(&project.ok("coverage --by-test --json profiles")).expect("JSON");
    assert_eq!(document["schema"], "cotree-coverage-by-test/1");
    assert_eq!(document["tests"], json!(["app::it texts::one", "numbers", "test_app.py::test_both[a (b)]"]));
    let file = &document["files"][0];
    let tests_of = |line: u64| {
        let parts = file["lines"].as_array().expect("a list").iter();
        let mut around =
            parts.filter(|part| part["first"].as_u64() <= Some(line) && Some(line) <= part["last"].as_u64());
        around.next().map(|part| part["tests"].clone())
    };
    for (line, tests) in [(6, json!([1, 2])), (9, json!([0, 2])), (12, json!([0])), (14, json!([0, 1, 2]))] {
        assert_eq!(tests_of(line), Some(tests), "line {line}");
    }
    let functions = file["functions"].as_array().expect("a list").iter();
    let functions: Vec<_> =
        functions.map(|function| (&function["line"], &function["name"], &function["tests"])).collect();
    let entered = [(5, "number", json!([1, 2])), (8, "text", json!([0, 2])), (11, "child", json!([0]))];
    for (index, (line, name, tests)) in entered.into_iter().enumerate() {
        assert_eq!(functions[index], (&json!(line), &json!(name), &tests));
    }

    let said = project.cotree("coverage --by-test profiles").output().expect("it starts");
    let note = String::from_utf8_lossy(&said.stderr);
    assert!(note.contains("left out: 1 profile without the name of a test"), "{note}");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("\napp.c\n") && text.contains("  11-13: app::it texts::one\n"), "{text}");
    assert!(text.contains("  5-7: numbers, test_app.py::test_both[a (b)]\n"), "{text}");
}

#[test]
fn a_change_is_told_the_tests_that_ran_what_it_touches() {
    let project = Project::new(&[("src/app.c", SOURCE)]);
    project.ok("--coverage cc -O1 src/app.c -o app");
    for test in ["number", "text"] {
        run(&project, &[test], &[("COTREE_TEST", test)]);
    }
    let tests = |change: &str| project.ok(&format!("coverage --tests-for {change} profiles"));
    assert_eq!(tests("app.c:6"), "number\n");
    assert_eq!(tests("src/app.c:5-9"), "number\ntext\n");
    assert_eq!(tests("src/app.c:12"), "");
    let changed = SOURCE.replace("return 2;", "return 4;");
    std::fs::write(project.path("src/new.c"), changed).expect("written");
    let mut diff = project.command("diff");
    let diff = diff.args(["-u", "--label", "a/src/app.c", "--label", "b/src/app.c"]);
    let diff = diff.args(["src/app.c", "src/new.c"]).output().expect("diff runs");
    std::fs::write(project.path("change.diff"), &diff.stdout).expect("written");
    assert_eq!(tests("change.diff"), "text\n");
    let refused = project.fails("coverage --tests-for src/new.c profiles");
    assert!(refused.contains("no unified diff"), "{refused}");
    // What merged profiles have is of all their tests together.
    project.ok("merge -o all.cotree profiles");
    let refused = project.fails("coverage --by-test all.cotree");
    assert!(refused.contains("sum of several tests"), "{refused}");
}

/// Long names that begin alike, as those of parametrised tests, are different tests.
#[test]
fn long_names_stay_apart() {
    let project = Project::new(&[("app.c", SOURCE)]);
    project.ok("--coverage cc -O1 app.c -o app");
    std::fs::create_dir(project.path("profiles")).expect("a folder");
    let long = format!("case[{}]", "é".repeat(400));
    for (word, last) in [("number", "1"), ("text", "2")] {
        run(&project, &[word], &[("COTREE_TEST", &format!("{long}{last}"))]);
    }
    run(&project, &[], &[("COTREE_TEST", &"x".repeat(512))]);
    let document: Value = serde_json::from_str(&project.ok("coverage --by-test --json profiles")).expect("JSON");
    let tests: Vec<&str> = document["tests"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let [one, two, exact] = tests[..] else { panic!("{tests:?}") };
    assert_eq!(exact, "x".repeat(512));
    let apart = |name: &str| {
        let (beginning, hash) = name.rsplit_once('#').expect("a hash");
        assert!(long.starts_with(beginning) && hash.len() == 16 && name.len() <= 512, "{name}");
        hash.to_owned()
    };
    assert_ne!(apart(one), apart(two));
}
