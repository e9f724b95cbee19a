//! The channels that a stream can take, from the fastest on.

use std::fmt;
use std::str::FromStr;

/// How a stream gets from its source to its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
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

impl Path {
    /// All of them.
    pub const ALL: [Path; 5] = [Path::Fused, Path::Threaded, Path::Shm, Path::Rum, Path::Tcp];

    /// As it is written in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Path::Fused => "fused",
            Path::Threaded => "threaded",
            Path::Shm => "shm",
            Path::Rum => "rum",
            Path::Tcp => "tcp",
        }
    }

    /// Whether it leads to another process; then tuples have a codec.
    pub fn is_crossing(self) -> bool {
        !matches!(self, Path::Fused | Path::Threaded)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Path, String> {
        let found = Path::ALL.into_iter().find(|path| path.name() == text);
        found.ok_or_else(|| {
            let names = Path::ALL.map(Path::name).join(", ");
            format!("there is no path `{text}`; there are {names}")
        })
    }
}

/// How tuples are written where they leave a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As they lie in memory.
    Facade,
    /// Field by field.
    Normal,
}

impl Codec {
    /// Both.
    pub const ALL: [Codec; 2] = [Codec::Facade, Codec::Normal];

    /// As it is written in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Facade => "facade",
            Codec::Normal => "normal",
        }
    }
}

impl FromStr for Codec {
    type Err = String;

    fn from_str(text: &str) -> Result<Codec, String> {
        let found = Codec::ALL.into_iter().find(|codec| codec.name() == text);
        found.ok_or_else(|| format!("there is no codec `{text}`; there are facade, normal"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for path in Path::ALL {
            assert_eq!(path.name().parse(), Ok(path));
        }
        let refused = "pigeon".parse::<Path>().unwrap_err();
        assert!(
            refused.contains("fused, threaded, shm, rum, tcp"),
            "{refused}"
        );
    }
}
