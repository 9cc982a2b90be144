//! `cotree paths --predicted` across functions: what edge counts foretell, and what they can't.

use crate::project::{Project, succeed};
use serde_json::{Value, json};

/// Builds and runs a program; gives its unit in the JSON of `paths --predicted`.
fn predicted(project: &Project, method: &str) -> Value {
    project.ok(&format!("--profile {method} cc -O0 -g -w -o p p.c"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let json: Value = serde_json::from_str(&project.ok("paths --predicted --json p.cotree")).expect("JSON");
    assert_eq!(json["schema"], "cotree-ipaths/1");
    json["units"][0].clone()
}

/// Two calls in a loop, whose callees go one of two ways each.
fn two_calls(second: &str) -> Project {
    let source = format!(
        "static int first(int n) {{
  if (n < 6) return 1;
  return 2;
}}
static int second(int n) {{
  if ({second}) return 3;
  return 4;
}}
int main(void) {{
  int s = 0;
  for (int i = 0; i < 10; i++)
    s += first(i) + second(i);
  return s == 0;
}}
"
    );
    Project::new(&[("p.c", &source)])
}

/// Per beginning, how often the predicted path ran, how often the hottest, and how often paths began there.
fn counts(unit: &Value) -> Vec<[u64; 3]> {
    let of =
        |beginning: &Value| ["count", "hottest_count", "executions"].map(|key| beginning[key].as_u64().expect(key));
    unit["predictions"].as_array().expect("predictions").iter().map(of).collect()
}

/// The lines of the predicted path from the loop of `main`, those of its callees included.
fn lines(beginning: &Value) -> Vec<u64> {
    let parts = beginning["active"].as_array().expect("parts").iter();
    parts.flat_map(|part| part["lines"].as_array().expect("lines")).filter_map(|line| line[1].as_u64()).collect()
}

#[test]
fn edge_counts_foretell_calls_that_agree_and_not_calls_that_differ() {
    for method in ["ipath", "ipath-piecewise", "ipath-hybrid=leaf", "ipath-piecewise=local"] {
        // Six of ten calls of each function take the first way, and these are the same turns.
        let project = two_calls("n < 6");
        let unit = predicted(&project, method);
        // From the entry one path, from the loop nine turns and the last test of its condition.
        assert_eq!(counts(&unit), [[1, 1, 1], [5, 5, 10]], "{method}: {}", unit["predictions"]);
        let beginning = &unit["predictions"][1];
        let ways: Vec<u64> = lines(beginning).into_iter().filter(|line| [2, 3, 6, 7].contains(line)).collect();
        assert_eq!(ways, [2, 6], "{method}");
        assert!(beginning["after_cut"].is_u64() && unit["predictions"][0]["after_cut"].is_null());
        assert_eq!(unit["prediction"]["beginnings"], json!([2, 2]), "{method}");
        assert_eq!(unit["prediction"]["executions"], json!([6, 11]), "{method}");
        let text = project.ok("paths --predicted p.cotree");
        assert!(text.contains("What edge counts would have predicted") && !text.contains("counts miss"), "{text}");

        // Again six of ten, but where the first function takes its first way, the second mostly takes its other one.
        // The predicted path ran twice only.
        let project = two_calls("n > 3");
        let unit = predicted(&project, method);
        assert_eq!(counts(&unit), [[0, 1, 1], [2, 4, 10]], "{method}: {}", unit["predictions"]);
        assert_eq!(unit["prediction"]["beginnings"], json!([0, 2]), "{method}");
        assert_eq!(unit["prediction"]["executions"], json!([2, 11]), "{method}");
        let text = project.ok("paths --predicted p.cotree");
        let said = "10 executions from main p.c:11: hottest 4 times, predicted 2 times";
        assert!(text.contains("Beginnings whose hottest path edge counts miss") && text.contains(said), "{text}");
        let (_, wrong) = text.split_once(said).expect("found above");
        let (hottest, predicted) = wrong.split_once("predicted").expect("both paths");
        assert!(hottest.contains("first  p.c:2-4") && predicted.contains("first  p.c:2 4"), "{text}");

        // Each path crosses into both functions, and none into another one.
        for (function, beginnings) in [("=second", 2), ("=main", 2)] {
            let json = project.ok(&format!("paths --predicted --json -f {function} p.cotree"));
            let json: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(counts(&json["units"][0]).len(), beginnings, "{method} {function}");
        }
    }
    // Who does not ask for predictions has none.
    let project = two_calls("n < 6");
    predicted(&project, "ipath");
    let json: Value = serde_json::from_str(&project.ok("paths --json p.cotree")).expect("JSON");
    assert!(json["units"][0].get("predictions").is_none() && json["units"][0].get("prediction").is_none());
}

/// Edge counts know no context: so the paper's program is predicted alike, whether its paths do or not.
#[test]
fn contexts_and_pieces_are_predicted_alike() {
    let project = Project::new(&[("p.c", crate::ipath::POW)]);
    let units = ["ipath", "ipath-piecewise"].map(|method| predicted(&project, method));
    for unit in &units {
        // From power's loop: 15 more turns. From the entry of main: it would have gone into power, but 1 is odd. From
        // its loop: nine times up to the first turn of power's loop.
        assert_eq!(counts(unit), [[15, 15, 30], [0, 1, 1], [9, 9, 18]]);
        assert_eq!(unit["prediction"]["paths"], json!([2, 9]));
        assert_eq!(unit["prediction"]["executions"], json!([24, 49]));
    }
    let without_numbers = |unit: &Value| {
        let mut beginnings = unit["predictions"].clone();
        let each = beginnings.as_array_mut().expect("predictions").iter_mut().filter_map(Value::as_object_mut);
        each.for_each(|beginning| drop(beginning.remove("hottest")));
        beginnings
    };
    assert_eq!(without_numbers(&units[0]), without_numbers(&units[1]));
    assert_eq!(units[0]["prediction"], units[1]["prediction"]);
}
