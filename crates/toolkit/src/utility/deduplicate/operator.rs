//! DeDuplicate as far as it is not lowered: keys that a delta or a window marker makes forgotten,
//! and keys of lists, tuples and other values with values within them.

use std::sync::Arc;
use std::time::Instant;

use eval::{EntryTable, EntryTableType, Fault, KeyLayout, TableKey};
use graph::{ExprKind, PortIndex};
use runtime::abi::Projection;
use runtime::window::exceeds;
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use super::DEFAULT_SECONDS;
use crate::key_evaluator::KeyTuple;

/// The attribute of an entry: the age measure of the key's last tuple.
const LAST: usize = 0;

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let key = match build.param_exprs("key") {
        Some(exprs) => build.projection(exprs)?,
        None => build.projection(&[crate::lower::input(build.operator, PortIndex(0))])?,
    };
    let measure = expiry_measure(build)?;
    let key_layout = Arc::new(KeyLayout::new(
        &key.layout,
        key.layout.schema.attributes.len(),
    ));
    let entries = EntryTableType {
        attributes: vec![measure.ty()],
        by_use: measure.only_grows(),
        ..EntryTableType::default()
    };
    Ok(Box::new(DeDuplicate {
        last_seen: EntryTable::new(&key_layout, &entries),
        key_layout,
        key_tuple: KeyTuple::new(key),
        key: TableKey::default(),
        measure,
        resets: build.flag("resetOnDuplicate", true)?,
        flushes: build.flag("flushOnPunctuation", false)?,
        output: build.output_projection(PortIndex(0))?,
        buffer: TupleBuf::default(),
        sends_duplicates: build.outputs.len() > 1,
    }))
}

fn expiry_measure(build: &mut BuildContext<'_>) -> Result<ExpiryMeasure, Fault> {
    if let Some(count) = build.value("count")? {
        return Ok(ExpiryMeasure::Count {
            limit: count,
            count: 0,
        });
    }
    if let Some([attribute, ..]) = build.param_exprs("deltaAttribute")
        && let ExprKind::Attribute { index, .. } = attribute.kind
    {
        let most = build.value("delta")?;
        return Ok(ExpiryMeasure::Delta {
            limit: most.ok_or_else(|| crate::lower::missing_param("delta"))?,
            attribute: index as usize,
            layout: build.inputs[0].clone(),
        });
    }
    let seconds = build.number("timeOut")?.unwrap_or(DEFAULT_SECONDS);
    Ok(ExpiryMeasure::Time {
        limit: Value::Float64(seconds),
        started_at: Instant::now(),
    })
}

/// Measure of a tuple's age: a value that grows, and by how much it grows until the tuple is
/// forgotten.
enum ExpiryMeasure {
    Time {
        limit: Value,
        started_at: Instant,
    },
    Count {
        limit: Value,
        count: u64,
    },
    Delta {
        limit: Value,
        attribute: usize,
        layout: Arc<Layout>,
    },
}

impl ExpiryMeasure {
    /// The value at a tuple.
    fn value_at(&mut self, tuple: TupleRef<'_>) -> Value {
        match self {
            ExpiryMeasure::Time { started_at, .. } => {
                Value::Float64(started_at.elapsed().as_secs_f64())
            }
            ExpiryMeasure::Count { count, .. } => {
                *count += 1;
                Value::Uint64(*count)
            }
            ExpiryMeasure::Delta {
                attribute, layout, ..
            } => tuple.get(layout, *attribute),
        }
    }

    /// Type of the value.
    fn ty(&self) -> Type {
        match self {
            ExpiryMeasure::Time { .. } => Type::Float64,
            ExpiryMeasure::Count { .. } => Type::Uint64,
            ExpiryMeasure::Delta {
                attribute, layout, ..
            } => layout.attribute(*attribute).1.clone(),
        }
    }

    /// Whether no later value is smaller. An attribute may fall, and an old key counts again.
    fn only_grows(&self) -> bool {
        !matches!(self, ExpiryMeasure::Delta { .. })
    }

    fn limit(&self) -> &Value {
        match self {
            ExpiryMeasure::Time { limit, .. }
            | ExpiryMeasure::Count { limit, .. }
            | ExpiryMeasure::Delta { limit, .. } => limit,
        }
    }
}

struct DeDuplicate {
    key_tuple: KeyTuple,
    key_layout: Arc<KeyLayout>,
    /// Key of the tuple that is processed.
    key: TableKey,
    measure: ExpiryMeasure,
    /// Age measure of the last tuple of each key; used is a key when that is set.
    last_seen: EntryTable,
    resets: bool,
    flushes: bool,
    output: Projection,
    buffer: TupleBuf,
    sends_duplicates: bool,
}

impl DeDuplicate {
    /// Whether the tuple is a duplicate; it is remembered.
    fn is_duplicate(&mut self, now: &Value) -> Result<bool, Fault> {
        self.key_layout
            .encode(self.key_tuple.tuple(), &mut self.key);
        let Some(id) = self.last_seen.find(&self.key) else {
            self.forget_old_keys(now);
            let id = self.last_seen.add(&self.key)?;
            self.last_seen.set(id, LAST, now);
            return Ok(false);
        };
        let last = self.last_seen.get(id, LAST);
        let is_duplicate = !exceeds(now, &last, self.measure.limit());
        if !is_duplicate || self.resets {
            self.last_seen.set(id, LAST, now);
            self.last_seen.set_last_used(id);
        }
        Ok(is_duplicate)
    }

    /// Forgets two keys that are too old, or fewer if there are not so many: with one new key for
    /// two of them, the memory follows the keys that still count.
    fn forget_old_keys(&mut self, now: &Value) {
        for _ in 0..2 {
            let Some(oldest) = self.last_seen.least_used() else {
                return;
            };
            if !exceeds(now, &self.last_seen.get(oldest, LAST), self.measure.limit()) {
                return;
            }
            self.last_seen.remove(oldest);
        }
    }
}

impl Operator for DeDuplicate {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let tuples = [Some(tuple)];
        let inputs = EvaluationInputs::new(&tuples);
        self.key_tuple.evaluate(&inputs, out)?;
        let now = self.measure.value_at(tuple);
        if self.key_tuple.equals_itself() && self.is_duplicate(&now)? {
            return if self.sends_duplicates {
                out.submit(PortIndex(1), tuple)
            } else {
                Ok(())
            };
        }
        self.output.write(&inputs, out, &mut self.buffer)?;
        out.submit(PortIndex(0), self.buffer.as_ref())
    }

    fn process_window_marker(&mut self, _: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.flushes {
            self.last_seen.clear();
        }
        Ok(())
    }
}
