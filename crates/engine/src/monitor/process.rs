//! Processes by number and start: numbers are given out again, the two together are not.

use std::fmt;
use std::fs;

/// A process of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in ticks since the host did.
    pub began: u64,
}

impl Process {
    /// This one.
    pub fn own() -> Option<Process> {
        Process::find(std::process::id())
    }

    /// The one that has the number now.
    pub fn find(pid: u32) -> Option<Process> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain anything, but what follows its bracket does not.
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let began = fields.nth(18)?.parse().ok()?;
        Some(Process { pid, began }).filter(|_| !is_dead)
    }

    /// Whether it runs.
    pub fn is_alive(self) -> bool {
        Process::find(self.pid) == Some(self)
    }

    /// From the name of a folder: `1234-567890-0`.
    pub fn of_name(name: &str) -> Option<Process> {
        let mut parts = name.splitn(3, '-');
        let pid = parts.next()?.parse().ok()?;
        let began = parts.next()?.parse().ok()?;
        Some(Process { pid, began })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start() {
        let own = Process::own().unwrap();
        assert!(own.is_alive());
        let earlier = Process {
            began: own.began - 1,
            ..own
        };
        assert!(!earlier.is_alive());
        assert_eq!(Process::of_name(&format!("{own}-3")), Some(own));
        assert_eq!(Process::of_name("1234"), None);
        assert_eq!(Process::of_name("x-1-0"), None);
    }
}
