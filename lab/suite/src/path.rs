//! The paths that a stream can take, fastest first.

use std::fmt;
use std::str::FromStr;

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
}

impl StreamPath {
    /// All paths, fastest first.
    pub const ALL: [StreamPath; 5] = [
        StreamPath::Fused,
        StreamPath::Threaded,
        StreamPath::Shm,
        StreamPath::Rum,
        StreamPath::Tcp,
    ];

    /// The name of the path in options and results.
    pub fn name(self) -> &'static str {
        match self {
            StreamPath::Fused => "fused",
            StreamPath::Threaded => "threaded",
            StreamPath::Shm => "shm",
            StreamPath::Rum => "rum",
            StreamPath::Tcp => "tcp",
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

    fn from_str(text: &str) -> Result<StreamPath, String> {
        let found = StreamPath::ALL.into_iter().find(|path| path.name() == text);
        found.ok_or_else(|| {
            let names = StreamPath::ALL.map(StreamPath::name).join(", ");
            format!("there is no path `{text}`; there are {names}")
        })
    }
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
        for path in StreamPath::ALL {
            assert_eq!(path.name().parse(), Ok(path));
        }
        let refused = "pigeon".parse::<StreamPath>().unwrap_err();
        assert!(
            refused.contains("fused, threaded, shm, rum, tcp"),
            "{refused}"
        );
    }
}
