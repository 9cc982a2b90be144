//! Raw and merged profiles: what is read, what is refused, and what survives a merge.

use crate::unit;
use crate::unit::{Raw, UNIT, seal};
use cotree_profile::counts::{Runs, UnitCounts};
use cotree_profile::error::ProfileError;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::{self, Merge};
use cotree_rt::layout::{Flags, State};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn open_bytes(bytes: &[u8]) -> Result<ProfileFile, ProfileError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    ProfileFile::open(file.path())
}

/// The message of an error: it names the file and is one sentence.
fn refusal(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.cotree");
    fs::write(&path, bytes).unwrap();
    let error = ProfileFile::open(&path).expect_err("it must be refused").to_string();
    assert!(error.contains("bad.cotree"), "{error}");
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn slabs_are_summed_and_the_header_is_read() {
    let raw = Raw { slabs: vec![vec![1, 2, 3], vec![10, 0, 30], vec![0, 0, 300]], ..Raw::new(vec![]) };
    let file = open_bytes(&raw.bytes()).unwrap();
    assert_eq!(file.kind, ProfileFormat::Raw);
    let [counts] = file.units.as_slice() else { panic!("one unit") };
    assert_eq!(counts.counters, [11, 2, 333]);
    assert_eq!(counts.unit, UNIT);
    assert_eq!(counts.binary, Path::new("/build/prog"));
    assert_eq!(counts.command, ["prog", "-x"]);
    assert_eq!(counts.runs, Runs { finished: 1, ..Runs::default() });
    assert_eq!(counts.early.iter().map(|(&a, &n)| (a, n)).collect::<Vec<_>>(), unit::early());
    assert!(!counts.saturated);
}

#[test]
fn a_sum_beyond_64_bits_is_cut_and_marked() {
    let raw = Raw { slabs: vec![vec![u64::MAX, 5], vec![1, 5]], ..Raw::new(vec![]) };
    let counts = open_bytes(&raw.bytes()).unwrap().units.remove(0);
    assert_eq!((counts.counters, counts.saturated), (vec![u64::MAX, 10], true));
}

#[test]
fn a_running_profile_needs_no_checksums() {
    let mut bytes = Raw { state: State::RUNNING, ..Raw::new(vec![7; 5]) }.bytes();
    bytes[112..128].fill(0);
    let counts = open_bytes(&bytes).unwrap().units.remove(0);
    assert_eq!((counts.counters, counts.runs.cut_off), (vec![7; 5], 1));
}

#[test]
fn the_test_of_a_run_is_read_and_kept_in_sums() {
    let of_test = |name: &[u8], length: u32| {
        let mut bytes = Raw { state: State::RUNNING, ..Raw::new(vec![1]) }.bytes();
        bytes[3256..3260].copy_from_slice(&length.to_le_bytes());
        bytes[3264..][..name.len()].copy_from_slice(name);
        bytes
    };
    let mut merge = Merge::default();
    for name in ["parser::numbers", "parser::text", ""] {
        merge.add(open_bytes(&of_test(name.as_bytes(), name.len() as u32)).unwrap(), 1).unwrap();
    }
    let tests = merge.finish().remove(0).tests;
    assert_eq!(tests.into_iter().collect::<Vec<_>>(), ["parser::numbers", "parser::text"]);
    assert!(refusal(&of_test(b"x", 513)).contains("its texts are longer than their places"));
}

#[test]
fn threads_alive_may_have_changed_the_counters_behind_the_checksum() {
    let mut bytes = Raw { flags: Flags::THREADS_ALIVE, threads_alive: 3, ..Raw::new(vec![7; 5]) }.bytes();
    bytes[8192] ^= 1;
    let counts = open_bytes(&bytes).unwrap().units.remove(0);
    assert_eq!((counts.counters[0], counts.threads_alive), (6, 3));
}

#[test]
fn what_is_no_profile_is_named() {
    assert!(refusal(b"").contains("is empty"));
    assert!(refusal(b"COTR").contains("is not a cotree profile"));
    assert!(refusal(b"\x7FELF\x02\x01\x01\0").contains("it is a program"));
    assert!(refusal(b"adcg1234").contains("gcov"));
    assert!(refusal(&[0x81, b'r', b'f', b'o', b'r', b'p', b'l', 0xFF]).contains("llvm-profdata"));
    assert!(refusal(b"COTREERW").contains("cut off"));
    assert!(refusal(b"COTREEMG").contains("cut off"));
    for version in [0, 2, 9] {
        let mut other = Raw::new(vec![1]).bytes();
        other[8] = version;
        assert!(refusal(&other).contains(&format!("has format version {version}, this cotree reads version 1:")));
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(ProfileFile::open(folder.path()).unwrap_err().to_string().contains("directory"));
    assert!(ProfileFile::open(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
}

#[test]
fn every_bit_of_the_header_matters() {
    let bytes = Raw::new(vec![1, 2, 3]).bytes();
    // Zeros after the texts included: all of the page is checksummed.
    for at in (0..256).chain((256..4096).step_by(61)) {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            // A profile that says that it was cut off has no checksums; that is the one thing that cannot be noticed.
            let cut_off = (12..16).contains(&at) && bytes[12..16] == State::RUNNING.to_le_bytes();
            assert!(open_bytes(&bytes).is_err() || cut_off, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_even_with_checksums() {
    let bytes = Raw::new(vec![1; 9]).bytes();
    for field in [64, 72, 80, 88, 96, 104] {
        for value in [u64::MAX, u64::MAX / 8, 1 << 62, 1 << 40, 1 << 20, 3, 1] {
            for state in [State::FINISHED, State::RUNNING] {
                let mut bytes = bytes.clone();
                bytes[12] = state as u8;
                bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
                seal(&mut bytes);
                // Fewer counters or other overlaps may be possible; what must not happen is a panic or a huge read.
                if let Ok(file) = open_bytes(&bytes) {
                    assert!(file.units[0].counters.len() <= 9 + 512, "field {field} = {value}");
                }
            }
        }
    }
    for field in [128, 132] {
        let mut bytes = bytes.clone();
        bytes[field..field + 4].copy_from_slice(&5000u32.to_le_bytes());
        seal(&mut bytes);
        assert!(refusal(&bytes).contains("texts"));
    }
    let mut bytes = bytes;
    bytes[56..64].copy_from_slice(&(1u64 << 60).to_le_bytes());
    seal(&mut bytes);
    assert!(refusal(&bytes).contains("flags"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_raw_profile_is_refused(cut in 0usize..12288) {
        let bytes = Raw::new(vec![5; 10]).bytes();
        prop_assume!(cut < bytes.len());
        prop_assert!(open_bytes(&bytes[..cut]).is_err());
    }

    #[test]
    fn a_flipped_bit_of_the_body_is_noticed(at in 4096usize..12288, bit in 0u8..8) {
        let mut bytes = Raw::new(vec![5; 10]).bytes();
        bytes[at] ^= 1 << bit;
        prop_assert!(open_bytes(&bytes).is_err());
    }

    #[test]
    fn hostile_raw_profiles_do_no_harm(edits in prop::collection::vec((8usize..140, any::<u8>()), 1..8)) {
        let mut bytes = Raw::new(vec![5; 10]).bytes();
        for (at, value) in edits {
            bytes[at] = value;
        }
        seal(&mut bytes);
        let _ = open_bytes(&bytes);
    }

    #[test]
    fn hostile_merged_profiles_do_no_harm(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5), cut in any::<prop::sample::Index>()) {
        let mut bytes = merged_bytes(&[counts(vec![1, 2, 3])]);
        let whole = bytes.clone();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if bytes != whole {
            prop_assert!(open_bytes(&bytes).is_err());
        }
        // With the right checksum the damage gets deeper.
        let sum = cotree_rt::layout::checksum(&[&bytes[..32], &bytes[40..]].concat());
        bytes[32..40].copy_from_slice(&sum.to_le_bytes());
        let _ = open_bytes(&bytes);
        prop_assert!(open_bytes(&whole[..cut.index(whole.len())]).is_err());
    }

    #[test]
    fn merged_profiles_come_back_as_they_were(counters in prop::collection::vec(any::<u64>(), 0..50), early in prop::collection::btree_map(any::<u64>(), any::<i64>(), 0..5), weight in any::<u64>()) {
        let one = UnitCounts { early, weight, saturated: weight % 2 == 0, threads_alive: 3, ..counts(counters) };
        let other = UnitCounts { unit: cotree_profile::binary::UnitId([9; 16]), flags: Flags::RESET, ..counts(vec![]) };
        let file = open_bytes(&merged_bytes(&[one.clone(), other.clone()])).unwrap();
        prop_assert_eq!(file.kind, ProfileFormat::Merged);
        prop_assert_eq!(file.units, vec![other, one]);
    }

    #[test]
    fn merging_is_addition(files in prop::collection::vec((prop::collection::vec(0u64..1 << 40, 3), 1u64..9), 1..6)) {
        let add = |files: &[(Vec<u64>, u64)]| {
            let mut merge = Merge::default();
            for (counters, weight) in files {
                merge.add(profile("p", vec![counts(counters.clone())]), *weight).unwrap();
            }
            merge.finish().remove(0)
        };
        let sum = add(&files);
        for index in 0..3 {
            prop_assert_eq!(sum.counters[index], files.iter().map(|(c, w)| c[index] * w).sum::<u64>());
        }
        prop_assert_eq!(sum.weight, files.iter().map(|f| f.1).sum::<u64>());
        prop_assert_eq!(sum.runs.total(), files.len() as u64);
        let mut backwards = files;
        backwards.reverse();
        prop_assert_eq!(add(&backwards), sum);
    }
}

fn counts(counters: Vec<u64>) -> UnitCounts {
    UnitCounts {
        unit: UNIT,
        binary: "/build/prog".into(),
        command: vec!["prog".into()],
        tests: ["a test".into(), "another".into()].into(),
        runs: Runs { finished: 1, ..Runs::default() },
        weight: 1,
        started_ns: 5,
        ended_ns: 9,
        early: unit::early().into_iter().collect(),
        counters,
        ..UnitCounts::default()
    }
}

fn profile(path: &str, units: Vec<UnitCounts>) -> ProfileFile {
    ProfileFile { path: path.into(), kind: ProfileFormat::Raw, units }
}

fn merged_bytes(units: &[UnitCounts]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.cotree");
    merged::write(&path, units).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    fs::read(path).unwrap()
}

#[test]
fn sums_that_do_not_fit_are_cut_and_marked() {
    let mut merge = Merge::default();
    merge.add(profile("a", vec![counts(vec![u64::MAX - 1, 1])]), 1).unwrap();
    merge.add(profile("b", vec![counts(vec![2, 1])]), 1).unwrap();
    let sum = merge.finish().remove(0);
    assert_eq!((sum.counters, sum.saturated), (vec![u64::MAX, 2], true));
    let heavy = counts(vec![1 << 40, 3]).weighted(1 << 30);
    assert_eq!((heavy.counters, heavy.saturated), (vec![u64::MAX, 3 << 30], true));
}

#[test]
fn different_binaries_are_refused_and_both_are_named() {
    let other = |binary: &str| UnitCounts {
        unit: cotree_profile::binary::UnitId([1; 16]),
        binary: binary.into(),
        ..counts(vec![1])
    };
    let attempt = |binary: &str, several_units| {
        let mut merge = Merge::default();
        merge.several_units = several_units;
        merge.add(profile("first", vec![counts(vec![1])]), 1).unwrap();
        merge.add(profile("second", vec![other(binary)]), 1).map(|()| merge.finish().len()).map_err(|e| e.to_string())
    };
    let error = attempt("/build/libx.so", false).unwrap_err();
    for part in ["first", "second", "/build/prog", "/build/libx.so", "5a5a", "0101", "--several-units"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(attempt("/build/libx.so", true), Ok(2));
    // Two builds of one binary are never added up.
    assert!(attempt("/build/prog", true).unwrap_err().contains("built anew"));
}

#[test]
fn a_refused_profile_leaves_the_sum_as_it_was() {
    let mut merge = Merge::default();
    merge.add(profile("a", vec![counts(vec![1, 2])]), 1).unwrap();
    assert!(merge.add(profile("b", vec![counts(vec![1])]), 1).is_err());
    assert_eq!(merge.finish().remove(0).counters, [1, 2]);
}

#[test]
fn a_merged_bomb_is_refused() {
    let many = counts(vec![0; 40 << 20]);
    let bytes = merged_bytes(&[many]);
    // The writer padded it: it may be read.
    assert!(bytes.len() > 20 << 10);
    assert_eq!(open_bytes(&bytes).unwrap().units[0].counters.len(), 40 << 20);
    let mut bomb = bytes[..8192].to_vec();
    bomb[24..32].copy_from_slice(&(8192u64 - 40).to_le_bytes());
    let sum = cotree_rt::layout::checksum(&[&bomb[..32], &bomb[40..]].concat());
    bomb[32..40].copy_from_slice(&sum.to_le_bytes());
    assert!(refusal(&bomb).contains("unpack"));
}

#[test]
fn output_that_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let units = [counts(vec![1])];
    let error = |path: PathBuf| merged::write(&path, &units).unwrap_err().to_string();
    assert!(error(folder.path().to_owned()).contains("give the name of a file"));
    assert!(error(folder.path().join("no/such/folder")).contains("folder does not exist"));
    assert!(error("/dev/full".into()).contains("make room"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // An error while writing keeps what was there.
    let path = folder.path().join("kept");
    fs::write(&path, "before").unwrap();
    let failed = cotree_profile::atomic::write(&path, |out| {
        out.write_all(b"half")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert!(failed.unwrap_err().to_string().contains("nothing was left behind"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // A link goes on pointing where it points.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    cotree_profile::atomic::write(&link, |out| out.write_all(b"after")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}
