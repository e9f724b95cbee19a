//! Which processor the time-critical thread runs on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Error;
use crate::options::Affinity;

/// From now on this thread runs on that processor. One that was not asked for by name is given up
/// where there is none, with a note on standard error.
pub(crate) fn pin(affinity: Affinity) -> Result<(), Error> {
    let (Affinity::Asked(cpu) | Affinity::Usual(cpu)) = affinity;
    let mut set = CpuSet::new();
    let exists = (cpu as usize) < CpuSet::MAX_CPU;
    if exists {
        set.set(cpu as usize);
    }
    let pinned = sched_setaffinity(None, &set);
    match (pinned, affinity) {
        (Ok(()), _) => Ok(()),
        (Err(_), Affinity::Usual(_)) => {
            eprintln!(
                "note: not on processor {cpu}, for this process may use {}",
                usable()
            );
            Ok(())
        }
        (Err(error), Affinity::Asked(_)) => Err(Error::Affinity(format!(
            "cannot run on processor {cpu}: {error}; this process may use {}",
            usable()
        ))),
    }
}

/// The processors that there are for this process, as in `0, 1`.
fn usable() -> String {
    let Ok(set) = sched_getaffinity(None) else {
        return "others".to_owned();
    };
    let all = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    let all: Vec<_> = all.map(|cpu| cpu.to_string()).collect();
    all.join(", ")
}
