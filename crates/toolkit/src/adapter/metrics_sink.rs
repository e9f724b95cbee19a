//! MetricsSink: sets metrics to values of its tuples.

use eval::Fault;
use graph::{
    InPortModel, InvocationError, OperatorModel, OperatorNode as Invocation, ParamMode, PortIndex,
};
use graph::{InvocationPart, ParamModel, ParamValue};
use runtime::abi::Projection;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{TupleBuf, TupleRef, Value};

use super::file_name;
use crate::verify_params::{exprs, has_param, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "MetricsSink",
    doc: "Sets a metric of its own for each expression, tuple by tuple.",
    inputs: &[InPortModel::DEFAULT],
    params: &[
        ParamModel {
            name: "metrics",
            ty: "int64",
            mode: ParamMode::Expression,
            mandatory: true,
            is_list: true,
            doc: "The values.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "names",
            ty: "rstring",
            is_list: true,
            doc: "A name for each metric. Default: metric0, metric1, ..., or the attribute's name.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "descriptions",
            ty: "rstring",
            is_list: true,
            doc: "A description of each metric.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "initialValues",
            ty: "int64",
            is_list: true,
            doc: "The value of each metric before the first tuple. Default: 0.",
            ..ParamModel::DEFAULT
        },
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// The lists are of one length.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    let count = exprs(operator, "metrics").len();
    for name in ["names", "descriptions", "initialValues"] {
        let other = exprs(operator, name).len();
        if has_param(operator, name) && other != count {
            let message = format!("`{name}` has {other} values, and `metrics` has {count}");
            return report_misuse(
                InvocationPart::Param(name),
                message,
                "give one for each metric",
            );
        }
    }
    Ok(())
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let names = names(build)?;
    let descriptions = build.values("descriptions")?.unwrap_or_default();
    let initial = build.values("initialValues")?.unwrap_or_default();
    for (at, name) in names.iter().enumerate() {
        let description = descriptions.get(at).cloned().map(file_name::rstring_text);
        let value = match initial.get(at) {
            Some(Value::Int64(value)) => *value,
            _ => 0,
        };
        let description = description.unwrap_or_default();
        if !build
            .services
            .create_metric(name, &description, GAUGE, value)
        {
            return Err(Fault::value(format!("two metrics have the name {name:?}")));
        }
    }
    let values = build.param_projection("metrics")?;
    Ok(Box::new(MetricsSink {
        names,
        values: values.ok_or_else(|| crate::lower::missing_param("metrics"))?,
        buffer: TupleBuf::default(),
    }))
}

/// Metric kind of values that go up and down.
const GAUGE: u32 = 0;

fn names(build: &mut BuildContext<'_>) -> Result<Vec<String>, Fault> {
    if let Some(names) = build.values("names")? {
        return Ok(names.into_iter().map(file_name::rstring_text).collect());
    }
    let operator = build.operator;
    let metrics = match operator.param("metrics").map(|param| &param.value) {
        Some(ParamValue::Exprs(metrics)) => &metrics[..],
        _ => &[],
    };
    let name = |(at, expr): (usize, &graph::Expr)| match expr.kind {
        graph::ExprKind::Attribute {
            index, history: 0, ..
        } => {
            let attribute = &operator.inputs[0].schema.attributes[index as usize];
            attribute.name.to_string()
        }
        _ => format!("metric{at}"),
    };
    Ok(metrics.iter().enumerate().map(name).collect())
}

struct MetricsSink {
    names: Vec<String>,
    values: Projection,
    buffer: TupleBuf,
}

impl Operator for MetricsSink {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        self.values
            .write(&EvaluationInputs::new(&inputs), out, &mut self.buffer)?;
        for (at, name) in self.names.iter().enumerate() {
            if let Value::Int64(value) = self.buffer.as_ref().get(&self.values.layout, at) {
                out.services().set_metric(name, value);
            }
        }
        Ok(())
    }
}
