//! Pins the time-critical thread to a processor.

use std::io::Write;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Error;
use crate::options::CpuAffinity;

/// Checks whether [`pin_thread`] could succeed, without pinning.
pub(crate) fn check_affinity(affinity: CpuAffinity) -> Result<(), Error> {
    let before = sched_getaffinity(None);
    let pinned = match affinity {
        CpuAffinity::Requested(_) => pin_thread(affinity),
        // A preferred processor is never refused.
        CpuAffinity::Preferred(_) => Ok(()),
    };
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    pinned
}

/// Pins this thread to a processor. A preferred processor that does not exist is given up, with a
/// note on standard error.
pub(crate) fn pin_thread(affinity: CpuAffinity) -> Result<(), Error> {
    let (CpuAffinity::Requested(cpu) | CpuAffinity::Preferred(cpu)) = affinity;
    let pinned = sched_setaffinity(None, &single_cpu(cpu as usize));
    match (pinned, affinity) {
        (Ok(()), _) => Ok(()),
        (Err(_), CpuAffinity::Preferred(_)) => {
            let _ = writeln!(
                std::io::stderr(),
                "note: not on processor {cpu}, for this process may use {}",
                usable_cpus()
            );
            Ok(())
        }
        (Err(error), CpuAffinity::Requested(_)) => Err(Error::Affinity(format!(
            "cannot run on processor {cpu}: {error}; this process may use {}",
            usable_cpus()
        ))),
    }
}

/// List of the processors that this process may use, such as `0, 1`.
fn usable_cpus() -> String {
    let Ok(before) = sched_getaffinity(None) else {
        return "others".to_owned();
    };
    // Processors that `taskset` has excluded may be used too, so the current affinity does not say
    // which.
    let takes = |&cpu: &usize| sched_setaffinity(None, &single_cpu(cpu)).is_ok();
    let all = (0..CpuSet::MAX_CPU).filter(takes);
    let all: Vec<_> = all.map(|cpu| cpu.to_string()).collect();
    let _ = sched_setaffinity(None, &before);
    all.join(", ")
}

/// Set of one processor; empty if there can be no such processor.
fn single_cpu(cpu: usize) -> CpuSet {
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
        let all = usable_cpus();
        let first = (0..CpuSet::MAX_CPU)
            .find(|&cpu| before.is_set(cpu))
            .unwrap();
        sched_setaffinity(None, &single_cpu(first)).unwrap();
        assert_eq!(usable_cpus(), all);
        let now = sched_getaffinity(None).unwrap();
        assert!(now == single_cpu(first), "it stays where it was");
        let error = check_affinity(CpuAffinity::Requested(1023))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with(&format!("this process may use {all}")),
            "{error}"
        );
    }
}
