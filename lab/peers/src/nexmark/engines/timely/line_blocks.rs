//! Every so-manieth block of a file, in whole lines: the share of one worker.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a block: small enough for a cache, large enough for few steps of a worker.
const BLOCK_BYTES: u64 = 256 * 1024;

/// Bytes of the longest line.
const LINE_BYTES_MAX: u64 = 16 * 1024;

/// Reads the blocks of a worker. A line belongs to the block in which it begins.
pub struct LineBlocks {
    file: File,
    file_bytes: u64,
    next: u64,
    step: u64,
    buffer: Vec<u8>,
}

impl LineBlocks {
    /// The blocks `worker`, `worker + workers` and so on of a file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, worker: usize, workers: usize) -> io::Result<LineBlocks> {
        let file = File::open(path)?;
        let file_bytes = file.metadata()?.len();
        Ok(LineBlocks {
            file,
            file_bytes,
            next: worker as u64,
            step: workers as u64,
            buffer: vec![0; (1 + BLOCK_BYTES + LINE_BYTES_MAX) as usize],
        })
    }

    /// The number and the lines of the next block; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or a line is too long.
    pub fn next_block(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let number = self.next;
        let start = number * BLOCK_BYTES;
        if start >= self.file_bytes {
            return Ok(None);
        }
        self.next += self.step;
        // The byte before the block says whether a line begins with it.
        let first = start.saturating_sub(1);
        let end = self.file_bytes.min(start + BLOCK_BYTES + LINE_BYTES_MAX);
        let read = &mut self.buffer[..(end - first) as usize];
        self.file.read_exact_at(read, first)?;
        let begins_at = match number {
            0 => 0,
            _ => line_end(read)?,
        };
        // The line that begins last in the block ends in it or behind it.
        let inside = (start + BLOCK_BYTES - first).min(read.len() as u64) as usize;
        let ends_at = match end == self.file_bytes && inside == read.len() {
            true => inside,
            false => inside - 1 + line_end(&read[inside - 1..])?,
        };
        Ok(Some((
            number,
            &self.buffer[begins_at.min(ends_at)..ends_at],
        )))
    }
}

/// Where the next line begins.
fn line_end(text: &[u8]) -> io::Result<usize> {
    let at = text.iter().position(|byte| *byte == b'\n');
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "a line is too long");
    at.map(|at| at + 1).ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_one_block() {
        let path = std::env::temp_dir().join(format!("thalweg-blocks-{}", std::process::id()));
        for count in [0, 1, 3, 40_000] {
            let lines = (0..count).map(|n| format!("{n}{}\n", "x".repeat(n % 53)));
            let text: String = lines.collect();
            std::fs::write(&path, &text).unwrap();
            let mut blocks = Vec::new();
            for worker in 0..2 {
                let mut reader = LineBlocks::open(&path, worker, 2).unwrap();
                while let Some((number, lines)) = reader.next_block().unwrap() {
                    blocks.push((number, lines.to_vec()));
                }
            }
            blocks.sort();
            let read: Vec<u8> = blocks.into_iter().flat_map(|(_, lines)| lines).collect();
            assert!(read == text.as_bytes(), "{count} lines");
        }
        std::fs::remove_file(path).unwrap();
    }
}
