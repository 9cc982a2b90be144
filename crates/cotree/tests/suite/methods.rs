//! What is said of methods is what the list of methods says.

use crate::project::{Project, succeed};
use cotree_core::method::{METHODS, Method};
use std::path::Path;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn docs_name_every_method_as_the_list_does() {
    let names: Vec<String> = METHODS.iter().map(|method| format!("`{}`", method.name)).collect();
    let row = format!("| `method` | {} |", names.join(", "));
    assert!(text("docs/json.md").contains(&row), "docs/json.md should have\n{row}");
    let mut numbers: Vec<(u64, &str)> = METHODS.iter().map(|method| (method.number, method.name)).collect();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(|(number, name)| format!("{number} {name}")).collect();
    // Lines may end between any two.
    let formats = text("docs/formats.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(formats.contains(&numbers.join(", ")), "docs/formats.md should have\n{numbers:?}");
}

/// A program is built, run and reported by every method; what is measured is what the method promises.
#[test]
fn every_method_keeps_its_promises() {
    let source = "
int main(int argc, char **argv) {
    for (int i = 0; i < 9; i++) if (i % 3 == argc) argv[0][0]++;
    return 0;
}";
    let project = Project::new(&[("p.c", source)]);
    for method in Method::all() {
        let name = method.name();
        project.ok(&format!("--profile {name} cc -O1 -g -w -o p p.c"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        if method.is_none() {
            continue;
        }
        let json: serde_json::Value = serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
        let unit = &json["units"][0];
        assert_eq!(unit["method"], name);
        assert_eq!(unit["exact"], true, "{name}");
        let main = &unit["functions"][0];
        // A trace promises the execution; its blocks are counted when it is read.
        let blocks = method.promises().blocks || method == Method::Trace;
        let runs = if blocks { 1.into() } else { serde_json::Value::Null };
        assert_eq!(main["blocks"][0]["count"], runs, "{name}");
        assert_eq!(main["calls"].is_array(), method.promises().calls, "{name}");
        // Where only blocks are promised, some edges follow from them nevertheless.
        let counted = |edge: &serde_json::Value| edge["count"].is_u64();
        assert!(!method.promises().edges || main["edges"].as_array().expect("edges").iter().all(counted), "{name}");
        assert!(project.ok("report p.cotree").contains(method.title()), "{name}");
        let paths = project.cotree("paths p.cotree").output().expect("cotree runs");
        assert_eq!(paths.status.success(), method.promises().paths, "{name}");
    }
}
