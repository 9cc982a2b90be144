//! Decides how the code of a unit reaches its counters, by the program's use of threads and of the segment register.

use super::job::Setting;
use super::prepared::Prepared;
use crate::lower::Access;
use cotree_options::Threads;

/// Names whose presence means that threads may run our code.
const THREAD_STARTERS: [&str; 16] = [
    "pthread_create",
    "thrd_create",
    "dlopen",
    "_ZNSt6thread15_M_start_thread*",
    "__kmpc_fork_*",
    "__kmpc_omp_task*",
    "GOMP_parallel*",
    "GOMP_task*",
    "GOMP_teams*",
    "g_thread_new*",
    "g_thread_try_new*",
    "g_thread_create*",
    "g_thread_pool_new*",
    "uv_thread_create*",
    "uv_queue_work*",
    "dispatch_*",
];

/// Names whose presence means that threads may come about past `pthread_create`.
const HIDDEN_STARTERS: [&str; 10] = [
    "clone",
    "__clone",
    "__clone2",
    "clone3",
    "timer_create",
    "mq_notify",
    "aio_*",
    "lio_listio",
    "getaddrinfo_a",
    "dlmopen",
];

/// Names whose presence means that the segment register has other uses.
const SEGMENT_USERS: [&str; 2] = ["arch_prctl", "modify_ldt"];

/// How the unit's code reaches its counters if there are not too many. Without a linker it is unknown what starts
/// threads or uses the segment register.
pub(super) fn access(setting: &Setting<'_>, modules: &[Prepared]) -> Access {
    let threads = setting.options.asked.threads.unwrap_or_default();
    if threads == Threads::Off {
        return Access::Direct;
    }
    let Some(job) = setting.link else {
        return if setting.shared { Access::ThreadInLibrary } else { Access::ThreadInExecutable };
    };
    let refers_to = |names: &[&str]| {
        let symbols = job.request.modules.iter().flat_map(|m| &m.symbols);
        let undefined = symbols.filter(|s| s.resolution.is_reference()).map(|s| s.name.as_str());
        undefined.chain(job.request.native_references.iter().map(String::as_str)).any(|n| is_one_of(n, names))
    };
    if setting.shared {
        return Access::ThreadInLibrary;
    }
    if threads == Threads::Auto && !refers_to(&THREAD_STARTERS) && !refers_to(&HIDDEN_STARTERS) {
        return Access::Direct;
    }
    let segment_in_use =
        || refers_to(&HIDDEN_STARTERS) || refers_to(&SEGMENT_USERS) || modules.iter().any(|p| p.extracted.uses_segment);
    if threads == Threads::Word || segment_in_use() { Access::ThreadInExecutable } else { Access::Segment }
}

/// Is it one of these names, the 64-bit twin of one, or a version of either? A `*` stands for any end.
fn is_one_of(name: &str, names: &[&str]) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let name = name.strip_suffix("64").unwrap_or(name);
    names.iter().any(|known| known.strip_suffix('*').map_or(*known == name, |start| name.starts_with(start)))
}
