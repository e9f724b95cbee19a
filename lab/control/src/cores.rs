//! The cores that contenders run on: the first two that this process may use.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Error;

/// All cores that this process may run on, in ascending order.
pub fn usable_cores() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let numbers = 0..CpuSet::MAX_CPU;
    let numbers = numbers.filter(|number| set.is_set(*number));
    numbers.map(|number| number as u32).collect()
}

/// The cores of source and sink; one core twice if there is only one.
pub fn pair() -> (u32, u32) {
    let all = usable_cores();
    let source = all.first().copied().unwrap_or(0);
    (source, all.get(1).copied().unwrap_or(source))
}

/// Pins the calling thread to one core.
///
/// # Errors
/// The system refuses, for instance because the process may not use the core.
pub fn pin(core: u32) -> Result<(), Error> {
    let mut set = CpuSet::new();
    set.set(core as usize);
    let pinned = sched_setaffinity(None, &set);
    pinned.map_err(|error| Error::system(&format!("run on core {core}"), error))
}

/// Why benchmarks that need two cores cannot run; `None` if they can.
pub fn missing_reason() -> Option<String> {
    let lacks = usable_cores().len() < 2;
    lacks.then(|| "one core: source and sink want one each".to_owned())
}
