//! FileSink: writes tuples to files.
//!
//! `operator` decides what is written and when a file is done; `file_sequence` opens, closes, names
//! and moves them; `verify` checks invocations.

mod file_sequence;
mod operator;
mod verify;

use graph::{Cardinality, PunctuationOutputMode};
use graph::{InPortModel, OperatorModel, OperatorTimers, OutPortModel, ParamMode, ParamModel};
use runtime::{OperatorConstructor, OperatorEntry};

use super::params;
use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(operator::build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "FileSink",
    doc: "Writes the tuples that come in to a file, or to a sequence of files. The output port \
          reports the name of each file that has been closed.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        count: Cardinality::Optional,
        punctuation: PunctuationOutputMode::Free,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    enums: &[
        params::FORMATS,
        (
            "CloseMode",
            &["punct", "count", "size", "time", "dynamic", "never"],
        ),
        params::ALGORITHMS,
        ("WriteFailureAction", &["ignore", "log", "terminate"]),
    ],
    metrics: &["nFilesOpened", "nTupleWriteErrors"],
    verify: Some(verify::verify),
    timers: Some(|operator| {
        let closes_by_time = lower::literal(operator, "closeMode") == Some("time");
        // Without an output port it submits nothing at all.
        OperatorTimers::new(closes_by_time, !operator.outputs.is_empty())
    }),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "file",
        ty: "rstring",
        mode: ParamMode::Expression,
        mandatory: true,
        doc: "The file, relative to the data directory; {id}, {localtime:f} and {gmtime:f} are \
              filled in. It may depend on the tuple if closeMode is dynamic.",
        ..ParamModel::DEFAULT
    },
    params::FORMAT,
    ParamModel {
        name: "flush",
        ty: "uint32",
        doc: "Flush after so many tuples. Default: 0, when the buffer is full. Tuples are never held \
              back for more than a second.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flushOnPunctuation",
        doc: "Whether a marker flushes. Default: true.",
        ..params::FLAG
    },
    params::WRITE_EOL,
    params::WRITE_PUNCTUATIONS,
    params::WRITE_DELAY,
    ParamModel {
        name: "compression",
        ty: "CompressionAlg",
        mode: ParamMode::Literal,
        doc: "How to compress the file. Default: not at all.",
        ..ParamModel::DEFAULT
    },
    params::SEPARATOR,
    ParamModel {
        name: "encoding",
        ty: "rstring",
        doc: "The character encoding of the file. Default: UTF-8.",
        ..ParamModel::DEFAULT
    },
    params::QUOTE_STRINGS,
    ParamModel {
        name: "closeMode",
        ty: "CloseMode",
        mode: ParamMode::Literal,
        doc: "When the file is closed and the next one begun. Default: never.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "tuplesPerFile",
        ty: "int32 | uint32 | int64 | uint64",
        doc: "With closeMode count: how many tuples.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "timePerFile",
        ty: "float64",
        doc: "With closeMode time: seconds.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "bytesPerFile",
        ty: "int32 | uint32 | int64 | uint64",
        doc: "With closeMode size: how many bytes.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "moveFileToDirectory",
        ty: "rstring",
        doc: "Where to move the file once it is closed.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "append",
        ty: "boolean",
        doc: "Whether to write behind what the file holds. Default: false.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "writeFailureAction",
        ty: "WriteFailureAction",
        mode: ParamMode::Literal,
        doc: "What a failed write does: ignore counts it, log also traces it, terminate ends the \
              program. Default: terminate, so that nothing is lost unseen.",
        ..ParamModel::DEFAULT
    },
    params::SUPPRESS,
    ParamModel {
        name: "truncateOnReset",
        ty: "boolean",
        doc: "Only in consistent regions: whether a reset truncates the file. Default: true.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "writeStateHandlerCallbacks",
        ty: "boolean",
        doc: "Only in consistent regions: whether call-backs are written. Default: false.",
        ..ParamModel::DEFAULT
    },
];
