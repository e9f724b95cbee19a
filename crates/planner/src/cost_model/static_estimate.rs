//! Estimates of operators that no profile knows: from their kinds, expressions and windows.
//!
//! The numbers are ratios more than times. A call of a Filter in compiled code takes 2 ns on the
//! machine of the performance report, and the others follow from what they do beside it.

use graph::{Expr, OperatorNode, ParamValue, Policy, Stmt, Window, WindowKind};

use crate::threaded_ports::SPLITTER;

/// Nanoseconds of one operation in an expression.
const OPERATION_NS: f64 = 1.0;

/// Turns of a loop in a body, which nothing tells before the program runs.
const LOOP_TURNS: f64 = 10.0;

/// Nanoseconds of a tuple in an operator of a kind without its expressions; others take
/// [`OTHER_NS`].
const KIND_NS: [(&str, f64); 22] = [
    ("Beacon", 2.0),
    ("Filter", 2.0),
    ("Functor", 2.0),
    ("Custom", 3.0),
    ("Split", 3.0),
    ("Union", 1.0),
    ("Punctor", 2.0),
    ("Throttle", 30.0),
    ("DeDuplicate", 30.0),
    ("Aggregate", 10.0),
    ("Join", 50.0),
    ("Sort", 60.0),
    ("Barrier", 40.0),
    ("Pair", 40.0),
    ("Delay", 60.0),
    ("Parse", 200.0),
    ("Format", 200.0),
    ("FileSource", 300.0),
    ("FileSink", 300.0),
    ("TCPSource", 300.0),
    ("TCPSink", 300.0),
    ("XMLParse", 1000.0),
];

/// Nanoseconds of a tuple in an operator of any other kind.
const OTHER_NS: f64 = 10.0;

/// Name of a kind without its namespace, as profiles have it.
pub fn short_kind(kind: &str) -> &str {
    kind.rsplit("::").next().unwrap_or(kind)
}

/// Estimated nanoseconds of a tuple in an operator.
pub fn tuple_ns(operator: &OperatorNode) -> f64 {
    let kind = short_kind(&operator.kind);
    let known = KIND_NS.iter().find(|(name, _)| *name == kind);
    let mut operations = 0.0;
    for param in &operator.params {
        if let ParamValue::Exprs(values) = &param.value {
            operations += values.iter().map(expr_operations).sum::<f64>();
        }
    }
    for output in &operator.outputs {
        let calls = output.calls.iter().flat_map(|call| &call.args);
        let all = output.assign.iter().flatten().chain(calls);
        operations += all.map(expr_operations).sum::<f64>();
    }
    let logic = &operator.logic;
    let bodies = logic.on_tuple.iter().flatten().chain(&logic.on_process);
    operations += bodies.map(|body| body_operations(&body.stmts)).sum::<f64>();
    known.map_or(OTHER_NS, |(_, ns)| *ns) + operations * OPERATION_NS
}

/// Operations of an expression: its parts that are no constants and no bare reads.
fn expr_operations(expr: &Expr) -> f64 {
    let mut parts = 0.0;
    let mut children = 0.0;
    expr.for_each_ref(&mut |part| {
        let mut is_leaf = true;
        part.for_each_child_ref(&mut |_| is_leaf = false);
        match is_leaf {
            true => children += 1.0,
            false => parts += 1.0,
        }
    });
    // A copied attribute costs less than an operation on it.
    parts + children * 0.25
}

fn body_operations(stmts: &[Stmt]) -> f64 {
    let operations = stmts.iter().map(|stmt| match stmt {
        Stmt::Let(_, Some(value)) | Stmt::Expr(value) | Stmt::Return(Some(value)) => {
            expr_operations(value)
        }
        Stmt::If(condition, yes, no) => {
            let branches = (body_operations(yes) + body_operations(no)) / 2.0;
            expr_operations(condition) + branches
        }
        Stmt::While(condition, turn) => {
            LOOP_TURNS * (expr_operations(condition) + body_operations(turn))
        }
        Stmt::For(_, collection, turn) => {
            expr_operations(collection) + LOOP_TURNS * body_operations(turn)
        }
        Stmt::Clause(stmts) => body_operations(stmts),
        Stmt::Submit { tuple, .. } => 1.0 + expr_operations(tuple),
        _ => 1.0,
    });
    operations.sum()
}

/// Whether the consumers of an operator's streams have threads of their own.
fn is_splitter(operator: &OperatorNode) -> bool {
    let mut annotations = operator.annotations.iter();
    annotations.any(|(name, _)| &**name == SPLITTER)
}

/// Estimated tuples of each stream of an operator for a tuple that it processes.
pub fn selectivity(operator: &OperatorNode) -> f64 {
    let outputs = operator.outputs.len().max(1) as f64;
    match short_kind(&operator.kind) {
        // Half of the tuples pass; those that do not go to a second port.
        "Filter" | "DeDuplicate" | "DynamicFilter" => 0.5,
        "Split" => 1.0 / outputs,
        "Barrier" | "Pair" => 1.0 / operator.inputs.len().max(1) as f64,
        "Aggregate" => {
            let window = operator
                .inputs
                .first()
                .and_then(|input| input.window.as_ref());
            window.map_or(1.0, window_selectivity)
        }
        // Splitters of parallel regions, and ThreadedSplit.
        _ if is_splitter(operator) => 1.0 / outputs,
        _ => 1.0,
    }
}

/// Results of a window for each tuple that it takes.
fn window_selectivity(window: &Window) -> f64 {
    let policy = match window.kind {
        WindowKind::Sliding => window.trigger.as_ref().unwrap_or(&window.evict),
        _ => &window.evict,
    };
    match policy {
        Policy::Count(count) => 1.0 / f64::from((*count).max(1)),
        _ => 0.1,
    }
}
