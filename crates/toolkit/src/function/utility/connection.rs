//! Connections between jobs, configurations and resources of an instance.
//!
//! A program that runs by itself has no instance around it: no stream is imported or exported while
//! it runs, no configuration is stored. The functions that report this by an error code do so; the
//! others fault.

use graph::{Call, Fault, FaultKind, NativeFn};
use tuple::Value;

use super::utility;
use crate::function::call::{Arguments, Outcome, rstring};

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
        |c| c.give_bytes(c.bytes(2)),
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
        "The properties with which an output port is exported; not supported.",
        |_| unsupported("asking for the properties of an exported stream"),
    ),
    utility(
        "stateful int32 setOutputPortExportProperties(list<tuple<rstring name, rstring value, \
         rstring typ>> properties, uint32 port)",
        "Changes the properties with which an output port is exported; not supported.",
        |_| unsupported("changing the properties of an exported stream"),
    ),
    utility(
        "<tuple T> stateful int32 setOutputPortExportProperties(T properties, uint32 port)",
        "Changes the properties with which an output port is exported; not supported.",
        |_| unsupported("changing the properties of an exported stream"),
    ),
    utility(
        "rstring getInputPortImportSubscription(uint32 port, mutable int32 error)",
        "The subscription of an input port that imports streams; not supported.",
        |_| unsupported("asking for a subscription"),
    ),
    utility(
        "stateful int32 setInputPortImportSubscription(rstring subscription, uint32 port)",
        "Changes the subscription of an input port that imports streams; not supported.",
        |_| unsupported("changing a subscription"),
    ),
    utility(
        "rstring getInputPortImportFilterExpression(uint32 port, mutable int32 error)",
        "The filter of an input port that imports streams; not supported.",
        |_| unsupported("asking for an import filter"),
    ),
    utility(
        "stateful int32 setInputPortImportFilterExpression(rstring filter, uint32 port)",
        "Changes the filter of an input port that imports streams; not supported.",
        |_| unsupported("changing an import filter"),
    ),
    utility(
        "<tuple T> rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, \
         rstring resourceID, T substitutionValues)",
        "A message of a toolkit in the user's language; not supported.",
        load_resource,
    ),
    utility(
        "<tuple T> rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, \
         rstring resourceID, T substitutionValues, rstring locale)",
        "A message of a toolkit in a language; not supported.",
        load_resource,
    ),
    utility(
        "rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, rstring \
         resourceID)",
        "A message of a toolkit in the user's language; not supported.",
        load_resource,
    ),
    utility(
        "rstring loadAndFormatResource(rstring toolkitName, rstring bundleName, rstring \
         resourceID, rstring locale)",
        "A message of a toolkit in a language; not supported.",
        load_resource,
    ),
    utility(
        "int32 getPEOutputPortConnections(uint32 port, mutable Sys.PEConnections connections)",
        "The connections of an output port of the PE; not supported.",
        |_| unsupported("asking for the connections of a PE's port"),
    ),
    utility(
        "int32 getOutputPortCongestionFactor(uint32 port)",
        "How congested an output port of the PE is, from 0 to 100; not supported.",
        |_| unsupported("asking for the congestion of a PE's port"),
    ),
];

fn load_resource(_: &mut Call<'_>) -> Outcome {
    unsupported("loading a resource of a toolkit")
}

fn unsupported(what: &str) -> Outcome {
    Err(Fault::new(
        FaultKind::Limit,
        format!("{what} is not supported"),
    ))
}
