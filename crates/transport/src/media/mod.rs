//! The media, one file each. Nobody outside names one except [`all`].

mod ring;
mod ringed;
pub mod rum;
mod shm;
pub mod sim;
pub mod tcp;

use crate::Medium;

static SIM: sim::Sim = sim::Sim {
    inner: &shm::Shm,
    seed: None,
    faults: sim::Faults::MILD,
};

static ALL: [&dyn Medium; 5] = [&ring::Ring, &shm::Shm, &rum::Rum::DEFAULT, &tcp::Tcp, &SIM];

/// Every medium, the fastest first; last the one for tests, [`sim`].
pub fn all() -> &'static [&'static dyn Medium] {
    &ALL
}

/// The medium of a name.
pub fn find(name: &str) -> Option<&'static dyn Medium> {
    all().iter().copied().find(|medium| medium.name() == name)
}
