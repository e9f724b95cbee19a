//! Split: sends each tuple to the output ports that an index or a mapping file chooses.

use graph::{Cardinality, FaultKind, Misuse, Part, PunctuationOut};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

const OUT: OutPortModel = OutPortModel {
    punctuation: PunctuationOut::Preserving(0),
    forwards: true,
    complete: true,
    same_schema_as: Some(0),
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Split",
    doc: "Sends each tuple to the output ports that an index chooses, or the line of a mapping \
          file that begins with its key. Window markers go to all output ports.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Any,
            ..OUT
        },
    ],
    params: &[
        ParamModel {
            name: "index",
            ty: "int32 | uint32 | int64 | uint64 | \
                 list<int32> | list<uint32> | list<int64> | list<uint64>",
            mode: ParamMode::Expression,
            doc: "Output port, or ports; taken modulo their number. A negative one drops.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "file",
            ty: "rstring",
            doc: "The mapping file: lines `key,port,...`; the key `default` takes the rest.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "key",
            mode: ParamMode::Expression,
            doc: "What is looked up in the mapping file.",
            ..ParamModel::DEFAULT
        },
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Either `index`, or `file` and `key`.
fn verify(operator: &graph::Operator) -> Result<(), Misuse> {
    let given = |name: &str| operator.param(name).is_some();
    let wrong = |part: Part, message: &str| {
        Err(Misuse {
            part,
            message: message.to_owned(),
            help: "give either index, or file and key".to_owned(),
        })
    };
    match (given("index"), given("file"), given("key")) {
        (true, false, false) | (false, true, true) => Ok(()),
        (true, true, _) => wrong(Part::Param("file"), "index and file exclude each other"),
        (true, _, true) => wrong(Part::Param("key"), "index and key exclude each other"),
        (false, true, false) => wrong(Part::Param("file"), "file needs the parameter key"),
        (false, false, true) => wrong(Part::Param("key"), "key needs the parameter file"),
        (false, false, false) => wrong(Part::Head, "Split needs to know where tuples go"),
    }
}

fn build(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
