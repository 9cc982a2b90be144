//! Pieces of traces are compressed.

use super::{compare, project};
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use std::fs;

const LONG: &str = r"
__attribute__((noinline)) static int step(unsigned *state) {
  *state = *state * 1103515245u + 12345u;
  if (*state >> 31) return 1;
  return *state >> 30 ? 2 : 0;
}
int main(void) {
  unsigned state = 1;
  volatile int sum = 0;
  for (int i = 0; i < 60000; i++) sum += step(&state);
  for (int i = 0; i < 200000; i++) if (i % 5) sum++;
  return 0;
}
";

#[test]
fn long_traces_are_compressed_and_say_the_same() {
    let project = project(("long.c", LONG));
    for level in ["-O0", "-O2"] {
        assert!(compare(&project, &format!("--profile trace cc {level}"), "long.c", &[]) > 150_000, "{level}");
        let streams = Streams::open(&project.path("p.cotree")).expect("a profile");
        let part = streams.iter().next().and_then(|stream| stream.parts().next()).expect("a part");
        assert!(part.stored() * 2 < part.end(), "{} of {} bytes", part.stored(), part.end());
    }
}

/// Whatever bytes are damaged, reading ends.
#[test]
fn damaged_pieces_are_read_without_harm() {
    let project = project(("long.c", LONG));
    compare(&project, "--profile trace cc -O2", "long.c", &[]);
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let tables = UnitTables::new(&binary).expect("a traced program");
    let whole = fs::read(project.path("p.cotree")).expect("a profile");
    let chunks: Vec<usize> = positions(&whole);
    assert!(!chunks.is_empty());
    let mut refused = 0;
    for (round, &chunk) in chunks.iter().cycle().take(24).enumerate() {
        let mut bytes = whole.clone();
        bytes[chunk + round * 13 % 300] ^= 1 << (round % 8);
        let damaged = project.path("damaged.cotree");
        fs::write(&damaged, bytes).expect("a file");
        let Ok(streams) = Streams::open(&damaged) else {
            refused += 1;
            continue;
        };
        for stream in streams.iter() {
            for part in stream.parts() {
                let Some(entrance) = part.entrances().next() else { continue };
                let mut reader = tables.read(&streams, part, entrance);
                let read = (0..3_000_000).map(|_| reader.next()).take_while(|event| matches!(event, Ok(Some(_))));
                refused += usize::from(read.count() < 1000);
            }
        }
    }
    assert!(refused > 0);
}

/// Where segments with chunks begin.
fn positions(profile: &[u8]) -> Vec<usize> {
    let is_segment = |&at: &usize| profile[at..].starts_with(b"COTSEGMT");
    (0..profile.len()).step_by(4096).filter(is_segment).map(|at| at + 64).collect()
}
