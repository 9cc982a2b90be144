//! Exceptions in signal handlers, in traces.

use crate::project::{Project, succeed};
use std::fs;

/// What ends in a handler by an exception is followed, since nothing ends that the handler interrupted. A handler that
/// is left for good is declared.
#[test]
fn exceptions_within_handlers_are_followed() {
    let project = Project::new(&[("p.cpp", include_str!("../../programs/handler_throws.cpp"))]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace --verify c++ {level} -g -o p p.cpp"));
        let run = |argument: Option<&str>| {
            let mut command = project.command(project.path("p"));
            assert_eq!(succeed(command.args(argument).env("COTREE_FILE", "p.cotree")), "5\n", "{level}");
        };
        run(None);
        project.ok("verify --strict p.cotree");
        let costs = project.ok("costs p.cotree");
        assert!(costs.contains("fail"), "{level}: {costs}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
        run(Some("jump"));
        let report = project.ok("report p.cotree");
        assert!(!report.contains("exact: every count"), "{level}: {report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}
