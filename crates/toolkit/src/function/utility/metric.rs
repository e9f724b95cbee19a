//! Metrics: the operator's own, and those that the run time counts.

use eval::{Fault, FaultKind, NativeCall, NativeFn, PortSide};
use tuple::Value;

use crate::function::arguments::{NativeArguments, NativeResult, VOID, rstring};
use crate::function::entry::utility;

const GET: &str = "Sets `value` to the value of a custom metric of the operator. Faults if there \
    is none of that name.";
const SET: &str = "Sets a custom metric of the operator. Faults if there is none of that name.";
const CREATE: &str = "Creates a custom metric of the operator, with a description, a kind and a \
    first value. Faults if there is one of that name.";
const HAS: &str = "Whether the operator has a custom metric of that name.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "stateful void getInputPortMetricValue(uint32 port, Sys.OperatorInputPortMetricName name, \
         mutable int64 value)",
        "Sets `value` to the value of a metric of an input port. Faults if there is no such port, \
         or the run time does not count it.",
        |c| port_metric(c, PortSide::Input),
    )
    .with_counts()
    .with_port(PortSide::Input),
    utility(
        "stateful void getOutputPortMetricValue(uint32 port, Sys.OperatorOutputPortMetricName \
         name, mutable int64 value)",
        "Sets `value` to the value of a metric of an output port. Faults if there is no such port, \
         or the run time does not count it.",
        |c| port_metric(c, PortSide::Output),
    )
    .with_counts()
    .with_port(PortSide::Output),
    utility(
        "stateful void getOperatorMetricValue(Sys.OperatorSystemMetricName name, mutable int64 \
         value)",
        "Sets `value` to the value of a metric of the operator. Faults if the run time does not \
         count it.",
        |c| {
            let name = c.enumerator(0).to_owned();
            runtime_metric(c, &format!("operatorMetric.{name}"), 1)
                .unwrap_or_else(|| Err(not_counted(&name, "the operator")))
        },
    )
    .with_counts(),
    utility(
        "stateful void getCustomMetricValue(rstring name, mutable int64 value)",
        GET,
        get,
    ),
    utility(
        "stateful void getCustomMetricValue(ustring name, mutable int64 value)",
        GET,
        get,
    ),
    utility(
        "stateful void setCustomMetricValue(rstring name, int64 value)",
        SET,
        set,
    ),
    utility(
        "stateful void setCustomMetricValue(ustring name, int64 value)",
        SET,
        set,
    ),
    utility(
        "stateful void createCustomMetric(rstring name, rstring description, Sys.Kind kind, int64 \
         value)",
        CREATE,
        create,
    ),
    utility(
        "stateful void createCustomMetric(ustring name, ustring description, Sys.Kind kind, int64 \
         value)",
        CREATE,
        create,
    ),
    utility("stateful boolean hasCustomMetric(rstring name)", HAS, has),
    utility("stateful boolean hasCustomMetric(ustring name)", HAS, has),
    utility(
        "stateful list<rstring> getCustomMetricNames()",
        "The names of the operator's custom metrics, in the order of their creation.",
        |c| c.bounded_list_from(c.services.metric_names().into_iter().map(rstring)),
    ),
];

/// A metric of a port, whose number is the first argument.
fn port_metric(c: &mut NativeCall<'_>, side: PortSide) -> NativeResult {
    let (port, name) = (c.uint32(0), c.enumerator(1).to_owned());
    let (direction, always_counted) = match side {
        PortSide::Input => ("input", "nTuplesProcessed"),
        PortSide::Output => ("output", "nTuplesSubmitted"),
    };
    let property = |name: &str| format!("{direction}PortMetric.{port}.{name}");
    if let Some(found) = runtime_metric(c, &property(&name), 2) {
        return found;
    }
    if c.services.property(&property(always_counted)).is_some() {
        return Err(not_counted(&name, &format!("{direction} port {port}")));
    }
    let message = format!("the operator has no {direction} port {port}; the first is number 0");
    Err(Fault::value(message))
}

/// Sets an argument to a metric of the run time, which answers for it as a property; `None` if the
/// run time does not know it.
fn runtime_metric(c: &mut NativeCall<'_>, property: &str, target: usize) -> Option<NativeResult> {
    let text = c.services.property(property)?;
    c.set_int64(target, text.parse().ok()?);
    Some(Ok(VOID))
}

fn not_counted(name: &str, whose: &str) -> Fault {
    Fault::new(
        FaultKind::Limit,
        format!("the metric {name} of {whose} is not counted"),
    )
}

fn get(c: &mut NativeCall<'_>) -> NativeResult {
    let name = c.text(0).into_owned();
    let value = c.services.metric(&name).ok_or_else(|| missing(&name))?;
    c.set_int64(1, value);
    Ok(VOID)
}

fn set(c: &mut NativeCall<'_>) -> NativeResult {
    let (name, value) = (c.text(0).into_owned(), c.int64(1));
    if c.services.set_metric(&name, value) {
        Ok(VOID)
    } else {
        Err(missing(&name))
    }
}

fn create(c: &mut NativeCall<'_>) -> NativeResult {
    let (name, text) = (c.text(0).into_owned(), c.text(1).into_owned());
    let (kind, value) = (c.ordinal(2), c.int64(3));
    if c.services.create_metric(&name, &text, kind, value) {
        return Ok(VOID);
    }
    Err(Fault::value(format!(
        "the operator has a custom metric \"{name}\" already"
    )))
}

fn has(c: &mut NativeCall<'_>) -> NativeResult {
    let found = c.services.metric(&c.text(0)).is_some();
    Ok(Value::Boolean(found))
}

fn missing(name: &str) -> Fault {
    Fault::value(format!("the operator has no custom metric \"{name}\""))
}
