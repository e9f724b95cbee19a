//! The processor cores that this process may run threads on.

use rustix::thread::{CpuSet, sched_setaffinity};

/// Finds the first of the cores `asked` that this process cannot use, and lists all that it can
/// use; `None` if it can use all of `asked`.
pub fn missing_core(asked: &[u32]) -> Option<(u32, Vec<u32>)> {
    if asked.is_empty() {
        return None;
    }
    let asked = asked.to_vec();
    // A thread of its own tries them: its own placement does not matter.
    let find = move || {
        let missing = asked.into_iter().find(|&core| !try_pin(core))?;
        let all = 0..CpuSet::MAX_CPU as u32;
        Some((missing, all.filter(|&core| try_pin(core)).collect()))
    };
    // Without that thread, placing the job's threads will report a missing core.
    let thread = std::thread::Builder::new().spawn(find).ok()?;
    thread.join().unwrap_or_default()
}

/// Moves the calling thread to a core; returns whether that is possible.
fn try_pin(core: u32) -> bool {
    let mut set = CpuSet::new();
    let exists = (core as usize) < CpuSet::MAX_CPU;
    if exists {
        set.set(core as usize);
    }
    exists && sched_setaffinity(None, &set).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_missing_is_named_with_those_that_are_there() {
        let (missing, there) = missing_core(&[5000]).unwrap();
        assert_eq!(missing, 5000);
        assert!(!there.is_empty());
        assert_eq!(missing_core(&there), None);
    }
}
