//! The public interface of what this build of the runtime does not record: nothing is counted, nothing is switched on.
//! The functions that answer otherwise are in `queries` and in `trace`.

use crate::arch::entries::answer;

answer!("cotree_event_call_count", "0");
answer!("cotree_event_count", "0");
// The kind is not counted.
answer!("cotree_event_limit", "1");
answer!("cotree_event_limit_total", "1");
answer!("cotree_trace_start", "0");
answer!("cotree_trace_stop", "0");
