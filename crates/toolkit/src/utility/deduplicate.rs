//! DeDuplicate: drops tuples whose key came recently.

use std::sync::Arc;
use std::time::Instant;

use eval::{EntryTable, EntryTableType, Fault, KeyLayout, TableKey};
use graph::PunctuationOutputMode;
use graph::{
    AssignmentMode, Cardinality, ExprKind, InvocationError, InvocationPart,
    OperatorNode as Invocation, PortIndex,
};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::abi::Projection;
use runtime::window::exceeds;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use crate::key_evaluator::KeyTuple;
use crate::verify_params::{exprs, has_param, report_misuse, verify_seconds};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "DeDuplicate",
    doc: "Passes a tuple unless one with the same key came a short while ago, in time, in tuples \
          or in the value of an attribute. Duplicates are dropped, or sent to the second output \
          port.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OutPortModel {
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            assign: AssignmentMode::Expression,
            auto_assignment: true,
            complete_assignment: true,
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Optional,
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            same_schema_as: Some(PortIndex(0)),
            ..OutPortModel::DEFAULT
        },
    ],
    params: PARAMS,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "timeOut",
        ty: "float64",
        doc: "Seconds after which a key is forgotten. Default: 600, without count and delta.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "count",
        ty: "uint64",
        doc: "Tuples after which a key is forgotten.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "deltaAttribute",
        mode: ParamMode::Attribute,
        doc: "The attribute by whose growth a key is forgotten: a number or a timestamp.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "delta",
        doc: "By how much deltaAttribute may have grown: of its type, or seconds as a float64 for \
              a timestamp.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "key",
        mode: ParamMode::Expression,
        is_list: true,
        doc: "What makes two tuples duplicates. Default: the whole tuple.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "resetOnDuplicate",
        ty: "boolean",
        mode: ParamMode::Constant,
        doc: "Whether a duplicate counts as the last that came of its key. Default: true.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flushOnPunctuation",
        ty: "boolean",
        mode: ParamMode::Constant,
        doc: "Whether a window marker makes all keys forgotten. Default: false.",
        ..ParamModel::DEFAULT
    },
];

/// The attribute of an entry: the age measure of the key's last tuple.
const LAST: usize = 0;

/// Default of `timeOut`: time in seconds after which a key is forgotten.
const DEFAULT_SECONDS: f64 = 600.0;

/// Verifies that there is one way to forget keys, and that a delta suits its attribute.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    verify_seconds(operator, &["timeOut"])?;
    let ways = ["timeOut", "count", "deltaAttribute"];
    let mut used = ways.into_iter().filter(|name| has_param(operator, name));
    if let (Some(first), Some(second)) = (used.next(), used.next()) {
        let message = format!("`{first}` and `{second}` exclude each other");
        let help = "give timeOut, or count, or deltaAttribute and delta";
        return report_misuse(InvocationPart::Param(second), message, help);
    }
    let (attribute, delta) = (exprs(operator, "deltaAttribute"), exprs(operator, "delta"));
    match (attribute, delta) {
        ([], []) => Ok(()),
        ([_, ..], []) => {
            let help = "give the growth after which a key is forgotten";
            report_misuse(
                InvocationPart::Param("deltaAttribute"),
                "`deltaAttribute` needs `delta`",
                help,
            )
        }
        ([], [_, ..]) => {
            let help = "give the attribute that is compared";
            report_misuse(
                InvocationPart::Param("delta"),
                "`delta` needs `deltaAttribute`",
                help,
            )
        }
        ([attribute, ..], [delta, ..]) => delta_type(&attribute.ty, &delta.ty),
    }
}

fn delta_type(attribute: &Type, delta: &Type) -> Result<(), InvocationError> {
    let wanted = match attribute {
        Type::Timestamp => &Type::Float64,
        ty if ty.is_numeric() && !ty.is_complex() => ty,
        ty => {
            let message = format!("`deltaAttribute` is of type {ty}, which has no differences");
            let help = "it is a number or a timestamp";
            return report_misuse(InvocationPart::Param("deltaAttribute"), message, help);
        }
    };
    if delta == wanted {
        return Ok(());
    }
    let message = format!("`delta` over {attribute} is of type {wanted}, not {delta}");
    report_misuse(InvocationPart::Param("delta"), message, "")
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
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
