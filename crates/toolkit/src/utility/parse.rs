//! Parse: converts records in blobs to tuples.

use eval::Fault;
use eval::TraceLevel;
use graph::{
    AssignmentMode, InPortModel, InvocationError, OperatorModel, OperatorNode as Invocation,
    PortIndex,
};
use graph::{OutPortModel, ParamMode, ParamModel};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet};
use tuple::text::{Record, RecordError, RecordReader};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::blob;
use crate::adapter::assigned_attributes::{AssignedAttributes, ParsingMode};
use crate::adapter::input_origin::InputOrigin;
use crate::adapter::{params, record_format, verify_format, verify_records};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Parse",
    doc: "Reads records from blobs, as FileSource would from a file; a record may begin in one \
          blob and end in a later one. A window marker follows the last tuple.",
    inputs: &[InPortModel {
        mutable: true,
        ..InPortModel::DEFAULT
    }],
    outputs: &[OutPortModel {
        assign: AssignmentMode::AttributeFree,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    enums: &[params::FORMATS, params::PARSINGS],
    output_functions: &["int64 TupleNumber()", "<any T> T AsIs(T v)"],
    metrics: &["nInvalidTuples"],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    params::FORMAT,
    ParamModel {
        name: "parseInput",
        ty: "blob",
        mode: ParamMode::Expression,
        doc: "The blob to read. Default: the only attribute of the input.",
        ..ParamModel::DEFAULT
    },
    params::DEFAULT_TUPLE,
    params::PARSING,
    params::READ_DELAY,
    params::READ_EOL,
    params::BLOCK_SIZE,
    params::SEPARATOR,
    params::HEADER_LINE,
    params::READ_PUNCTUATIONS,
    params::IGNORE_EXTRA,
];

fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    blob::verify_input(operator, "parseInput")?;
    verify_format::verify_block_size(operator)?;
    verify_records::verify_reader(operator)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Parse {
        input: blob::BlobInput::new(build, "parseInput")?,
        reader: record_format::reader(build)?,
        parsing: ParsingMode::from_param(build),
        assigned: AssignedAttributes::new(build)?,
        punctuated: build.flag("readPunctuations", false)?,
        tuple: TupleBuf::default(),
        unread: Vec::new(),
        number: 0,
        has_ended: false,
    }))
}

struct Parse {
    input: blob::BlobInput,
    reader: Box<dyn RecordReader>,
    parsing: ParsingMode,
    assigned: Option<AssignedAttributes>,
    /// Markers come as records.
    punctuated: bool,
    tuple: TupleBuf,
    /// Bytes of a record that has not come whole.
    unread: Vec<u8>,
    /// Number of the record read last, from 1.
    number: i64,
    /// A final marker was read: what follows is not.
    has_ended: bool,
}

impl Parse {
    /// Reads all whole records.
    fn read(&mut self, at_end: bool, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut start = 0;
        while !self.has_ended && !out.services().is_shutdown() {
            let bytes = &self.unread[start..];
            let step = self.reader.read(bytes, at_end, &mut self.tuple);
            start += step.consumed;
            match step.record {
                Record::Tuple { delay } => self.submit(delay, out)?,
                Record::Rejected(error) => self.reject(&error, out)?,
                Record::Punctuation(mark) => {
                    self.has_ended = mark == Punctuation::Final;
                    out.submit_punctuation(PortIndex(0), mark)?;
                }
                Record::NeedMore | Record::End => break,
            }
        }
        self.unread.drain(..start);
        Ok(())
    }

    fn submit(&mut self, delay: f64, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.number += 1;
        if delay > 0.0 {
            out.services().block(delay);
        }
        match &mut self.assigned {
            None => out.submit(PortIndex(0), self.tuple.as_ref()),
            Some(assigned) => {
                let whole =
                    assigned.complete(&self.tuple, &InputOrigin::default(), self.number, out)?;
                out.submit(PortIndex(0), whole)
            }
        }
    }

    fn reject(&mut self, error: &RecordError, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.number += 1;
        let message = format!("input:{error}");
        if self.parsing == ParsingMode::Strict {
            return Err(Fault::value(message));
        }
        out.services().add_to_metric("nInvalidTuples", 1);
        out.services().log(TraceLevel::Warn, &message, "Parse");
        Ok(())
    }
}

impl Operator for Parse {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let bytes = self.input.read(tuple, out)?;
        if !self.has_ended {
            self.unread.extend_from_slice(&bytes);
        }
        self.read(false, out)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.read(true, out)?;
        if self.punctuated {
            Ok(())
        } else {
            out.submit_punctuation(PortIndex(0), Punctuation::Window)
        }
    }
}
