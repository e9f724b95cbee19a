//! The annotation of operators whose ports are exported or fed by imports, which library functions
//! read when the program runs.
//!
//! ```text
//! exported.0 = 1
//! exported.0.0.name = kind, exported.0.0.value = "trade", exported.0.0.type = rstring
//! imported.1.subscription = kind == "trade", imported.1.filter = price > 5.0
//! ```
//! The first number is that of the port, the second that of the property. An import without a
//! subscription has the filter alone, which is empty if there is none.

use std::sync::Arc;

use graph::{OperatorRole, OutPortId};
use tuple::{RString, Value};

use super::exported_properties::exported_properties;
use crate::expand::Expander;
use crate::subscription::Subscription;

/// Name of the annotation that operators get.
const BOUNDARY: &str = "boundary";

/// Tells the operators before exports and behind imports.
pub(crate) fn annotate_boundaries(expander: &mut Expander<'_, '_>) {
    let mut told: Vec<(usize, Vec<(String, String)>)> = Vec::new();
    for (at, operator) in expander.operators.iter().enumerate() {
        for (port, input) in operator.inputs.iter().enumerate() {
            for edge in &input.sources {
                if is_boundary(expander, edge.operator.0 as usize) {
                    told.push((at, imported_keys(expander, port, edge)));
                } else if is_boundary(expander, at) && !operator.params.is_empty() {
                    told.push((edge.operator.0 as usize, exported_keys(expander, at, edge)));
                }
            }
        }
    }
    for (at, keys) in told {
        if !keys.is_empty() {
            add_keys(expander, at, keys);
        }
    }
}

fn is_boundary(expander: &Expander<'_, '_>, at: usize) -> bool {
    expander.sites[at].model.role == OperatorRole::Boundary
}

/// Keys for the input port that an import feeds.
fn imported_keys(
    expander: &Expander<'_, '_>,
    port: usize,
    from: &OutPortId,
) -> Vec<(String, String)> {
    let site = &expander.sites[from.operator.0 as usize];
    let filter = site.filter.clone().unwrap_or_default();
    let mut keys = vec![(format!("imported.{port}.filter"), filter)];
    if let Some(subscription) = &site.subscription {
        let text = Subscription::to_string(subscription);
        keys.push((format!("imported.{port}.subscription"), text));
    }
    keys
}

/// Keys for the output port that feeds an export; none if it exports no properties.
fn exported_keys(
    expander: &Expander<'_, '_>,
    export: usize,
    from: &OutPortId,
) -> Vec<(String, String)> {
    let properties = exported_properties(&expander.operators[export]);
    let OutPortId { port, .. } = from;
    if properties.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![(format!("exported.{port}"), properties.len().to_string())];
    for (number, (name, ty, value)) in properties.iter().enumerate() {
        let mut text = Vec::new();
        tuple::text::print(value, ty, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let key = format!("exported.{port}.{number}");
        keys.push((format!("{key}.name"), name.to_string()));
        keys.push((format!("{key}.value"), text));
        keys.push((format!("{key}.type"), ty.to_string()));
    }
    keys
}

/// Adds keys to the annotation; the first value of a key stays.
fn add_keys(expander: &mut Expander<'_, '_>, at: usize, keys: Vec<(String, String)>) {
    let annotations = &mut expander.operators[at].annotations;
    let found = annotations.iter().position(|(name, _)| &**name == BOUNDARY);
    let found = found.unwrap_or_else(|| {
        annotations.push((BOUNDARY.into(), Vec::new()));
        annotations.len() - 1
    });
    let known = &mut annotations[found].1;
    for (key, value) in keys {
        if known.iter().all(|(other, _)| **other != *key) {
            known.push((Arc::from(key), Value::RString(RString(value.into_bytes()))));
        }
    }
}
