//! Import: submits the streams that Export operators of the program offer.
//!
//! The compiler finds the streams and gives the operator an input port for them; without any it is
//! a source that sends nothing.

use eval::Fault;
use graph::{InvocationError, OperatorModel, OperatorNode as Invocation, OutPortModel, PortIndex};
use graph::{InvocationPart, OperatorRole, ParamMode, ParamModel};
use runtime::abi::Predicate;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet, Source,
};
use tuple::{Punctuation, TupleRef};

use crate::verify_params::{exprs, has_param, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
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
    role: OperatorRole::Boundary,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Either an id or a subscription.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    let help = "give subscription, or streamId (and applicationName)";
    match (
        has_param(operator, "subscription"),
        has_param(operator, "streamId"),
    ) {
        (true, true) => {
            let message = "`subscription` and `streamId` exclude each other";
            report_misuse(InvocationPart::Param("streamId"), message, help)
        }
        (false, false) => report_misuse(
            InvocationPart::Head,
            "Import needs to know what to import",
            help,
        ),
        _ => Ok(()),
    }
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
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

/// An operator that submits nothing.
struct EmptySource;

impl Operator for Import {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        if let Some(filter) = &mut self.filter
            && !filter.holds(&EvaluationInputs::new(&inputs), out)?
        {
            return Ok(());
        }
        out.submit(PortIndex(0), tuple)
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        if self.has_input {
            return None;
        }
        Some(Box::new(EmptySource))
    }
}

impl Source for EmptySource {
    fn run(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }
}
