//! Cores of the hosts of a plan, by the numbers that a sketch has for them.

use crate::choice::PlanOptions;

/// The number of cores of each host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCores {
    /// Cores of the hosts that are known, in their order.
    known: Vec<f64>,
    /// Cores of every other host.
    other: f64,
}

impl HostCores {
    /// The cores of the hosts that some options have.
    pub fn new(options: &PlanOptions<'_>) -> HostCores {
        let hosts = options.hosts.iter();
        HostCores {
            known: hosts.map(|host| f64::from(host.cores.max(1))).collect(),
            other: f64::from(options.cores.max(1)),
        }
    }

    /// Cores of a host.
    pub fn of(&self, host: u32) -> f64 {
        self.known.get(host as usize).copied().unwrap_or(self.other)
    }

    /// Cores of all known hosts together; those of the only host if none is known.
    pub fn total(&self) -> f64 {
        match self.known[..] {
            [] => self.other,
            _ => self.known.iter().sum(),
        }
    }
}
