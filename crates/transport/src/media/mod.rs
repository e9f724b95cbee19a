//! The media, one folder each. Code outside finds a medium by its name, with [`find`], or looks
//! through [`all`].

pub mod rdma;
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

static ALL: [&dyn Medium; 6] = [
    &ring::RingMedium,
    &shm::ShmMedium,
    &rum::RumMedium::DEFAULT,
    &tcp::TcpMedium,
    &rdma::RdmaMedium { provider: "tcp" },
    &SIM,
];

/// Every medium, the fastest first. The last one is for tests: [`sim`].
pub fn all() -> &'static [&'static dyn Medium] {
    &ALL
}

/// The media of [`all`] that can work in this process, with the libraries that are installed.
///
/// # Example
/// ```
/// use thalweg_transport::media;
///
/// assert!(media::available().any(|medium| medium.name() == "tcp"));
/// if media::find("rdma").is_some_and(|medium| medium.check_available().is_err()) {
///     assert!(media::available().all(|medium| medium.name() != "rdma"));
/// }
/// ```
pub fn available() -> impl Iterator<Item = &'static dyn Medium> {
    let media = all().iter().copied();
    media.filter(|medium| medium.check_available().is_ok())
}

/// The medium with this name; `None`: there is none.
///
/// # Example
/// ```
/// use thalweg_transport::media;
///
/// let medium = media::find("tcp").expect("a medium of this name");
/// assert!(medium.caps().crosses_hosts);
/// assert!(media::find("pigeon").is_none());
/// assert!(media::all().iter().any(|medium| medium.name() == "shm"));
/// ```
pub fn find(name: &str) -> Option<&'static dyn Medium> {
    all().iter().copied().find(|medium| medium.name() == name)
}
