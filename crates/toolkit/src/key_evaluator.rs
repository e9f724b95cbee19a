//! The key of a tuple by a list of expressions: `partitionBy`, `equalityLHS`, `key`.

use eval::Fault;
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{EvaluationInputs, Outlet};
use tuple::{TupleBuf, TupleRef, Type};

/// The values of a tuple's key, as a tuple.
pub struct KeyTuple {
    projection: Projection,
    buffer: TupleBuf,
    may_hold_nan: bool,
}

impl KeyTuple {
    /// The key of these expressions.
    pub fn new(projection: Projection) -> KeyTuple {
        let mut attributes = projection.layout.schema.attributes.iter();
        KeyTuple {
            may_hold_nan: attributes.any(|a| may_hold_nan(&a.ty)),
            projection,
            buffer: TupleBuf::default(),
        }
    }

    /// Evaluates the key of a tuple.
    pub fn evaluate(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.projection.write(inputs, out, &mut self.buffer)
    }

    /// The key evaluated last.
    pub fn tuple(&self) -> TupleRef<'_> {
        self.buffer.as_ref()
    }

    /// Whether the key evaluated last equals itself, as `==` compares: with a NaN it equals no key.
    pub fn equals_itself(&self) -> bool {
        if !self.may_hold_nan {
            return true;
        }
        let layout = &self.projection.layout;
        (0..layout.schema.attributes.len()).all(|at| {
            let value = self.tuple().get(layout, at);
            value.spl_eq(&value)
        })
    }
}

/// Evaluates the keys of tuples as bytes. Without expressions, every tuple has the empty key.
pub struct KeyEvaluator {
    key: Option<KeyTuple>,
    bytes: Vec<u8>,
}

impl KeyEvaluator {
    /// An evaluator of a parameter's expressions, if the parameter is given.
    pub fn new(projection: Option<Projection>) -> KeyEvaluator {
        KeyEvaluator {
            key: projection.map(KeyTuple::new),
            bytes: Vec::new(),
        }
    }

    /// Whether the key has expressions.
    pub fn has_expressions(&self) -> bool {
        self.key.is_some()
    }

    /// Evaluates the key of a tuple.
    pub fn evaluate(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.bytes.clear();
        if let Some(key) = &mut self.key {
            key.evaluate(inputs, out)?;
            encode_key(key.tuple(), &key.projection.layout, &mut self.bytes);
        }
        Ok(())
    }

    /// Bytes of the key evaluated last; equal keys have equal bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the key evaluated last equals itself, as `==` compares: with a NaN it equals no key.
    pub fn equals_itself(&self) -> bool {
        self.key.as_ref().is_none_or(KeyTuple::equals_itself)
    }
}

/// Whether a value of a type may hold a NaN.
pub fn may_hold_nan(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.attributes.iter().any(|a| may_hold_nan(&a.ty)),
        Type::List(element, _) | Type::Set(element, _) | Type::Optional(element) => {
            may_hold_nan(element)
        }
        Type::Map(entry, _) => may_hold_nan(&entry.0) || may_hold_nan(&entry.1),
        ty => ty.is_numeric() && !ty.is_integral(),
    }
}

/// Whether values of a type have no others within them, so that a comparison shows each NaN.
pub fn is_flat(ty: &Type) -> bool {
    ty.is_numeric()
        || ty.is_string()
        || matches!(ty, Type::Boolean | Type::Timestamp | Type::Enum(_))
}
