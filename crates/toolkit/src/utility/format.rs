//! Format: converts tuples to records in blobs.

use std::sync::Arc;
use std::time::Instant;

use eval::Fault;
use graph::PunctuationOutputMode;
use graph::{
    AssignmentMode, InPortModel, InvocationPart, OperatorModel, OutPortModel, ParamModel, PortIndex,
};
use graph::{Expr, ExprKind, InvocationError, OperatorNode as Invocation};
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::text::RecordWriter;
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value};

use crate::adapter::{params, record_format, verify_records};
use crate::output_calls::OutputCalls;
use crate::verify_params::{is_true, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Format",
    doc: "Makes a record of each tuple, as FileSink would write it; the output function Output \
          gives it as a blob.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        assign: AssignmentMode::Expression,
        auto_assignment: true,
        complete_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    enums: &[params::FORMATS],
    output_functions: &["<any T> T AsIs(T v)", "blob Output()"],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    params::FORMAT,
    params::WRITE_EOL,
    ParamModel {
        name: "writePunctuations",
        doc: "Whether markers become records too; they are not forwarded then. Default: false.",
        ..params::FLAG
    },
    params::WRITE_DELAY,
    params::SEPARATOR,
    params::QUOTE_STRINGS,
    params::SUPPRESS,
];

/// A marker becomes a record without a tuple: nothing can be taken from one then.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    verify_records::verify_writer(operator)?;
    let port = &operator.outputs[0];
    if !is_true(operator, "writePunctuations") {
        return Ok(());
    }
    let reads = |value: &Expr| match value.kind {
        ExprKind::OutputCall(call) => port.calls[call as usize].args.iter().any(Expr::reads_input),
        _ => value.reads_input(),
    };
    let mut assigned = port.assign.iter();
    let Some(at) = assigned.position(|value| value.as_ref().is_some_and(reads)) else {
        return Ok(());
    };
    let name = &port.schema.attributes[at].name;
    let message = format!("`{name}` depends on the tuple, and markers are written too");
    let help = "assign it without attributes, or leave `writePunctuations` out";
    report_misuse(
        InvocationPart::Attribute(PortIndex(0), at as u32),
        message,
        help,
    )
}

/// Output functions of Format.
enum FormatFunction {
    AsIs,
    Output,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let function = |name: &str| match name {
        "Output" => FormatFunction::Output,
        _ => FormatFunction::AsIs,
    };
    let writes_marks = build.flag("writePunctuations", false)?;
    if writes_marks {
        build.set_keeps_markers();
    }
    Ok(Box::new(Format {
        writer: record_format::writer(build)?,
        calls: OutputCalls::new(build, PortIndex(0), function)?,
        writes_punctuations: writes_marks,
        previous_time: build.flag("hasDelayField", false)?.then_some(None),
        input: build.inputs[0].clone(),
    }))
}

struct Format {
    writer: Box<dyn RecordWriter>,
    calls: OutputCalls<FormatFunction>,
    writes_punctuations: bool,
    /// Time of the previous tuple, if delays are written.
    previous_time: Option<Option<Instant>>,
    input: Arc<Layout>,
}

impl Format {
    /// Sends a record with what else is assigned.
    fn submit(
        &mut self,
        record: Vec<u8>,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        let answer = |function: &FormatFunction, arguments: &[Value]| {
            Ok(match (function, arguments) {
                (FormatFunction::AsIs, [value, ..]) => value.clone(),
                _ => Value::Blob(record.clone()),
            })
        };
        self.calls
            .write(&EvaluationInputs::new(&inputs), out, answer)?;
        out.submit(PortIndex(0), self.calls.tuple())
    }

    /// A marker as a record; other attributes see a tuple of defaults.
    fn submit_marker_record(
        &mut self,
        mark: Punctuation,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut record = Vec::new();
        self.writer.punctuate(mark, &mut record);
        if !self.writes_punctuations || record.is_empty() {
            return Ok(());
        }
        let mut empty = TupleBuf::default();
        empty.begin(&self.input);
        self.submit(record, empty.as_ref(), out)
    }
}

impl Operator for Format {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let delay = self.previous_time.as_mut().map(|last| {
            let now = Instant::now();
            let before = last.replace(now);
            before.map_or(0.0, |before| (now - before).as_secs_f64())
        });
        let mut record = Vec::new();
        self.writer.write(tuple, delay, &mut record);
        self.submit(record, tuple, out)
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.submit_marker_record(Punctuation::Window, out)
    }

    fn process_final_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.submit_marker_record(Punctuation::Final, out)
    }
}
