//! The local variables of user functions that live in memory: a stack of values that never move.
//!
//! A function takes as many as it needs when it is entered and gives them back when it returns.
//! Values given back stay where they are, so that the next call finds their memory again.

use tuple::{Type, Value};

/// Least number of values that a chunk holds.
const CHUNK_LEN_MIN: usize = 256;

/// Stack of the variables in memory of all user functions that are running.
#[derive(Debug, Default)]
pub struct CallFrames {
    chunks: Vec<Box<[Value]>>,
    /// The chunk in use and how many of its values are taken.
    top: (usize, usize),
    /// Starts of the frames that are in use.
    marks: Vec<(usize, usize)>,
}

impl CallFrames {
    /// Takes values of these types. They are adjacent; each is of its type, but may hold a value of
    /// a former call.
    pub fn push(&mut self, types: &[Type]) -> *mut Value {
        self.marks.push(self.top);
        let (mut chunk, mut used) = self.top;
        while self
            .chunks
            .get(chunk)
            .is_some_and(|c| c.len() - used < types.len())
        {
            (chunk, used) = (chunk + 1, 0);
        }
        if chunk == self.chunks.len() {
            let len = CHUNK_LEN_MIN.max(types.len());
            self.chunks
                .push((0..len).map(|_| Value::Boolean(false)).collect());
        }
        self.top = (chunk, used + types.len());
        let values = &mut self.chunks[chunk][used..used + types.len()];
        for (value, ty) in values.iter_mut().zip(types) {
            if !same_variant(value, ty) {
                *value = Value::default_of(ty);
            }
        }
        values.as_mut_ptr()
    }

    /// Gives back the last frame.
    pub fn pop(&mut self) {
        self.top = self.marks.pop().unwrap_or_default();
    }

    /// Removes all frames; the memory is kept for the next call.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.top = (0, 0);
    }
}

/// Whether a value left by another function can serve as one of a type: compiled code relies on the
/// variant, at every depth.
fn same_variant(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::RString(_), Type::RString | Type::BoundedRString(_)) => true,
        (Value::UString(_), Type::UString) | (Value::Blob(_), Type::Blob) => true,
        (Value::Xml(_), Type::Xml(_)) => true,
        (Value::List(list), Type::List(element, _)) => {
            let wanted = std::mem::discriminant(&tuple::List::new_for(element));
            std::mem::discriminant(list) == wanted && list.as_values().is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_stacked_and_found_again() {
        let mut frames = CallFrames::default();
        let first = frames.push(&[Type::RString, Type::Blob]);
        let second = frames.push(&vec![Type::RString; 300]);
        assert_ne!(first, second);
        frames.pop();
        frames.pop();
        assert_eq!(frames.push(&[Type::RString]), first);
    }
}
