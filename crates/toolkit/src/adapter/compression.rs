//! The compression algorithms of files.

use graph::{Fault, FaultKind};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Zlib,
    Gzip,
    Bzip2,
}

impl Compression {
    /// The algorithm of a custom literal.
    ///
    /// # Errors
    /// If there is none of that name; the model lists the names.
    pub fn of(literal: Option<&str>) -> Result<Option<Compression>, Fault> {
        Ok(Some(match literal {
            None => return Ok(None),
            Some("zlib") => Compression::Zlib,
            Some("gzip") => Compression::Gzip,
            Some("bzip2") => Compression::Bzip2,
            Some(other) => {
                let message = format!("there is no compression {other}");
                return Err(Fault::new(FaultKind::Limit, message));
            }
        }))
    }
}
