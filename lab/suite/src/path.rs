//! The paths that a stream can take, fastest first.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use control::cores;
use transport::media;

/// The path of a stream from its source to its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPath {
    /// By a call within a thread, or by inlined code.
    Fused,
    /// Through a threaded port to another thread.
    Threaded,
    /// Over shared memory to another process.
    Shm,
    /// By batches over TCP to another process.
    Rum,
    /// Over TCP to another process, a write per tuple.
    Tcp,
    /// On another medium to another process.
    Named(&'static NamedPath),
}

/// A path on a medium that is measured when it is named.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// Name of the path in options and results.
    pub name: String,
    /// Name of the medium.
    pub medium: String,
    /// Settings of the medium, as a plan has them.
    pub settings: String,
}

impl StreamPath {
    /// The paths that are measured unless others are named, fastest first.
    pub const ALL: [StreamPath; 5] = [
        StreamPath::Fused,
        StreamPath::Threaded,
        StreamPath::Shm,
        StreamPath::Rum,
        StreamPath::Tcp,
    ];

    /// The paths by `rdma`, one for each mode, over libfabric's provider for sockets.
    pub fn rdma() -> [StreamPath; 2] {
        static PATHS: OnceLock<[NamedPath; 2]> = OnceLock::new();
        let path = |mode: &str| NamedPath {
            name: format!("rdma-{mode}"),
            medium: "rdma".to_owned(),
            settings: format!("provider=tcp mode={mode}"),
        };
        let paths = PATHS.get_or_init(|| [path("write"), path("channel")]);
        paths.each_ref().map(StreamPath::Named)
    }

    /// The path on a medium with these settings. The few paths of a command live as long as it.
    pub fn on_medium(name: &str, medium: &str, settings: &str) -> StreamPath {
        StreamPath::Named(Box::leak(Box::new(NamedPath {
            name: name.to_owned(),
            medium: medium.to_owned(),
            settings: settings.to_owned(),
        })))
    }

    /// The paths of a word in options: a path, `rdma` for both of its modes, or the medium of a
    /// library that [`transport::media::search`] has found.
    ///
    /// # Errors
    /// A sentence: there is no such path.
    pub fn of_word(word: &str) -> Result<Vec<StreamPath>, String> {
        let rdma = StreamPath::rdma();
        let mut known = StreamPath::ALL.into_iter().chain(rdma);
        if let Some(path) = known.find(|path| path.name() == word) {
            return Ok(vec![path]);
        }
        if word == "rdma" {
            return Ok(rdma.to_vec());
        }
        match media::find(word).filter(|medium| medium.library().is_some()) {
            Some(_) => Ok(vec![StreamPath::on_medium(word, word, "")]),
            None => Err(unknown_path(word)),
        }
    }

    /// The medium and its settings, as a plan has them.
    pub(crate) fn medium_words(self) -> String {
        match self {
            StreamPath::Named(path) => format!("{} {}", path.medium, path.settings),
            _ => self.name().to_owned(),
        }
    }

    /// Whether the path leads to other hosts.
    pub fn leads_to_hosts(self) -> bool {
        match self {
            StreamPath::Rum | StreamPath::Tcp => true,
            StreamPath::Named(path) => {
                let medium = media::find(&path.medium);
                medium.is_some_and(|medium| medium.caps().crosses_hosts)
            }
            _ => false,
        }
    }

    /// Why the path cannot be measured on this machine; `None`: it can.
    pub fn missing_reason(self) -> Option<String> {
        let medium = match self {
            StreamPath::Fused => return None,
            StreamPath::Named(path) => {
                let found = media::find_with(&path.medium, path.settings.trim());
                found.and_then(|medium| medium.check_available())
            }
            _ => Ok(()),
        };
        let why = medium.err().map(|error| error.to_string());
        cores::missing_reason().or(why)
    }

    /// The name of the path in options and results.
    pub fn name(self) -> &'static str {
        match self {
            StreamPath::Fused => "fused",
            StreamPath::Threaded => "threaded",
            StreamPath::Shm => "shm",
            StreamPath::Rum => "rum",
            StreamPath::Tcp => "tcp",
            StreamPath::Named(path) => &path.name,
        }
    }

    /// Whether the path leads to another process; tuples have a codec then.
    pub fn is_crossing(self) -> bool {
        !matches!(self, StreamPath::Fused | StreamPath::Threaded)
    }
}

impl fmt::Display for StreamPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StreamPath {
    type Err = String;

    /// The one path of a word: see [`StreamPath::of_word`].
    fn from_str(text: &str) -> Result<StreamPath, String> {
        match StreamPath::of_word(text)?[..] {
            [path] => Ok(path),
            _ => Err(format!("`{text}` means several paths")),
        }
    }
}

/// The sentence about a word that names no path.
fn unknown_path(word: &str) -> String {
    let libraries = media::all();
    let libraries = libraries.iter().filter(|medium| medium.library().is_some());
    let names = StreamPath::ALL.iter().map(|path| path.name());
    let names = names
        .chain(["rdma"])
        .chain(libraries.map(|medium| medium.name()));
    let names: Vec<_> = names.collect();
    format!("there is no path `{word}`; there are {}", names.join(", "))
}

/// The format of tuples between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecKind {
    /// Facade: tuples as they lie in memory.
    Facade,
    /// Normal: tuples written field by field.
    Normal,
}

impl CodecKind {
    /// Both codecs, facade first.
    pub const ALL: [CodecKind; 2] = [CodecKind::Facade, CodecKind::Normal];

    /// The name of the codec in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            CodecKind::Facade => "facade",
            CodecKind::Normal => "normal",
        }
    }
}

impl FromStr for CodecKind {
    type Err = String;

    fn from_str(text: &str) -> Result<CodecKind, String> {
        let found = CodecKind::ALL
            .into_iter()
            .find(|codec| codec.name() == text);
        found.ok_or_else(|| format!("there is no codec `{text}`; there are facade, normal"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for path in StreamPath::ALL.into_iter().chain(StreamPath::rdma()) {
            assert_eq!(StreamPath::of_word(path.name()), Ok(vec![path]));
        }
        assert_eq!(StreamPath::of_word("rdma"), Ok(StreamPath::rdma().to_vec()));
        let refused = StreamPath::of_word("pigeon").unwrap_err();
        assert!(
            refused.ends_with("fused, threaded, shm, rum, tcp, rdma"),
            "{refused}"
        );
    }
}
