//! The media, one folder each. Code outside finds a medium by its name, with [`find`], or looks
//! through [`all`].

pub mod plugin;
mod rails;
pub mod rdma;
mod ring;
mod ring_edge;
pub mod rum;
mod shm;
pub mod sim;
pub mod tcp;
mod tcp_edge;

use std::path::PathBuf;

use crate::{Error, Medium};

static SIM: sim::SimMedium = sim::SimMedium {
    inner: &shm::ShmMedium,
    seed: None,
    faults: sim::SimFaults::MILD,
};

static ALL: [&dyn Medium; 7] = [
    &ring::RingMedium,
    &shm::ShmMedium,
    &rum::RumMedium::DEFAULT,
    &tcp::TcpMedium,
    &rdma::RdmaMedium::DEFAULT,
    &rdma::RdmaMedium::RUM_RDMA,
    &SIM,
];

/// Every medium, the fastest first, `sim` among them, which is for tests; then those of libraries
/// that [`search`] has found.
pub fn all() -> Vec<&'static dyn Medium> {
    ALL.into_iter().chain(plugin::media()).collect()
}

/// Loads the libraries `libthalweg_medium_NAME.so` of folders that were not searched before. They
/// are media of the process from then on. Those that cannot be used are [`plugin::unusable`].
///
/// # Example
/// ```
/// use thalweg_transport::media;
///
/// media::search(&["/nonexistent/media".into()]);
/// assert!(media::plugin::unusable()[0].why.contains("/nonexistent/media"));
/// ```
pub fn search(folders: &[PathBuf]) {
    plugin::search(folders, |name| find_own(name).is_some());
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
    let media = all().into_iter();
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
    let found = || {
        plugin::media()
            .into_iter()
            .find(|medium| medium.name() == name)
    };
    find_own(name).or_else(found)
}

/// The medium of this name that is no library's.
fn find_own(name: &str) -> Option<&'static dyn Medium> {
    ALL.into_iter().find(|medium| medium.name() == name)
}

/// The medium with this name and these settings: words `key=value`, with blanks between them.
///
/// # Example
/// ```
/// use thalweg_transport::media;
///
/// assert_eq!(media::find_with("rdma", "mode=channel")?.name(), "rdma");
/// let refusal = media::find_with("tcp", "mode=channel").err().expect("tcp has no modes");
/// assert_eq!(refusal.to_string(), "tcp has no settings, so `mode=channel` means nothing there");
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
///
/// # Errors
/// No medium has this name, or the medium has no such settings.
pub fn find_with(name: &str, settings: &str) -> Result<&'static dyn Medium, Error> {
    let medium = find(name).ok_or_else(|| unknown_medium(name))?;
    match settings {
        "" => Ok(medium),
        _ => medium.with_settings(settings),
    }
}

/// The error for a name that no medium has; it lists the media.
fn unknown_medium(name: &str) -> Error {
    let media = all().into_iter();
    let media = media.filter(|medium| !medium.caps().is_for_tests);
    let media: Vec<_> = media.map(|medium| medium.name()).collect();
    let media = media.join(", ");
    Error::Refused(format!("there is no medium {name}; there are {media}"))
}
