//! The media, one folder each. Code outside finds a medium by name, with [`find`] or [`all`].

mod ring;
mod ring_edge;
pub mod rum;
mod shm;
pub mod sim;
pub mod tcp;
mod tcp_edge;

use crate::Medium;

static SIM: sim::SimMedium = sim::SimMedium {
    inner: &shm::ShmMedium,
    seed: None,
    faults: sim::SimFaults::MILD,
};

static ALL: [&dyn Medium; 5] = [
    &ring::RingMedium,
    &shm::ShmMedium,
    &rum::RumMedium::DEFAULT,
    &tcp::TcpMedium,
    &SIM,
];

/// Every medium, the fastest first; last the one for tests, [`sim`].
pub fn all() -> &'static [&'static dyn Medium] {
    &ALL
}

/// The medium of a name.
pub fn find(name: &str) -> Option<&'static dyn Medium> {
    all().iter().copied().find(|medium| medium.name() == name)
}
