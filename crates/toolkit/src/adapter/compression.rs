//! The compression algorithms of files, connections and datagrams.

use std::io::{self, Read};

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

    /// What bytes were before they were compressed.
    pub fn decompressed<'r>(self, bytes: impl Read + Send + 'r) -> Box<dyn Read + Send + 'r> {
        match self {
            Compression::Zlib => Box::new(flate2::read::ZlibDecoder::new(bytes)),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        }
    }

    /// Compresses what goes as a whole.
    ///
    /// # Errors
    /// What the algorithm says.
    pub fn compress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let level = flate2::Compression::default();
        let mut compressed = Vec::new();
        match self {
            Compression::Zlib => {
                flate2::read::ZlibEncoder::new(bytes, level).read_to_end(&mut compressed)
            }
            Compression::Gzip => {
                flate2::read::GzEncoder::new(bytes, level).read_to_end(&mut compressed)
            }
            Compression::Bzip2 => bzip2::read::BzEncoder::new(bytes, bzip2::Compression::default())
                .read_to_end(&mut compressed),
        }?;
        Ok(compressed)
    }
}
