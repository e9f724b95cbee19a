//! The media of this process for people: what each can do, and why one cannot be used.

use std::path::PathBuf;

use serde::Serialize;
use transport::{Medium, media};

/// A medium, or a library that cannot be one, as `thalweg medium list` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedMedium {
    /// Name of the medium in plans; `None`: a folder that cannot be searched.
    pub name: Option<String>,
    /// File of the library, if a user has written it; or the folder.
    pub file: Option<PathBuf>,
    /// How the medium works, in a few words.
    pub description: String,
    /// Why the medium cannot be used here; `None`: it can.
    pub problem: Option<String>,
    /// Capabilities of the medium; `None` for a library that cannot be used.
    pub capabilities: Option<ListedCapabilities>,
}

/// Capabilities of a medium, by the names that a library's table has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ListedCapabilities {
    /// Whether streams can cross processes on the medium.
    pub crosses_processes: bool,
    /// Whether streams can cross hosts on the medium.
    pub crosses_hosts: bool,
    /// Whether bytes come from a network, so that every tuple is checked before it is read.
    pub is_untrusted: bool,
    /// Whether one write serves several receivers.
    pub is_one_to_many: bool,
    /// Most receivers of an edge; `None`: any number.
    pub receivers_max: Option<u32>,
    /// Stated nanoseconds for a frame without bytes.
    pub frame_ns: Option<u32>,
    /// Stated picoseconds for each byte.
    pub byte_ps: Option<u32>,
    /// Whether `auto` may choose the medium, or only its name selects it.
    pub is_by_name_only: bool,
}

/// The media that there are, those of the libraries in `folders` behind Thalweg's own, and then the
/// libraries and folders that cannot be used. Media for tests are left out. The libraries are
/// loaded into this process.
///
/// # Example
/// ```
/// let media = thalweg_engine::list_media(&[]);
/// let shm = media.iter().find(|medium| medium.name.as_deref() == Some("shm")).unwrap();
/// assert!(shm.capabilities.unwrap().crosses_processes && shm.problem.is_none());
/// ```
pub fn list_media(folders: &[PathBuf]) -> Vec<ListedMedium> {
    media::search(folders);
    let all = media::all().into_iter();
    let there = all.filter(|medium| !medium.caps().is_for_tests).map(listed);
    let unusable = media::plugin::unusable().into_iter();
    let unusable = unusable.map(|unusable| ListedMedium {
        name: unusable.name,
        file: Some(unusable.file),
        description: String::new(),
        problem: Some(unusable.why),
        capabilities: None,
    });
    there.chain(unusable).collect()
}

fn listed(medium: &'static dyn Medium) -> ListedMedium {
    let (caps, cost) = (medium.caps(), medium.stated_cost());
    ListedMedium {
        name: Some(medium.name().to_owned()),
        file: medium.library().map(PathBuf::from),
        description: medium.description(),
        problem: medium
            .check_available()
            .err()
            .map(|error| error.to_string()),
        capabilities: Some(ListedCapabilities {
            crosses_processes: caps.crosses_processes,
            crosses_hosts: caps.crosses_hosts,
            is_untrusted: caps.is_untrusted,
            is_one_to_many: caps.is_one_to_many,
            receivers_max: (caps.receivers_max < u32::MAX).then_some(caps.receivers_max),
            frame_ns: cost.map(|cost| cost.frame_ns),
            byte_ps: cost.map(|cost| cost.byte_ps),
            is_by_name_only: medium.library().is_some(),
        }),
    }
}
