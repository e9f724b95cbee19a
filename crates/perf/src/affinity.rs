//! Which processor the time-critical thread runs on.

use std::io::Write;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Error;
use crate::options::Affinity;

/// Looks whether [`pin`] could do what it is asked for, without doing it.
pub(crate) fn check(affinity: Affinity) -> Result<(), Error> {
    let before = sched_getaffinity(None);
    let pinned = match affinity {
        Affinity::Asked(_) => pin(affinity),
        // That is never refused.
        Affinity::Usual(_) => Ok(()),
    };
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    pinned
}

/// From now on this thread runs on that processor. One that was not asked for by name is given up
/// where there is none, with a note on standard error.
pub(crate) fn pin(affinity: Affinity) -> Result<(), Error> {
    let (Affinity::Asked(cpu) | Affinity::Usual(cpu)) = affinity;
    let pinned = sched_setaffinity(None, &only(cpu as usize));
    match (pinned, affinity) {
        (Ok(()), _) => Ok(()),
        (Err(_), Affinity::Usual(_)) => {
            let _ = writeln!(
                std::io::stderr(),
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
    let Ok(before) = sched_getaffinity(None) else {
        return "others".to_owned();
    };
    // Those that `taskset` has kept it from too, so what it runs on now does not say which.
    let takes = |&cpu: &usize| sched_setaffinity(None, &only(cpu)).is_ok();
    let all = (0..CpuSet::MAX_CPU).filter(takes);
    let all: Vec<_> = all.map(|cpu| cpu.to_string()).collect();
    let _ = sched_setaffinity(None, &before);
    all.join(", ")
}

/// That processor alone; none if there can be no such processor.
fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_taskset_keeps_a_thread_from_can_be_asked_for() {
        let before = sched_getaffinity(None).unwrap();
        let all = usable();
        let first = (0..CpuSet::MAX_CPU)
            .find(|&cpu| before.is_set(cpu))
            .unwrap();
        sched_setaffinity(None, &only(first)).unwrap();
        assert_eq!(usable(), all);
        let now = sched_getaffinity(None).unwrap();
        assert!(now == only(first), "it stays where it was");
        let error = check(Affinity::Asked(1023)).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("this process may use {all}")),
            "{error}"
        );
    }
}
