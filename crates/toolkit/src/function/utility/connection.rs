//! Connections between jobs, configurations and resources of an instance.
//!
//! A program that runs by itself has no instance around it: no stream is imported or exported while
//! it runs, no configuration is stored. The functions that report this by an error code do so; the
//! others cannot be called.

use graph::NativeFn;
use tuple::Value;

use super::utility;
use crate::function::call::{Arguments, rstring};

const EXPORT: &str = "properties are those that Export has when the program is compiled";
const IMPORT: &str = "a subscription is that which Import has when the program is compiled";
const FILTER: &str = "a filter is that which Import has when the program is compiled; \
                      evalPredicate evaluates a condition that is text";
const IN_PLACE: &str = "write the message in the program, or read it from a file";
const TOP: &str = "`thalweg top` shows what is connected, and who waits for whom";

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
    unsupported(
        "int32 getOutputPortExportProperties(mutable list<tuple<rstring name, rstring value, \
         rstring typ>> properties, uint32 port)",
        "The properties with which an output port is exported; not supported.",
        EXPORT,
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
    unsupported(
        "rstring getInputPortImportSubscription(uint32 port, mutable int32 error)",
        "The subscription of an input port that imports streams; not supported.",
        IMPORT,
    ),
    unsupported(
        "stateful int32 setInputPortImportSubscription(rstring subscription, uint32 port)",
        "Changes the subscription of an input port that imports streams; not supported.",
        IMPORT,
    ),
    unsupported(
        "rstring getInputPortImportFilterExpression(uint32 port, mutable int32 error)",
        "The filter of an input port that imports streams; not supported.",
        FILTER,
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
    unsupported(
        "int32 getPEOutputPortConnections(uint32 port, mutable Sys.PEConnections connections)",
        "The connections of an output port of the PE; not supported.",
        TOP,
    ),
    unsupported(
        "int32 getOutputPortCongestionFactor(uint32 port)",
        "How congested an output port of the PE is, from 0 to 100; not supported.",
        TOP,
    ),
];

const fn unsupported(
    prototype: &'static str,
    doc: &'static str,
    instead: &'static str,
) -> NativeFn {
    crate::function::unsupported("spl.utility", prototype, doc, instead)
}
