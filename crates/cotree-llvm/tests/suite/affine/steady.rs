//! Branches that stay as they are while a loop runs.

use super::Seen;
use cotree_core::probe::Probe;

#[test]
fn a_branch_that_stays_needs_no_counter_in_the_loop() {
    let body = "
define i32 @f(ptr %a, i64 %n, i1 %c, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %on ]
  %p = getelementptr i8, ptr %a, i64 %i
  %x = load i8, ptr %p
  br i1 %c, label %then, label %on
then:
  store volatile i8 %x, ptr %out
  br label %on
on:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}";
    let conditional = |seen: &Seen| {
        let is = |probe: &Probe| matches!(probe, Probe::CloseIf(..));
        seen.plan().probes.iter().filter(|placed| is(&placed.probe)).count()
    };
    let mut seen = Seen::new(body);
    assert_eq!((seen.counts_inside(), conditional(&seen)), (0, 1), "{:?}", seen.plan());
    let text = seen.instrumented();
    // Which edge is counted decides where the nothing stands.
    let selects = ["select i1 %c, i64 0, ", "select i1 %c, i64 %"];
    assert_eq!(selects.iter().map(|select| text.matches(select).count()).sum::<usize>(), 1, "{text}");

    let changing = body.replace("br i1 %c", "%z = icmp eq i8 %x, 0\n  br i1 %z");
    let leaving = body.replace("br label %on\non:", "br label %done\non:");
    let returning = body.replace("label %then, label %on\n", "label %then, label %done\n");
    // Left without a look at what may be undefined; and two edges to one place.
    let branch = "  br i1 %c, label %then, label %on\n";
    let early = "  %z = icmp eq i8 %x, 0\n  br i1 %z, label %done, label %look\nlook:\n";
    let early = body.replace(branch, &format!("{early}{branch}"));
    let arm = "then:\n  store volatile i8 %x, ptr %out\n  br label %on\n";
    let same = body.replace(arm, "").replace("label %then,", "label %on,");
    for other in [changing, leaving, returning, early, same] {
        assert_ne!(other, body);
        let seen = Seen::new(&other);
        assert_eq!(conditional(&seen), 0, "{other}: {:?}", seen.plan());
    }
    // The same condition in a loop around it, and one that only that one changes.
    let nested = "
define i32 @f(ptr %a, i64 %n, i1 %c, ptr %out) {
entry:
  br label %outer
outer:
  %o = phi i64 [ 0, %entry ], [ %o.next, %after ]
  %q = getelementptr i8, ptr %a, i64 %o
  %y = load volatile i8, ptr %q
  %d = icmp eq i8 %y, 0
  br label %loop
loop:
  %i = phi i64 [ 0, %outer ], [ %next, %on ]
  br i1 %d, label %then, label %on
then:
  store volatile i64 %i, ptr %out
  br label %on
on:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %after
after:
  %o.next = add i64 %o, 1
  %again = icmp ult i64 %o.next, %n
  br i1 %again, label %outer, label %done
done:
  ret i32 0
}";
    let mut seen = Seen::new(nested);
    assert_eq!(conditional(&seen), 1, "{:?}", seen.plan());
    let steady: Vec<usize> = seen.extracted.affine[0].iter().map(|variable| variable.steady.len()).collect();
    assert_eq!(steady.iter().sum::<usize>(), 1, "{steady:?}");
    seen.instrumented();
}
