//! Loops that shift a number to the right.

use super::Seen;

/// How many bits of a number are set.
const BITS: &str = "
define i32 @bits(i32 noundef %n, ptr %a) {
entry:
  %none = icmp eq i32 %n, 0
  br i1 %none, label %out, label %loop
loop:
  %v = phi i32 [ %n, %entry ], [ %v1, %more ]
  store volatile i32 %v, ptr %a
  br label %more
more:
  %v1 = lshr i32 %v, 3
  %end = icmp eq i32 %v1, 0
  br i1 %end, label %out, label %loop
out:
  ret i32 0
}";

#[test]
fn shifts_count_by_the_highest_bit() {
    let counts = ["v: counts e2 in steps of -3"];
    let mut seen = Seen::new(BITS);
    assert_eq!(seen.verdicts(), counts);
    assert_eq!(seen.counts_inside(), 0);
    let text = seen.instrumented();
    // Only what came in is looked at: in the end nothing was left.
    assert_eq!(text.matches("call i32 @llvm.ctlz.i32(i32 %n, i1 true)").count(), 1, "{text}");
    assert!(!text.contains("ctlz.i32(i32 %v") && text.contains("urem i32"), "{text}");
    // 0 never goes around either, but comes to the end of the loop.
    let unguarded = BITS.replace("icmp eq i32 %n, 0", "icmp eq i32 %n, 7");
    let text = Seen::new(&unguarded).instrumented();
    assert!(text.contains("or i32 %n, 1"), "{text}");
    // What may be another value each time has to be kept.
    let text = Seen::new(&BITS.replace("i32 noundef %n", "i32 %n")).instrumented();
    assert!(text.contains("freeze i32 %n") && text.contains("or i32 %"), "{text}");
    // Other exits, and other ends.
    for (test, ended) in [
        ("%v1 = lshr i32 %v, 3\n  %end = icmp ult i32 %v, 8", true),
        ("%v1 = lshr i32 %v, 3\n  %end = icmp ult i32 %v, 9", false),
        ("%v1 = lshr i32 %v, 3\n  %end = icmp ult i32 %v, 100", false),
        ("%v1 = lshr i32 %v, 3\n  %end = icmp ule i32 %v1, 1", false),
        ("%v0 = lshr i32 %v, 1\n  %v1 = lshr i32 %v0, 2\n  %end = icmp eq i32 %v1, 0", true),
    ] {
        let mut seen = Seen::new(&BITS.replace("%v1 = lshr i32 %v, 3\n  %end = icmp eq i32 %v1, 0", test));
        assert_eq!(seen.verdicts(), counts, "{test}");
        assert_eq!(seen.instrumented().contains("urem"), ended, "{test}");
    }
    let leaves = BITS.replace("br label %more", "%x = load volatile i1, ptr %a\n  br i1 %x, label %out, label %more");
    let text = Seen::new(&leaves).instrumented();
    assert_eq!(text.matches("@llvm.ctlz.i32(i32 %v, i1 true)").count(), 1, "{text}");
}

#[test]
fn shifts_that_tell_nothing_are_left_alone() {
    let refused = |from: &str, to: &str| {
        let body = BITS.replace(from, to);
        assert_ne!(body, BITS, "{from}");
        assert_eq!(Seen::new(&body).verdicts(), Vec::<String>::new(), "{to}");
    };
    // It may go on and on with a 0.
    refused("icmp eq i32 %v1, 0", "icmp eq i32 %v1, 1");
    refused("icmp eq i32 %v1, 0", "icmp ult i32 %v, 7");
    refused("icmp eq i32 %v1, 0", "icmp slt i32 %v1, 1");
    // It is something else, or something else sometimes.
    refused("lshr i32 %v, 3", "ashr i32 %v, 3");
    refused("lshr i32 %v, 3", "lshr exact i32 %v, 3");
    refused("lshr i32 %v, 3", "lshr i32 %v, %n");
    refused("lshr i32 %v, 3", "lshr i32 %v, 32");
    refused("lshr i32 %v, 3", "lshr i32 %n, 3");
    refused("%v1 = lshr i32 %v, 3", "%v0 = lshr i32 %v, 3\n  %v1 = or i32 %v0, 1");
    refused("[ %v1, %more ]", "[ %v, %more ]");
}
