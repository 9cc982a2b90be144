//! What was counted before the runtime has started.

use crate::support::{Flavour, Folder, MANY_COUNTERS, Run};
use cotree_rt::layout::{Access, Flags, State};
use std::fs;

#[test]
fn early_counts_are_kept_and_untouched_counters_not_looked_at() {
    let folder = Folder::new("early");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        let program = folder.build_as("early.c", "prog", Flavour::Dynamic, access, &[]);
        // The second time the kernel isn't asked which ones are: there is only one file more to open, the profile.
        for limit in ["", "ulimit -n 4 &&"] {
            let run = Run::of(program.command_of("/bin/sh").args(["-c", &format!("{limit} exec ./prog")]), 0);
            let profile = folder.profile();
            assert_eq!(profile.state(), State::FINISHED);
            assert_eq!(profile.flags(), Flags::NONE);
            let counted: Vec<_> = profile.counters.iter().enumerate().filter(|(_, count)| **count != 0).collect();
            assert_eq!(counted, [(0, &1), (1, &1), (MANY_COUNTERS / 2, &3), (MANY_COUNTERS - 1, &1)]);
            let faults: u64 = run.output.trim_start_matches("faults ").trim_end().parse().unwrap();
            if limit.is_empty() && fs::File::open("/proc/self/pagemap").is_ok() {
                assert!(faults < 900, "{faults}");
            }
            fs::remove_file(profile.path).unwrap();
        }
    }
}
