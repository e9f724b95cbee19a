//! A map of the code for `perf`, which cannot know what lies in memory that was filled at run time.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// A machine function in memory.
pub struct PerfMapEntry {
    /// Name of the function in the map.
    pub title: String,
    /// Address of the function's first instruction.
    pub address: usize,
    /// Length of the function's code in bytes.
    pub bytes: usize,
}

/// Adds functions to the map of this process, where `perf` looks for it.
///
/// # Errors
/// If the file cannot be written.
pub fn write_perf_map(functions: &[PerfMapEntry]) -> io::Result<()> {
    let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(lines(functions).as_bytes())
}

/// A line a function: address and size in hexadecimal, name.
fn lines(functions: &[PerfMapEntry]) -> String {
    let line = |f: &PerfMapEntry| format!("{:x} {:x} {}\n", f.address, f.bytes, f.title);
    functions.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_function() {
        let title = "Trades: onTuple of port 0".to_owned();
        let placed = PerfMapEntry {
            title,
            address: 0xabc0,
            bytes: 0x1f,
        };
        assert_eq!(lines(&[placed]), "abc0 1f Trades: onTuple of port 0\n");
    }
}
