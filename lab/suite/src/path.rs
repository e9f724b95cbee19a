//! The channels that a stream can take, from the fastest on.

use std::fmt;
use std::str::FromStr;

/// How a stream gets from its source to its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPath {
    /// By a call, or by nothing at all.
    Fused,
    /// Over a threaded port, to another thread.
    Threaded,
    /// By shared memory, to another process.
    Shm,
    /// By batches over TCP, to another process.
    Rum,
    /// By a write for each tuple over TCP, to another process.
    Tcp,
}

impl StreamPath {
    /// All of them.
    pub const ALL: [StreamPath; 5] = [
        StreamPath::Fused,
        StreamPath::Threaded,
        StreamPath::Shm,
        StreamPath::Rum,
        StreamPath::Tcp,
    ];

    /// As it is written in options and results.
    pub fn name(self) -> &'static str {
        match self {
            StreamPath::Fused => "fused",
            StreamPath::Threaded => "threaded",
            StreamPath::Shm => "shm",
            StreamPath::Rum => "rum",
            StreamPath::Tcp => "tcp",
        }
    }

    /// Whether it leads to another process; then tuples have a codec.
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

/// How tuples are written where they leave a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecKind {
    /// As they lie in memory.
    Facade,
    /// Field by field.
    Normal,
}

impl CodecKind {
    /// Both.
    pub const ALL: [CodecKind; 2] = [CodecKind::Facade, CodecKind::Normal];

    /// As it is written in plans and results.
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
