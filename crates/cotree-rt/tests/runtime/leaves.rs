//! How activations are left without returning, while the process goes on.

use crate::support::{Flavour, Folder};
use cotree_rt::layout::{Access, Flags, State};

#[test]
fn jumps() {
    let folder = Folder::new("jumps");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        let run = folder.build_as("jump.c", "prog", Flavour::Dynamic, access, &[]).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_eq!(profile.counters[..10], [0, 3, 3, 3, 1, 3, 1, 0, 0, 0]);
        for site in ["outer", "middle", "thrower"] {
            assert_eq!(profile.at(run.site(site)), 3, "{site}");
        }
        assert_eq!(profile.at(run.site("setjmp")), -3);
        assert_eq!(profile.at(run.site("sigsetjmp")), -1);
        // Every jump abandons as many activations in a function as it revives there, and the handler's besides.
        assert_eq!(profile.early.values().sum::<i64>(), 3 * 3 + 1 + 1, "{:?}", profile.early);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn frames_of_all_kinds() {
    let folder = Folder::new("mixed_frames");
    for options in [&["-O2"][..], &["-O2", "-fno-omit-frame-pointer"], &["-O0"]] {
        folder.build("mixed_frames.c", options).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE, "{options:?}");
        // A jump out of n levels of two activations each and the one that jumps; main's goes on. Last all of them,
        // main's, that of the program's first instruction, and the runtime's own that stands in front of `exit`.
        let jumps: i64 = (1..=40).map(|n| 2 * n + 1).sum();
        assert_eq!(profile.early.values().sum::<i64>(), jumps + 2 * 40 + 1 + 3, "{options:?}: {:?}", profile.early);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn jumps_to_frames_that_have_grown() {
    let folder = Folder::new("grown");
    for options in [&["-O2"][..], &["-O2", "-fno-omit-frame-pointer"], &["-O0"]] {
        let run = folder.build("grown.c", options).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE, "{options:?}");
        assert_eq!(profile.counters[..10], [0, 18, 18, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(profile.at(run.site("below")), 18);
        // Of leave, below and grows, which is revived, too.
        assert_eq!(profile.early.values().sum::<i64>(), 3 * 18 - 18 + 1, "{options:?}: {:?}", profile.early);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn handlers_on_the_same_stack_jump_out() {
    let folder = Folder::new("turned_back");
    let run = folder.build("turned_back.c", &["-O2"]).run(0);
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::NONE);
    assert_eq!(profile.counters[..10], [0, 10, 0, 10, 0, 0, 0, 0, 0, 0]);
    for site in ["inner", "handler", "work"] {
        assert_eq!(profile.at(run.site(site)), 10, "{site}");
    }
    // In the function that they jump to, one call is abandoned and another one revived. The last frame is that of the
    // program's first instruction.
    assert_eq!(profile.early.values().sum::<i64>(), 4 * 10 + 1, "{:?}", profile.early);
}

#[test]
fn exceptions_from_any_depth() {
    let folder = Folder::new("deep_exceptions");
    for options in [&["-O2"][..], &["-O2", "-fno-omit-frame-pointer"], &["-O0"]] {
        let run = folder.build("throw_deep.cc", options).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE, "{options:?}");
        assert_eq!(profile.counters[..10], [0, 24, 24, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(profile.at(run.site("down")), 4 * 11_111, "{options:?}");
        assert_eq!(profile.at_landing_pad(run.site("catches")), 24);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn jumping_out_of_the_middle_of_something_is_flagged() {
    let folder = Folder::new("interrupted");
    folder.build("interrupt.c", &[]).run(0);
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::INTERRUPTED_FRAME);
    assert_eq!(profile.interrupted(), 1);
}

#[test]
fn a_jump_to_another_stack_is_flagged() {
    let folder = Folder::new("contexts");
    let program = folder.build("context.c", &[]);
    program.run(0);
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::FOREIGN_JUMP);
}

#[test]
fn exceptions() {
    let folder = Folder::new("exceptions");
    for options in [
        &[][..],
        &["-O0"],
        &["-static-libstdc++", "-static-libgcc"],
        &["-fuse-ld=gold"],
        &["-fno-omit-frame-pointer", "-no-pie", "-DNON_PIE"],
    ] {
        let run = folder.build("throw.cc", options).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_eq!(profile.counters[..10], [0, 3, 3, 3, 3, 3, 0, 0, 0, 0]);
        assert_eq!(profile.at(run.site("thrower")), 3);
        assert_eq!(profile.at(run.site("plain")), 0);
        assert_eq!(profile.at_landing_pad(run.site("plain")), 3);
        assert_eq!(profile.at(run.site("cleaned")), 3);
        assert_eq!(profile.at_landing_pad(run.site("through")), 3);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn threads_come_and_go() {
    let folder = Folder::new("threads");
    for access in [Access::WORD, Access::SEGMENT] {
        let run = folder.build_as("threads.c", "prog", Flavour::Dynamic, access, &[]).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_eq!(profile.counters[..10], [1, 3_200_000, 1, 1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(profile.at(run.site("leave")), 1);
        assert!(profile.header.slab_count < 20, "slabs are reused: {}", profile.header.slab_count);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn threads_with_cleanups() {
    let folder = Folder::new("cleanups");
    let run = folder.build("cleanups.cc", &[]).run(0);
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::NONE);
    assert_eq!(profile.counters[..8], [1, 2, 2, 2, 0, 2, 0, 0]);
    assert_eq!(profile.at_landing_pad(run.site("leave")), 2);
    assert_eq!(profile.at(run.site("leave")), 0);
    assert_eq!(profile.at(run.site("deep")), 2);
    assert_eq!(profile.at_landing_pad(run.site("deep")), 0);
}

#[test]
fn threads_where_none_were_expected() {
    let folder = Folder::new("unexpected");
    folder.build_as("threads.c", "prog", Flavour::Dynamic, Access::DIRECT, &[]).run(0);
    assert_eq!(folder.profile().flags(), Flags::THREADS_UNEXPECTED);
}

#[test]
fn threads_that_nobody_told_us_of() {
    let folder = Folder::new("unregistered");
    for (access, option) in [(Access::WORD, ""), (Access::SEGMENT, ""), (Access::SEGMENT, "-DTHREAD_WORD_COUNTER=9")] {
        for source in ["timer.c", "unseen.c"] {
            let options: Vec<&str> = [option, "-ldl"].into_iter().filter(|option| !option.is_empty()).collect();
            folder.build_as(source, "prog", Flavour::Dynamic, access, &options).run(0);
            let mut all = folder.profiles();
            all.sort_by_key(|profile| profile.header.started_ns);
            assert_eq!(all[0].flags(), Flags::THREAD_UNREGISTERED, "{source} {access} {option}");
            // What the parent's threads were is of no concern to a child.
            assert!(all[1..].iter().all(|child| child.flags() == Flags::NONE && child.counters[2] == 1));
            for profile in all {
                assert_eq!(profile.state(), State::FINISHED);
                std::fs::remove_file(profile.path).unwrap();
            }
        }
    }
}

#[test]
fn programs_that_use_the_segment_register_themselves() {
    let folder = Folder::new("own_segment");
    folder.build("own_segment.c", &[]).run(0);
    let mut all = folder.profiles();
    all.sort_by_key(|profile| profile.header.started_ns);
    assert_eq!(
        all.iter().map(|p| (p.state(), p.flags())).collect::<Vec<_>>(),
        [(State::FINISHED, Flags::THREAD_UNREGISTERED), (State::FINISHED, Flags::NONE)]
    );
}

#[test]
fn handlers_on_stacks_of_their_own() {
    let folder = Folder::new("handlers");
    for access in [Access::WORD, Access::SEGMENT] {
        folder.build_as("handlers.c", "prog", Flavour::Dynamic, access, &[]).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_eq!(profile.counters[..3], [1, 80_000, 4000]);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn the_last_thread_ends_the_process() {
    let folder = Folder::new("last_thread");
    let run = folder.build("last.c", &[]).run(0);
    let profile = folder.profile();
    assert_eq!(profile.state(), State::FINISHED);
    assert_eq!(profile.flags(), Flags::NONE);
    assert_eq!(profile.at(run.site("leave")), 1);
    assert_eq!(profile.counters[..3], [1, 1, 1]);
}

#[test]
fn forks() {
    let folder = Folder::new("forks");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        let run = folder.build_as("forks.c", "prog", Flavour::Dynamic, access, &[]).run(0);
        let mut all = folder.profiles();
        all.sort_by_key(|profile| profile.header.started_ns);
        let [parent, returning, execing] = &all[..] else { panic!("{} profiles", all.len()) };
        assert!(all.iter().all(|p| p.state() == State::FINISHED && p.flags() == Flags::NONE));
        assert_eq!(parent.counters[..12], [0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1]);
        assert_eq!(returning.counters[..12], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(execing.counters[..12], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(returning.at(run.site("fork_and_return")), -1);
        assert_eq!(parent.at(run.site("fork_and_return")), 0);
        assert_eq!(parent.at(run.site("failing_exec")), 0);
        // The parent leaves main by _exit; each vfork counts +1 and −1 in its function; a failed exec nothing.
        assert_eq!(parent.early.values().sum::<i64>(), 1, "{:?}", parent.early);
        for profile in &all {
            std::fs::remove_file(&profile.path).unwrap();
        }
    }
}

#[test]
fn forks_from_threads() {
    let folder = Folder::new("thread_forks");
    let run = folder.build("thread_fork.c", &[]).run(0);
    let all = folder.profiles();
    assert_eq!(all.len(), 5);
    let sum: u64 = all.iter().map(|profile| profile.counters[2]).sum();
    assert_eq!(sum, 4 * 1000);
    for profile in all {
        assert_eq!(profile.flags(), Flags::NONE, "{}", profile.path.display());
        if profile.counters[0] == 0 {
            assert_eq!(profile.counters[2], 1000);
            assert_eq!(profile.counters[3], 10, "threads of the child");
            assert_eq!(profile.at(run.site("forker")), 0, "revived by fork, abandoned by exit");
        } else {
            assert_eq!(profile.counters[1], 4);
        }
    }
}

#[test]
fn signal_masks_are_inherited() {
    let folder = Folder::new("masks");
    let program = folder.build("masks.c", &[]);
    let run = program.run(0);
    let without = crate::support::Run::of(program.command().env("COTREE_FILE", ""), 0);
    assert_eq!(run.output, without.output);
    let rows: Vec<_> = run.output.lines().map(|row| row.matches('1').count()).collect();
    assert_eq!(rows, [0, 0, 0, 1, 60, 1], "{}", run.output);
}
