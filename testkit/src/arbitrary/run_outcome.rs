//! Effects of a run, to be compared to the bit.

use std::sync::Arc;

use eval::{Fault, State};
use graph::{PortIndex, StateId};
use tuple::{Layout, List, Punctuation, TupleBuf, TupleRef, TupleType, Type, Value};

use crate::SubmissionRecorder;

/// Observable effects of one run of a case. Two are equal if their bits are, but for the payload of
/// NaNs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// How the body ended.
    pub body_result: Result<(), Fault>,
    /// The state afterwards, as [`RunOutcome::state_bytes`] has it.
    pub state: Vec<Vec<u8>>,
    /// Submissions in order: port, and the bytes of the tuple or a marker.
    pub submitted: Vec<(PortIndex, Result<Vec<u8>, Punctuation>)>,
    /// Tuple that the projection wrote.
    pub projection: Result<Vec<u8>, Fault>,
    /// Result of the condition.
    pub condition: Result<bool, Fault>,
}

impl RunOutcome {
    /// The state variables as bytes, then the number of entries of each table.
    pub fn state_bytes(state: &State) -> Vec<Vec<u8>> {
        let vars = state.types.iter().enumerate();
        let vars = vars.map(|(at, ty)| value_bytes(&state.get(StateId(at as u32)), ty));
        let tables = state.tables.iter();
        vars.chain(tables.map(|table| table.len().to_ne_bytes().into()))
            .collect()
    }

    /// A flat tuple as bytes that do not depend on the order in which it was written.
    pub fn tuple_bytes(tuple: TupleRef<'_>, layout: &Layout) -> Vec<u8> {
        value_bytes(&tuple.to_value(layout), &Type::Tuple(layout.schema.clone()))
    }

    /// Submissions that a recorder keeps, tuples as [`RunOutcome::tuple_bytes`] by the layout of
    /// their port.
    pub fn submitted_bytes(
        recorder: &SubmissionRecorder,
        layouts: &[Arc<Layout>],
    ) -> Vec<(PortIndex, Result<Vec<u8>, Punctuation>)> {
        let bytes = |(port, given): &(PortIndex, Result<TupleBuf, Punctuation>)| {
            let layout = &layouts[port.index()];
            let tuple_bytes = |tuple: &TupleBuf| RunOutcome::tuple_bytes(tuple.as_ref(), layout);
            (*port, given.as_ref().map(tuple_bytes).map_err(|&mark| mark))
        };
        recorder.submitted.iter().map(bytes).collect()
    }
}

/// A value as the bytes of a flat tuple with this one attribute.
fn value_bytes(value: &Value, ty: &Type) -> Vec<u8> {
    assert!(value.has_type(ty), "{value:?} is no {ty}");
    let layout = Layout::new(&Arc::new(TupleType::new([("value", ty.clone())])));
    let mut buf = TupleBuf::default();
    buf.begin(&layout);
    buf.set(&layout, 0, &with_canonical_nan(value.clone()));
    buf.as_ref().bytes().to_vec()
}

/// Makes every NaN in a value the same.
fn with_canonical_nan(value: Value) -> Value {
    let f32 = |x: f32| if x.is_nan() { f32::NAN } else { x };
    let f64 = |x: f64| if x.is_nan() { f64::NAN } else { x };
    match value {
        Value::Float32(x) => Value::Float32(f32(x)),
        Value::Float64(x) => Value::Float64(f64(x)),
        Value::Complex32(re, im) => Value::Complex32(f32(re), f32(im)),
        Value::Complex64(re, im) => Value::Complex64(f64(re), f64(im)),
        Value::List(List::Any(items)) => Value::List(List::Any(
            items.into_iter().map(with_canonical_nan).collect(),
        )),
        Value::List(List::Float32(items)) => {
            Value::List(List::Float32(items.into_iter().map(f32).collect()))
        }
        Value::List(List::Float64(items)) => {
            Value::List(List::Float64(items.into_iter().map(f64).collect()))
        }
        Value::Set(items) => Value::Set(items.into_iter().map(with_canonical_nan).collect()),
        Value::Map(entries) => {
            let entries = entries
                .into_iter()
                .map(|(k, v)| (with_canonical_nan(k), with_canonical_nan(v)));
            Value::Map(entries.collect())
        }
        Value::Tuple(parts) => Value::Tuple(parts.into_iter().map(with_canonical_nan).collect()),
        Value::Optional(held) => {
            Value::Optional(held.map(|held| Box::new(with_canonical_nan(*held))))
        }
        other => other,
    }
}
