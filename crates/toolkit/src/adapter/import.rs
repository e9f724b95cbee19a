//! Import: brings in streams that the program exports.
//!
//! The compiler finds the streams and gives the operator an input port for them; without any it is
//! a source that sends nothing.

use graph::{Fault, Misuse, Operator as Invocation, OperatorModel, OutPortModel};
use graph::{ParamMode, ParamModel, Part, Role};
use runtime::abi::Predicate;
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Row, Source};
use tuple::{Punctuation, TupleRef};

use crate::rule::{exprs, given, wrong};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "Import",
    doc: "Brings in the streams of the same program that are exported with an id, or with \
          properties that meet a subscription.",
    outputs: &[OutPortModel::DEFAULT],
    params: &[
        ParamModel {
            name: "subscription",
            ty: "boolean",
            mode: ParamMode::Subscription,
            doc: "Which streams, as a condition over their properties, or an rstring that holds \
                  one. Numbers are compared by value, whatever their types.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "applicationName",
            ty: "rstring",
            mode: ParamMode::Constant,
            doc: "The main composite of the program that exports. Default: this one.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "applicationScope",
            ty: "rstring",
            mode: ParamMode::Constant,
            doc: "The application scope of the program that exports. Default: that of this one.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "streamId",
            ty: "rstring",
            mode: ParamMode::Constant,
            doc: "The name under which the stream is exported.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "filter",
            ty: "boolean",
            mode: ParamMode::Filter,
            doc: "Which tuples come in, as a condition over the output tuple, or an rstring that \
                  holds one. Numbers are compared by value. Default: all.",
            ..ParamModel::DEFAULT
        },
    ],
    role: Role::Boundary,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Either an id or a subscription.
fn verify(operator: &Invocation) -> Result<(), Misuse> {
    let help = "give subscription, or streamId (and applicationName)";
    match (given(operator, "subscription"), given(operator, "streamId")) {
        (true, true) => {
            let message = "`subscription` and `streamId` exclude each other";
            wrong(Part::Param("streamId"), message, help)
        }
        (false, false) => wrong(Part::Head, "Import needs to know what to import", help),
        _ => Ok(()),
    }
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let has_input = !build.inputs.is_empty();
    let filter = exprs(build.operator, "filter").first();
    let filter = filter.filter(|_| has_input);
    Ok(Box::new(Import {
        filter: filter.map(|expr| build.predicate(expr)).transpose()?,
        has_input,
    }))
}

struct Import {
    filter: Option<Predicate>,
    has_input: bool,
}

/// What sends nothing.
struct Nothing;

impl Operator for Import {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(tuple)];
        if let Some(filter) = &mut self.filter
            && !filter.holds(&Row::new(&row), out)?
        {
            return Ok(());
        }
        out.submit(0, tuple)
    }

    fn window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.punctuate(0, Punctuation::Window)
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        if self.has_input {
            return None;
        }
        Some(Box::new(Nothing))
    }
}

impl Source for Nothing {
    fn run(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }
}
