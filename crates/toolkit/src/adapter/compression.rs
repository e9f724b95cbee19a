//! The compression algorithms of files, connections and datagrams.

use std::io::{self, Read};

use graph::{Fault, FaultKind};

/// What is compressed as a whole holds so many bytes at most: a datagram of bzip2 can become 40,000 times
/// as much, and anybody may send one.
const WHOLE_BYTES_MAX: u64 = 16 << 20;

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

    /// What was compressed as a whole, by whomever.
    ///
    /// # Errors
    /// It is not compressed like that, or becomes too much.
    pub fn decompress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        let mut most = self.decompressed(bytes).take(WHOLE_BYTES_MAX + 1);
        let length = most.read_to_end(&mut plain)? as u64;
        if length > WHOLE_BYTES_MAX {
            let message = format!("it holds more than {WHOLE_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(plain)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_too_much_is_refused() {
        let most = vec![0; WHOLE_BYTES_MAX as usize];
        for algorithm in [Compression::Zlib, Compression::Gzip, Compression::Bzip2] {
            let small = algorithm.compress(&most).expect("no fault");
            let plain = algorithm.decompress(&small).expect("as much as may be");
            assert!(plain == most, "{algorithm:?}");
            let more = algorithm
                .compress(&[&most[..], &[0]].concat())
                .expect("no fault");
            let refused = algorithm.decompress(&more).expect_err("a byte too many");
            assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge, "{algorithm:?}");
        }
    }
}
