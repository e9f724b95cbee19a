//! Operators that are known by name only: the compiler refuses them, with the reason and an
//! alternative.

use eval::{Fault, FaultKind};
use graph::{OperatorModel, Unsupported};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry};

/// Defines entries of the registry for unsupported operators.
macro_rules! unsupported {
    ($($constant:ident $namespace:literal $name:literal $why:literal, $instead:literal;)+) => { $(
        pub const $constant: OperatorEntry = OperatorEntry {
            model: &OperatorModel {
                namespace: $namespace,
                name: $name,
                doc: concat!("Not supported: ", $why, "; ", $instead, "."),
                unsupported: Some(Unsupported { reason: $why, alternative: $instead }),
                ..OperatorModel::DEFAULT
            },
            constructor: OperatorConstructor::Build(build),
        };
    )+ };
}

/// Refuses to build the operator; the compiler does so before.
fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let message = format!("{} is not supported", build.operator.kind);
    Err(Fault::new(FaultKind::Limit, message))
}

unsupported! {
    V1_TCP_SINK "spl.compat" "V1TCPSink"
        "it writes the binary form of release 1 of Streams",
        "write with TCPSink, `format : bin`, which a TCPSource with that format reads";
    V1_TCP_SOURCE "spl.compat" "V1TCPSource"
        "it reads the binary form of release 1 of Streams",
        "read with TCPSource, `format : bin`, what a TCPSink with that format writes";
    DEMUX "spl.compat.sample" "Demux"
        "it is a sample of release 1 of Streams, deprecated there too",
        "use a Functor: it has any number of output ports, each with its own assignments";
    KEYED_AGGREGATE "spl.compat.sample" "KeyedAggregate"
        "it is a sample of release 1 of Streams, deprecated there too",
        "use an Aggregate with a `partitioned` window and `partitionBy`";
    KEYED_DELAY "spl.compat.sample" "KeyedDelay"
        "it is a sample of release 1 of Streams, deprecated there too",
        "keep the tuples in a map by key in the state of a Custom, and submit them when they are due";
    KEYED_JOIN "spl.compat.sample" "KeyedJoin"
        "it is a sample of release 1 of Streams, deprecated there too",
        "use a Join with `equalityLHS` and `equalityRHS`";
    NORMALIZE "spl.compat.sample" "Normalize"
        "it is a sample of release 1 of Streams, deprecated there too",
        "use a Custom that submits a tuple for each element of the list, in a `for` loop";
    PUNCT_MERGER "spl.compat.sample" "PunctMerger"
        "it is a sample of release 1 of Streams, deprecated there too",
        "use a Custom that counts the markers of each port in `onPunct`, and submits one for all";
    JAVA_OP "spl.utility" "JavaOp"
        "there is no Java in this engine",
        "write the logic in a Custom, or in functions";
    BUFFER "spl.utility.internal" "Buffer"
        "it is a part of ReplayableStart in Streams",
        "use ReplayableStart, or a threaded port (config `threadedPort`)";
    MARKER "spl.utility.internal" "Marker"
        "it is a part of ReplayableStart in Streams",
        "use ReplayableStart";
    SELECTOR "spl.utility.internal" "Selector"
        "it is a part of ReplayableStart in Streams",
        "use ReplayableStart";
}
