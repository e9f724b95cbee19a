//! Attributes of input tuples that an evaluation has decoded.

use tuple::Value;

/// Attributes of input tuples that one evaluation has decoded, each once.
#[derive(Default)]
pub(super) struct DecodedInputs(Vec<(DecodedSource, Value)>);

/// An attribute of a slot; no attribute is the whole tuple.
pub(super) type DecodedSource = (usize, Option<u32>);

impl DecodedInputs {
    pub(super) fn get(&self, at: usize) -> &Value {
        &self.0[at].1
    }

    pub(super) fn get_mut(&mut self, at: usize) -> &mut Value {
        &mut self.0[at].1
    }

    #[inline]
    pub(super) fn find(&self, source: DecodedSource) -> Option<usize> {
        self.0.iter().position(|(s, _)| *s == source)
    }

    #[inline]
    pub(super) fn add(&mut self, source: DecodedSource, value: Value) -> usize {
        self.0.push((source, value));
        self.0.len() - 1
    }
}
