//! The compression algorithms of files, connections and datagrams.

use std::io::{self, Read};

use eval::{Fault, FaultKind};

use super::zlib::ZlibReader;

/// Largest size of a datagram or value after decompression, in bytes. bzip2 can compress by a
/// factor of 40,000, and a datagram may come from anyone.
const DECOMPRESSED_BYTES_MAX: u64 = 16 << 20;

/// Compression algorithm of a file, connection or value.
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
    /// If no algorithm has this name; the model lists the names.
    pub fn from_literal(literal: Option<&str>) -> Result<Option<Compression>, Fault> {
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

    /// A reader of the decompressed form of some bytes.
    pub fn decompressing_reader<'r>(
        self,
        bytes: impl Read + Send + 'r,
    ) -> Box<dyn Read + Send + 'r> {
        match self {
            Compression::Zlib => Box::new(ZlibReader::new(bytes)),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        }
    }

    /// Decompresses a whole datagram or value.
    ///
    /// # Errors
    /// If the bytes are not compressed by this algorithm, or become more than 16 MiB.
    pub fn decompress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        let mut most = self
            .decompressing_reader(bytes)
            .take(DECOMPRESSED_BYTES_MAX + 1);
        let length = most.read_to_end(&mut plain)? as u64;
        if length > DECOMPRESSED_BYTES_MAX {
            let message = format!("it holds more than {DECOMPRESSED_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(plain)
    }

    /// Compresses a whole datagram or value.
    ///
    /// # Errors
    /// The error of the algorithm.
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

    const ALL: [Compression; 3] = [Compression::Zlib, Compression::Gzip, Compression::Bzip2];

    /// Every byte of the end counts, checksums and lengths included, and so does every missing one.
    #[test]
    fn a_damaged_end_is_noticed() {
        let plain: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for plain in [&plain[..], b"a few bytes", b""] {
            for algorithm in ALL {
                let whole = algorithm.compress(plain).expect("no fault");
                assert!(algorithm.decompress(&whole).expect("no fault") == plain);
                for at in whole.len() - 4..whole.len() {
                    // The last bits of bzip2 have no meaning.
                    let is_filling = algorithm == Compression::Bzip2 && at + 1 == whole.len();
                    let mut bytes = whole.clone();
                    bytes[at] ^= 0x40;
                    let found = algorithm.decompress(&bytes);
                    assert!(
                        found.is_err() || is_filling,
                        "{algorithm:?}: byte {at} is wrong"
                    );
                    let found = algorithm.decompress(&whole[..at]);
                    assert!(found.is_err(), "{algorithm:?}: byte {at} is missing");
                }
            }
        }
    }

    #[test]
    fn what_stands_behind_the_end_is_read_too() {
        for algorithm in ALL {
            let one = algorithm.compress(b"one, ").expect("no fault");
            let two = algorithm.compress(b"two").expect("no fault");
            let both = algorithm.decompress(&[&one[..], &two].concat());
            assert_eq!(both.expect("no fault"), b"one, two", "{algorithm:?}");
            let rubbish = algorithm.decompress(&[&one[..], b"rubbish"].concat());
            assert!(rubbish.is_err(), "{algorithm:?}");
        }
    }

    #[test]
    fn what_becomes_too_much_is_refused() {
        let most = vec![0; DECOMPRESSED_BYTES_MAX as usize];
        for algorithm in ALL {
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
