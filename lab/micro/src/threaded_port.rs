//! A threaded port between two operators: the smallest program with a queue.

use std::sync::Arc;

use graph::{
    Expr, OperatorId, OperatorNode, OutPortId, Param, ParamValue, PortIndex, Pos, Program,
    inserted_operators,
};
use jit::Jit;
use runtime::crossing::ENTRIES;
use runtime::{OperatorEntry, Pe, PeOptions, RunningPe};
use tuple::{TupleType, Type, Value};

use crate::bare_operator::graph_operator;
use crate::turns::time_ns;

/// Tuples that the queue holds: SPL's default.
pub const ITEMS: u32 = 1000;

/// The program `bench::Source`, queue, `bench::Sink`. The name of the source tells the model what
/// to do.
pub fn threaded_port_program(schema: &Arc<TupleType>, source_name: &str) -> Program {
    let schemas = std::slice::from_ref(schema);
    let mut source = graph_operator(&[], schemas);
    source.kind = "bench::Source".into();
    source.name = source_name.into();
    let mut sink = with_input_from(graph_operator(schemas, &[]), 1);
    sink.kind = "bench::Sink".into();
    let mut queue = with_input_from(graph_operator(schemas, schemas), 0);
    queue.kind = inserted_operators::QUEUE.into();
    let tuples = Expr::constant(Value::Uint32(ITEMS), Type::Uint32);
    queue.params = vec![
        param("tuples", ParamValue::Exprs(vec![tuples])),
        param("congestion", ParamValue::Literals(vec!["wait".into()])),
    ];
    Program {
        name: "OneToOne".into(),
        operators: vec![source, queue, sink],
        ..Program::default()
    }
}

fn with_input_from(mut operator: OperatorNode, by: u32) -> OperatorNode {
    let operator_id = OperatorId(by);
    operator.inputs[0].sources = vec![OutPortId {
        operator: operator_id,
        port: PortIndex(0),
    }];
    operator
}

fn param(name: &str, value: ParamValue) -> Param {
    Param {
        name: name.into(),
        value,
        pos: Pos::default(),
    }
}

/// Nanoseconds of a run of the program in which `count` tuples reach the sink.
///
/// # Panics
/// If the run fails or another number of tuples arrives; the bench is broken then.
pub fn run_ns(program: &Program, entries: &[OperatorEntry], count: u64) -> f64 {
    let registry = [entries, ENTRIES].concat();
    let mut jit = Jit::new(&[], &[], jit::JitOptions::default()).expect("a known machine");
    let threads = planner::pe_threads(program, &[]);
    let pe = Pe::wire(program, &threads, &registry, &mut jit, PeOptions::default());
    let pe = pe.unwrap_or_else(|report| panic!("{report}"));
    time_ns(|| {
        let ended = pe.start().and_then(RunningPe::join);
        let counters = ended.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(counters[2].processed, [count]);
    })
}
