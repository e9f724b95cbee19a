//! DirectoryScan: submits the names of the files in a directory, and of new and changed ones later.
//!
//! `operator` scans again and again; `scanned_file` is what is known of one file.

mod operator;
mod scanned_file;

use graph::{
    AssignmentMode, ExprKind, InvocationError, OperatorModel, OperatorNode, OutPortModel,
    ParamMode, ParamModel, PortIndex,
};
use graph::{InvocationPart, PunctuationOutputMode};
use runtime::{OperatorConstructor, OperatorEntry};
use tuple::Value;

use super::record_format::read_attributes;
use crate::function::regex;
use crate::verify_params::{exprs, report_misuse, verify_seconds};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(operator::build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "DirectoryScan",
    doc: "Scans a directory again and again, and sends a tuple for each file that is new or has \
          changed. Attributes that are not assigned are rstrings and get the path of the file.",
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Free,
        assign: AssignmentMode::Expression,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    enums: &[
        ("SortByType", &["date", "name"]),
        ("SortOrder", &["ascending", "descending"]),
    ],
    output_functions: &[
        "<any T> T AsIs(T v)",
        "rstring FilePath()",
        "rstring FullPath()",
        "rstring FileName()",
        "rstring Directory()",
        "rstring DestinationDirectory()",
        "rstring DestinationFilePath()",
        "rstring DestinationFullPath()",
        "uint64 Size()",
        "uint64 Atime()",
        "uint64 Ctime()",
        "uint64 Mtime()",
    ],
    metrics: &["nScans"],
    starts_consistent_region: true,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "directory",
        ty: "rstring",
        mandatory: true,
        doc: "The directory; relative to the data directory.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "pattern",
        ty: "rstring",
        doc: "A regular expression that matches somewhere in the names of the files that count. \
              Default: all do.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "sleepTime",
        ty: "float64",
        doc: "Seconds between two scans. Default: 5.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "initDelay",
        ty: "float64",
        doc: "Seconds before the first scan. Default: 0.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "sortBy",
        ty: "SortByType",
        mode: ParamMode::Literal,
        doc: "What orders the files of a scan: their last change, or their name. Default: date.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "order",
        ty: "SortOrder",
        mode: ParamMode::Literal,
        is_list: true,
        doc: "The direction of that order. Default: ascending.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "moveToDirectory",
        ty: "rstring",
        doc: "Where each file is moved before it is sent; relative to the data directory.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "ignoreDotFiles",
        ty: "boolean",
        doc: "Whether files whose name begins with a dot do not count. Default: false.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "ignoreExistingFilesAtStartup",
        ty: "boolean",
        doc: "Whether files that the first scan finds do not count until they change. Default: \
              false.",
        ..ParamModel::DEFAULT
    },
];

/// Times and the pattern, as far as they are known; what is not assigned takes a path.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_seconds(operator, &["sleepTime", "initDelay"])?;
    let pattern = exprs(operator, "pattern").first().map(|expr| &expr.kind);
    if let Some(ExprKind::Const(Value::RString(pattern))) = pattern
        && let Err(fault) = regex::is_match(b"", pattern.as_bytes())
    {
        let help = "it is no pattern of a shell: write `[.]csv$` for names that end with .csv";
        return report_misuse(InvocationPart::Param("pattern"), fault.message(), help);
    }
    let attributes = &operator.outputs[0].schema.attributes;
    let mut paths = read_attributes(operator)
        .into_iter()
        .map(|at| &attributes[at]);
    match paths.find(|attribute| !attribute.ty.is_rstring()) {
        Some(attribute) => {
            let (name, ty) = (&attribute.name, &attribute.ty);
            let message = format!("attribute `{name}` gets the path of the file and is {ty}");
            let help = "make it an rstring, or assign it in the output clause";
            report_misuse(InvocationPart::Output(PortIndex(0)), message, help)
        }
        None => Ok(()),
    }
}
