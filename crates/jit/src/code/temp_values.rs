//! The temporary [`Value`]s of a handle: what compiled code holds by address until it gives it
//! back.
//!
//! They never move, for compiled code keeps their addresses; the chunks that hold them are kept.

use tuple::Value;

/// Number of values that a chunk holds.
const CHUNK_LEN: usize = 64;

/// A stack of values with stable addresses.
#[derive(Debug, Default)]
pub struct TempValues {
    /// Chunks of [`CHUNK_LEN`] values, which never grow, so that values keep their addresses.
    chunks: Vec<Vec<Value>>,
}

impl TempValues {
    /// Keeps a value; `len` is the number of values before, and grows by one.
    pub fn push(&mut self, len: &mut usize, value: Value) -> *mut Value {
        let chunk = *len / CHUNK_LEN;
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK_LEN));
        }
        *len += 1;
        let chunk = &mut self.chunks[chunk];
        chunk.push(value);
        chunk
            .last_mut()
            .map_or(std::ptr::null_mut(), std::ptr::from_mut)
    }

    /// Drops all values beyond the first `mark`.
    pub fn reset(&mut self, len: &mut usize, mark: usize) {
        while *len > mark {
            let chunk = (*len - 1) / CHUNK_LEN;
            let keep = mark.saturating_sub(chunk * CHUNK_LEN);
            self.chunks[chunk].truncate(keep);
            fill_freed(&mut self.chunks[chunk]);
            *len = chunk * CHUNK_LEN + keep;
        }
    }
}

/// Overwrites the memory behind the remaining values in debug builds, so that code which still
/// reads a freed value finds neither its address nor its length.
fn fill_freed(values: &mut Vec<Value>) {
    if cfg!(debug_assertions) {
        let freed = values.spare_capacity_mut();
        let bytes = size_of_val(freed);
        // SAFETY: the room belongs to the vector, and no value is in it.
        unsafe { freed.as_mut_ptr().cast::<u8>().write_bytes(0xfd, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are() {
        let mut temps = TempValues::default();
        let mut len = 0;
        let first = temps.push(&mut len, Value::Int64(7));
        for at in 0..1000 {
            temps.push(&mut len, Value::Int64(at));
        }
        temps.reset(&mut len, 70);
        assert_eq!(len, 70);
        let count: usize = temps.chunks.iter().map(Vec::len).sum();
        assert_eq!(count, 70);
        temps.reset(&mut len, 0);
        assert_eq!(temps.push(&mut len, Value::Int64(8)), first);
    }
}
