//! The key of a tuple by a list of expressions: `partitionBy`, `equalityLHS`, `key`.

use eval::Fault;
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{EvaluationInputs, Outlet};
use tuple::{TupleBuf, Type};

/// Evaluates the keys of tuples. Without expressions, every tuple has the empty key.
pub struct KeyEvaluator {
    projection: Option<Projection>,
    buffer: TupleBuf,
    bytes: Vec<u8>,
    may_hold_nan: bool,
}

impl KeyEvaluator {
    /// An evaluator of a parameter's expressions, if the parameter is given.
    pub fn new(projection: Option<Projection>) -> KeyEvaluator {
        let layout = projection.as_ref().map(|projection| &projection.layout);
        let may_hold_nan = layout.is_some_and(|layout| {
            let attributes = &layout.schema.attributes;
            attributes.iter().any(|a| may_hold_nan(&a.ty))
        });
        KeyEvaluator {
            projection,
            buffer: TupleBuf::default(),
            bytes: Vec::new(),
            may_hold_nan,
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

    /// Whether the key evaluated last equals itself, as `==` compares: with a NaN it equals no key.
    pub fn equals_itself(&self) -> bool {
        let Some(projection) = self.projection.as_ref().filter(|_| self.may_hold_nan) else {
            return true;
        };
        let (layout, tuple) = (&projection.layout, self.buffer.as_ref());
        (0..layout.schema.attributes.len()).all(|at| {
            let value = tuple.get(layout, at);
            value.spl_eq(&value)
        })
    }
}

/// Whether a value of a type may hold a NaN.
fn may_hold_nan(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.attributes.iter().any(|a| may_hold_nan(&a.ty)),
        Type::List(element, _) | Type::Set(element, _) | Type::Optional(element) => {
            may_hold_nan(element)
        }
        Type::Map(entry, _) => may_hold_nan(&entry.0) || may_hold_nan(&entry.1),
        ty => ty.is_numeric() && !ty.is_integral(),
    }
}
