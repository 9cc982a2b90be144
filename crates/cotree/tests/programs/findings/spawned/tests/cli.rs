use std::process::Command;
fn bin() -> Command { Command::new(env!("CARGO_BIN_EXE_spawned")) }
#[test]
fn usage() { assert!(bin().output().unwrap().status.success()); }
#[test]
fn fail() { assert_eq!(bin().arg("fail").output().unwrap().status.code(), Some(3)); }
#[test]
fn panics() { assert_eq!(bin().arg("panic").output().unwrap().status.code(), Some(101)); }
#[test]
fn empty_folder() {
    // A clean environment and an empty folder.
    let dir = std::env::temp_dir().join(format!("spawned-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let out = bin().arg("list").env_clear().current_dir(&dir).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let left = std::fs::read_dir(&dir).unwrap().count();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!((text.as_str(), left), ("0 files\n", 0));
}
