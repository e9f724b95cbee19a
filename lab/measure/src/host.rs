//! Description of the machine that a result was measured on, as far as the system tells.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Host;

/// Duration of the loop that looks for interruptions: the time that a session takes to start.
const JITTER_DURATION: Duration = Duration::from_secs(1);

impl Host {
    /// Describes this machine. Takes a second, in which a loop reads the clock; the longest gap
    /// between two readings is the jitter.
    pub fn detect() -> Host {
        Host {
            processor: processor(&read_or_empty("/proc/cpuinfo")),
            cores: std::thread::available_parallelism().map_or(0, |count| count.get() as u32),
            kernel: read_or_empty("/proc/sys/kernel/osrelease")
                .trim()
                .to_owned(),
            huge_pages: huge_pages(
                &read_or_empty("/sys/kernel/mm/transparent_hugepage/enabled"),
                &read_or_empty("/proc/meminfo"),
            ),
            governor: Some(read_or_empty(GOVERNOR).trim().to_owned())
                .filter(|name| !name.is_empty()),
            jitter_ns: Some(jitter_ns(JITTER_DURATION)),
        }
    }
}

const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/// The text of a file; empty if it cannot be read.
fn read_or_empty(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn processor(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| field(line, "model name"));
    name.unwrap_or("unknown").to_owned()
}

/// The value of the first line `name : value`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (before, value) = line.split_once(':')?;
    (before.trim() == name).then(|| value.trim())
}

/// The setting of transparent huge pages, and the number of reserved ones.
fn huge_pages(enabled: &str, meminfo: &str) -> String {
    let chosen = enabled.split(['[', ']']).nth(1).unwrap_or("unknown");
    let reserved = meminfo
        .lines()
        .find_map(|line| field(line, "HugePages_Total"));
    format!("transparent {chosen}, reserved {}", reserved.unwrap_or("0"))
}

/// The longest time in nanoseconds between two readings of the clock by a loop that does nothing
/// else.
fn jitter_ns(time: Duration) -> u64 {
    let start = Instant::now();
    let (mut last, mut longest) = (start, Duration::ZERO);
    while last - start < time {
        let now = black_box(Instant::now());
        longest = longest.max(now - last);
        last = now;
    }
    longest.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 3.60GHz\nflags\t: a b\n";
        assert_eq!(processor(cpuinfo), "Some CPU @ 3.60GHz");
        assert_eq!(processor("Features : fp"), "unknown");
        let meminfo = "MemTotal: 5 kB\nHugePages_Total:      12\n";
        let said = huge_pages("always [madvise] never\n", meminfo);
        assert_eq!(said, "transparent madvise, reserved 12");
        assert_eq!(huge_pages("", ""), "transparent unknown, reserved 0");
    }

    #[test]
    fn a_loop_sees_some_gap() {
        assert!(jitter_ns(Duration::from_millis(1)) > 0);
    }
}
