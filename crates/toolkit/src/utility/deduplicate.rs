//! DeDuplicate: drops tuples whose key came recently.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use eval::Fault;
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

use crate::key_evaluator::KeyEvaluator;
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
    Ok(Box::new(DeDuplicate {
        key: KeyEvaluator::new(Some(key)),
        measure: expiry_measure(build)?,
        last_seen: HashMap::new(),
        resets: build.flag("resetOnDuplicate", true)?,
        flushes: build.flag("flushOnPunctuation", false)?,
        output: build.output_projection(PortIndex(0))?,
        buffer: TupleBuf::default(),
        sends_duplicates: build.outputs.len() > 1,
        sweep_len: SWEEP_LEN_MIN,
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
            ExpiryMeasure::Time {
                started_at: begun, ..
            } => Value::Float64(begun.elapsed().as_secs_f64()),
            ExpiryMeasure::Count { count, .. } => {
                *count += 1;
                Value::Uint64(*count)
            }
            ExpiryMeasure::Delta {
                attribute, layout, ..
            } => tuple.get(layout, *attribute),
        }
    }

    fn limit(&self) -> &Value {
        match self {
            ExpiryMeasure::Time { limit: most, .. }
            | ExpiryMeasure::Count { limit: most, .. }
            | ExpiryMeasure::Delta { limit: most, .. } => most,
        }
    }
}

struct DeDuplicate {
    key: KeyEvaluator,
    measure: ExpiryMeasure,
    /// Age measure of the last tuple of each key, by the canonical bytes of the key.
    last_seen: HashMap<Box<[u8]>, Value>,
    resets: bool,
    flushes: bool,
    output: Projection,
    buffer: TupleBuf,
    sends_duplicates: bool,
    /// Number of keys at which those that are too old are removed.
    sweep_len: usize,
}

/// Fewer keys than these are not worth a look.
const SWEEP_LEN_MIN: usize = 1024;

impl DeDuplicate {
    /// Whether the tuple is a duplicate; it is remembered.
    fn is_duplicate(&mut self, now: Value) -> bool {
        let Some(last) = self.last_seen.get_mut(self.key.bytes()) else {
            self.sweep(&now);
            self.last_seen.insert(self.key.bytes().into(), now);
            return false;
        };
        let is_duplicate = !exceeds(&now, last, self.measure.limit());
        if !is_duplicate || self.resets {
            *last = now;
        }
        is_duplicate
    }

    /// Forgets keys that are too old, so that the memory follows the keys that still count. An
    /// attribute may fall again, and then they would count.
    fn sweep(&mut self, now: &Value) {
        let only_grows = !matches!(self.measure, ExpiryMeasure::Delta { .. });
        if only_grows && self.last_seen.len() >= self.sweep_len {
            let most = self.measure.limit();
            self.last_seen.retain(|_, last| !exceeds(now, last, most));
            self.sweep_len = (self.last_seen.len() * 2).max(SWEEP_LEN_MIN);
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
        self.key.evaluate(&inputs, out)?;
        let now = self.measure.value_at(tuple);
        if self.key.equals_itself() && self.is_duplicate(now) {
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
