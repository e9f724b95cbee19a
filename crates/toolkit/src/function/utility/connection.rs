//! Connections between jobs, configurations and resources of an instance.
//!
//! A program that runs by itself has no instance around it: what is imported and exported is
//! settled when it is compiled, and no configuration is stored. The functions that report this by
//! an error code do so; those that would change it cannot be called.
//!
//! The PE tells operators about their ports by properties: `exported.0.0.name`,
//! `imported.0.subscription`, `peOutputPort.0.congestionFactor`.

use eval::{NativeCall, NativeFn};
use graph::Unsupported;
use tuple::{List, Type, Value};

use crate::function::arguments::{NativeArguments, NativeResult, rstring};
use crate::function::entry::{self, utility};

const EXPORT: Unsupported = Unsupported {
    reason: "streams are joined when the program is compiled, by the properties that Export has then",
    alternative: "getOutputPortExportProperties gives them; send on another exported stream by a Split",
};
const IMPORT: Unsupported = Unsupported {
    reason: "streams are joined when the program is compiled, by the subscription that Import has then",
    alternative: "getInputPortImportSubscription gives it; import all streams, and put a DynamicFilter \
              or a Switch behind",
};
const FILTER: Unsupported = Unsupported {
    reason: "the filter of an Import is settled when the program is compiled",
    alternative: "import without it, and put a Filter behind whose condition is `evalPredicate`",
};
const IN_PLACE: Unsupported = Unsupported {
    reason: "the message bundles of toolkits are compiled resources of ICU, which nothing here reads",
    alternative: "write the message in the program, or read it from a file",
};

const NO_CONFIGURATION: &str = "Application configurations belong to an instance; there is none.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "stateful int32 getApplicationConfiguration(mutable map<rstring, rstring> properties, \
         rstring name)",
        "Puts the properties of a named configuration into the map. Gives 0, or 1 if there is no \
         such configuration: without an instance there never is.",
        |_| Ok(Value::Int32(1)),
    ),
    utility(
        "stateful rstring getApplicationConfigurationProperty(rstring configName, \
         rstring propertyName, rstring defaultValue)",
        "A property of a named configuration, or the default value: without an instance always the \
         latter.",
        |c| c.bounded_rstring(c.bytes(2)),
    ),
    utility(
        "stateful rstring getApplicationConfigurationProperty(rstring configName, \
         rstring propertyName, mutable int32 errorCode)",
        NO_CONFIGURATION,
        |c| {
            c.set_int32(2, 1);
            Ok(rstring(""))
        },
    ),
    utility(
        "int32 getOutputPortExportProperties(mutable list<tuple<rstring name, rstring value, \
         rstring typ>> properties, uint32 port)",
        "Gives the properties with which an output port of the operator is exported: names, values \
         as SPL writes them, types. The result is 0, or 1 if there is no such port, or it is not \
         exported by properties.",
        export_properties,
    ),
    unsupported(
        "stateful int32 setOutputPortExportProperties(list<tuple<rstring name, rstring value, \
         rstring typ>> properties, uint32 port)",
        "Changes the properties with which an output port is exported; not supported.",
        EXPORT,
    ),
    unsupported(
        "<tuple T> stateful int32 setOutputPortExportProperties(T properties, uint32 port)",
        "Changes the properties with which an output port is exported; not supported.",
        EXPORT,
    ),
    utility(
        "rstring getInputPortImportSubscription(uint32 port, mutable int32 error)",
        "The subscription of the Import that feeds an input port of the operator. `error` is 0, or 1 \
         if there is no such port, or nothing is imported there by a subscription.",
        |c| imported(c, "subscription"),
    ),
    unsupported(
        "stateful int32 setInputPortImportSubscription(rstring subscription, uint32 port)",
        "Changes the subscription of an input port that imports streams; not supported.",
        IMPORT,
    ),
    utility(
        "rstring getInputPortImportFilterExpression(uint32 port, mutable int32 error)",
        "The filter of the Import that feeds an input port of the operator, as it is written there; \
         empty if it has none. `error` is 0, or 1 if there is no such port, or nothing is imported.",
        |c| imported(c, "filter"),
    ),
    unsupported(
        "stateful int32 setInputPortImportFilterExpression(rstring filter, uint32 port)",
        "Changes the filter of an input port that imports streams; not supported.",
        FILTER,
    ),
    unsupported(
        "<tuple T> rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, \
         rstring resourceID, T substitutionValues)",
        "A message of a toolkit in the user's language; not supported.",
        IN_PLACE,
    ),
    unsupported(
        "<tuple T> rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, \
         rstring resourceID, T substitutionValues, rstring locale)",
        "A message of a toolkit in a language; not supported.",
        IN_PLACE,
    ),
    unsupported(
        "rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, rstring \
         resourceID)",
        "A message of a toolkit in the user's language; not supported.",
        IN_PLACE,
    ),
    unsupported(
        "rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, rstring \
         resourceID, rstring locale)",
        "A message of a toolkit in a language; not supported.",
        IN_PLACE,
    ),
    utility(
        "int32 getPEOutputPortConnections(uint32 port, mutable Sys.PEConnections connections)",
        "Gives the connections of an output port of the PE: the receiving PEs, the number of the \
         crossing, how congested the stream is, which its receivers share, and how many tuples were \
         filtered out, which is always 0. The output ports of a PE are the streams that leave it, in \
         the order in which the plan has them. The result is 0, or -1 if there is no such port.",
        pe_connections,
    ),
    utility(
        "int32 getOutputPortCongestionFactor(uint32 port)",
        "How congested an output port of the PE is: in percent, how much of the last five to ten \
         seconds it has waited for its receivers. -1 if there is no such port: streams within a PE \
         have none.",
        |c| {
            let factor = pe_output(c, "congestionFactor").unwrap_or(-1);
            Ok(Value::Int32(i32::try_from(factor).unwrap_or(100)))
        },
    ),
];

fn export_properties(c: &mut NativeCall<'_>) -> NativeResult {
    let port = c.uint32(1);
    let property = |key: &str| c.services.property(&format!("exported.{port}{key}"));
    let Some(count) = property("").and_then(|count| count.parse::<u32>().ok()) else {
        return Ok(Value::Int32(1));
    };
    let text = |key: String| rstring(property(&key).unwrap_or_default());
    let told = (0..count).map(|number| {
        let part = |part: &str| text(format!(".{number}.{part}"));
        tuple([part("name"), part("value"), part("type")])
    });
    let told: Vec<_> = told.collect();
    set_list(c, 0, told);
    Ok(Value::Int32(0))
}

fn imported(c: &mut NativeCall<'_>, what: &str) -> NativeResult {
    let found = c
        .services
        .property(&format!("imported.{}.{what}", c.uint32(0)));
    c.set_int32(1, i32::from(found.is_none()));
    c.bounded_rstring(found.unwrap_or_default())
}

fn pe_connections(c: &mut NativeCall<'_>) -> NativeResult {
    let Some(count) = pe_output(c, "connections") else {
        return Ok(Value::Int32(-1));
    };
    let crossing = pe_output(c, "crossing").unwrap_or_default();
    let factor = pe_output(c, "congestionFactor").unwrap_or_default();
    let connection = |number| {
        let pe = pe_output(c, &format!("pe.{number}")).unwrap_or_default();
        tuple([
            Value::Int64(pe),
            Value::Int64(crossing),
            Value::Uint8(u8::try_from(factor).unwrap_or(100)),
            Value::Uint64(0),
        ])
    };
    let connections: Vec<_> = (0..count).map(connection).collect();
    set_list(c, 1, connections);
    Ok(Value::Int32(0))
}

/// A counter of the PE output port that the first argument names.
fn pe_output(c: &NativeCall<'_>, what: &str) -> Option<i64> {
    let name = format!("peOutputPort.{}.{what}", c.uint32(0));
    c.services.property(&name)?.parse().ok()
}

fn tuple<const N: usize>(attributes: [Value; N]) -> Value {
    Value::Tuple(attributes.into_iter().collect())
}

/// Changes a list in place.
fn set_list(c: &mut NativeCall<'_>, at: usize, values: Vec<Value>) {
    let Type::List(element, _) = c.arg_type(at).clone() else {
        panic!("argument {at} of a library function is no list");
    };
    *c.arg_mut(at) = Value::List(List::from_values(&element, values));
}

const fn unsupported(prototype: &'static str, doc: &'static str, refusal: Unsupported) -> NativeFn {
    entry::unsupported("spl.utility", prototype, doc, refusal)
}
