//! The cores that threads can be put on.

use rustix::thread::{CpuSet, sched_setaffinity};

/// The first of these cores that this process cannot use, and those that it can; `None`: it can use
/// all of them.
pub fn missing_core(asked: &[u32]) -> Option<(u32, Vec<u32>)> {
    if asked.is_empty() {
        return None;
    }
    let asked = asked.to_vec();
    // On a thread that has no use for its own cores afterwards.
    let find = move || {
        let missing = asked.into_iter().find(|&core| !try_pin(core))?;
        let all = 0..CpuSet::MAX_CPU as u32;
        Some((missing, all.filter(|&core| try_pin(core)).collect()))
    };
    // Without one, whoever is to run there will say so.
    let thread = std::thread::Builder::new().spawn(find).ok()?;
    thread.join().unwrap_or_default()
}

/// Whether this thread may run there; from now on it does.
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
