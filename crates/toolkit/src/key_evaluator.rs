//! The key of a tuple by a list of expressions: `partitionBy`, `equalityLHS`, `key`.

use eval::Fault;
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{EvaluationInputs, Outlet};
use tuple::{TupleBuf, Value};

/// Evaluates the keys of tuples. Without expressions, every tuple has the empty key.
pub struct KeyEvaluator {
    projection: Option<Projection>,
    buffer: TupleBuf,
    bytes: Vec<u8>,
}

impl KeyEvaluator {
    /// An evaluator of a parameter's expressions, if the parameter is given.
    pub fn new(projection: Option<Projection>) -> KeyEvaluator {
        KeyEvaluator {
            projection,
            buffer: TupleBuf::default(),
            bytes: Vec::new(),
        }
    }

    /// Whether the key has expressions.
    pub fn has_expressions(&self) -> bool {
        self.projection.is_some()
    }

    /// Evaluates the key of a tuple.
    pub fn evaluate(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.bytes.clear();
        if let Some(projection) = &mut self.projection {
            projection.write(inputs, out, &mut self.buffer)?;
            encode_key(self.buffer.as_ref(), &projection.layout, &mut self.bytes);
        }
        Ok(())
    }

    /// Bytes of the key evaluated last; equal keys have equal bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Values of the key evaluated last, in the order of the expressions.
    pub fn values(&self) -> Vec<Value> {
        let layout = self
            .projection
            .as_ref()
            .map(|projection| &projection.layout);
        let tuple = self.buffer.as_ref();
        let values = layout.map(|layout| {
            let attributes = 0..layout.schema.attributes.len();
            attributes.map(|at| tuple.get(layout, at)).collect()
        });
        values.unwrap_or_default()
    }
}
