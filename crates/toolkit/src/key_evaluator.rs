//! The key of a tuple by a list of expressions: `partitionBy`, `equalityLHS`, `key`.

use eval::Fault;
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{EvaluationInputs, Outlet};
use tuple::{TupleBuf, Value};

/// Works out keys; without expressions every tuple has the empty one.
pub struct KeyEvaluator {
    projection: Option<Projection>,
    buffer: TupleBuf,
    bytes: Vec<u8>,
}

impl KeyEvaluator {
    /// The key of a parameter's expressions, if it is given.
    pub fn new(projection: Option<Projection>) -> KeyEvaluator {
        KeyEvaluator {
            projection,
            buffer: TupleBuf::default(),
            bytes: Vec::new(),
        }
    }

    /// Whether there are expressions.
    pub fn has_expressions(&self) -> bool {
        self.projection.is_some()
    }

    /// Works out the key of the tuple at hand.
    pub fn evaluate(
        &mut self,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.bytes.clear();
        if let Some(projection) = &mut self.projection {
            projection.write(row, out, &mut self.buffer)?;
            encode_key(self.buffer.as_ref(), &projection.layout, &mut self.bytes);
        }
        Ok(())
    }

    /// That of the tuple read last; equal keys have equal bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values of the tuple read last, in order of the expressions.
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
