//! A map of the code for `perf`.

use crate::lower::Text;

/// Writes the map of this process.
pub fn write(texts: &[Text]) {
    let _ = texts;
}
