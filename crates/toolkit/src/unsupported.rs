//! Standard operators that are known by name only: whoever invokes one is told what to do instead.

use graph::{Fault, FaultKind, OperatorModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line of such an operator.
macro_rules! unsupported {
    ($constant:ident, $namespace:literal, $name:literal, $instead:literal) => {
        pub const $constant: OperatorEntry = OperatorEntry {
            model: &OperatorModel {
                namespace: $namespace,
                name: $name,
                doc: concat!("Not supported: ", $instead, "."),
                unsupported: Some($instead),
                ..OperatorModel::DEFAULT
            },
            make: Make::Build(build),
        };
    };
}

/// The compiler lets none through.
fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let message = format!("{} is not supported", build.operator.kind);
    Err(Fault::new(FaultKind::Limit, message))
}

unsupported!(
    V1_TCP_SINK,
    "spl.compat",
    "V1TCPSink",
    "write with TCPSink, `format : bin`"
);
unsupported!(
    V1_TCP_SOURCE,
    "spl.compat",
    "V1TCPSource",
    "read with TCPSource, `format : bin`"
);
unsupported!(
    JAVA_OP,
    "spl.utility",
    "JavaOp",
    "there is no Java in this engine; write the logic in a Custom, or in functions"
);
