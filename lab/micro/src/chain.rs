//! A fused chain of four operators, compiled.
//!
//! ```text
//!   Beacon --> Functor (one attribute changed) --> Filter (every other) --> Custom (counts)
//! ```

use std::sync::Arc;

use eval::{InputTuples, OperatorEventTime, State};
use graph::{Body, Expr, ExprKind, PortIndex, StateId, StateVar, Stmt};
use jit::{Jit, JitOptions};
use runtime::LoweredLogic;
use runtime::abi::{
    Backend, ChainEdge, ChainMember, ChainOutput, CodeContext, CodeScope, Counter, MemberEdge,
    RunBody, StateCell, ThreadChains,
};
use tuple::{Layout, TupleType, Type, Value};

use crate::bare_operator::{CountingOutlet, graph_operator};
use crate::builders::*;

static STOP: u8 = 0;

/// The operators of a chain with their state, logic and ports.
pub struct FusedChain {
    operators: Vec<ChainOperator>,
}

/// An operator of a chain: its logic, the schemas of its input ports and of its output ports.
type ChainOperator = (LoweredLogic, Vec<Arc<TupleType>>, Vec<Arc<TupleType>>);

/// The schema of the chain: a number and a payload of int64, or of 4 bytes the number alone.
fn chain_schema(size: usize) -> Arc<TupleType> {
    let number = if size == 4 { Type::Int32 } else { Type::Int64 };
    let payload = (1..size / 8).map(|at| (format!("p{at}"), Type::Int64));
    Arc::new(TupleType::new(
        [("n".to_owned(), number)].into_iter().chain(payload),
    ))
}

impl FusedChain {
    /// A chain whose tuples have `size` bytes: 4, or a multiple of 8.
    pub fn new(size: usize) -> FusedChain {
        let schema = chain_schema(size);
        let ty = Type::Tuple(schema.clone());
        let number = schema.attributes[0].ty.clone();
        let one = Expr::constant(Value::Int64(1), Type::Int64).cast(number.clone());
        let payload = |of: &dyn Fn(usize) -> Expr| (1..schema.attributes.len()).map(of).collect();
        let new_tuple =
            |first: Expr, rest: Vec<Expr>| tuple(&ty, [first].into_iter().chain(rest).collect());
        let beacon = beacon_logic(new_tuple(
            local(0, Type::Int64).cast(number.clone()),
            payload(&|at| int(at as i64)),
        ));
        let forwarded = payload(&|at| attr(at as u32, Type::Int64));
        let functor = body(
            [],
            vec![submit(
                PortIndex(0),
                new_tuple(binary(Add, attr(0, number.clone()), one.clone()), forwarded),
            )],
        );
        let even = binary(BitAnd, attr(0, number.clone()), one);
        let zero = Expr::constant(Value::Int64(0), Type::Int64).cast(number);
        let whole = Expr::new(
            ExprKind::Input {
                port: PortIndex(0),
                history: 0,
            },
            ty,
        );
        let filter = body(
            [],
            vec![Stmt::If(
                binary(Eq, even, zero),
                vec![submit(PortIndex(0), whole)],
                vec![],
            )],
        );
        let custom = body(
            [],
            vec![assign_op(Add, state_place(0, Type::Int64), int(1))],
        );
        let port = || vec![schema.clone()];
        FusedChain {
            operators: vec![
                (beacon, vec![], port()),
                (on_tuple_logic(functor, vec![]), port(), port()),
                (on_tuple_logic(filter, vec![]), port(), port()),
                (
                    on_tuple_logic(custom, vec![var("count", Type::Int64)]),
                    port(),
                    vec![],
                ),
            ],
        }
    }
}

/// The logic of the source: submits as many tuples as its state variable says, or until a shutdown.
fn beacon_logic(tuple: Expr) -> LoweredLogic {
    let i = || local(0, Type::Int64);
    let is_running = Expr::new(ExprKind::IsShutdown, Type::Boolean);
    let is_running = Expr::new(
        ExprKind::Unary(graph::UnaryOp::Not, is_running.into()),
        Type::Boolean,
    );
    let more = binary(Lt, i(), state(0, Type::Int64));
    let more = Expr::new(ExprKind::And(more.into(), is_running.into()), Type::Boolean);
    let turn = vec![
        submit(PortIndex(0), tuple),
        assign_op(Add, local_place(0, Type::Int64), int(1)),
    ];
    LoweredLogic {
        state: vec![var("turns", Type::Int64)],
        on_process: Some(body(
            [Type::Int64],
            vec![let_(0, int(0)), Stmt::While(more, turn)],
        )),
        ..LoweredLogic::default()
    }
}

fn on_tuple_logic(body: Body, state: Vec<StateVar>) -> LoweredLogic {
    LoweredLogic {
        state,
        on_tuple: vec![body],
        on_punct: vec![None],
        ..LoweredLogic::default()
    }
}

/// A compiled chain with its state.
pub struct CompiledChain {
    source: Box<dyn RunBody>,
    states: Vec<StateCell>,
    /// Counters of the edges, which the compiled code refers to.
    _counters: Vec<Counter>,
}

impl CompiledChain {
    /// Compiles a chain whose source submits `turns` tuples a run.
    ///
    /// # Panics
    /// If the backend refuses the chain; the bench is broken then.
    pub fn new(chain: &FusedChain, turns: i64) -> CompiledChain {
        let count = chain.operators.len();
        let states: Vec<StateCell> = chain
            .operators
            .iter()
            .map(|(logic, ..)| StateCell::new(State::new(&logic.state)))
            .collect();
        let event_time = OperatorEventTime::default();
        let counters: Vec<Counter> = (0..2 * count).map(|_| Counter::default()).collect();
        let operators: Vec<_> = chain
            .operators
            .iter()
            .map(|(_, inputs, outputs)| graph_operator(inputs, outputs))
            .collect();
        let member = |at: usize| {
            let (logic, inputs, outputs) = &chain.operators[at];
            let next = ChainEdge::Member(MemberEdge {
                member: at as u32 + 1,
                port: PortIndex(0),
                processed: &counters[count + at],
            });
            let chain_output = ChainOutput {
                submitted: &counters[at],
                tap: None,
                edges: vec![next],
                window_counters: None,
            };
            ChainMember {
                scope: CodeScope {
                    operator: &operators[at],
                    index: at as u32,
                    inputs: inputs.iter().map(Layout::new).collect(),
                    outputs: outputs.iter().map(Layout::new).collect(),
                    state: &logic.state,
                    tables: &[],
                },
                logic,
                state: states[at].address(),
                event_time: &event_time,
                chain_outputs: if at + 1 < count {
                    vec![Some(chain_output)]
                } else {
                    vec![]
                },
                batch_forms: vec![],
            }
        };
        let chains = ThreadChains {
            members: (0..count).map(member).collect(),
            stop_flag: &raw const STOP,
            running: None,
        };
        let options = JitOptions {
            verify: false,
            ..JitOptions::default()
        };
        let mut jit = Jit::new(&[], &[], options).expect("a known machine");
        let mut codes = jit
            .compile_chains(&chains)
            .unwrap_or_else(|fault| panic!("{fault}"));
        jit.finish().unwrap_or_else(|fault| panic!("{fault}"));
        let source = codes[0].on_process.take().expect("a source");
        let mut states = states;
        states[0].borrow().set(StateId(0), Value::Int64(turns));
        CompiledChain {
            source,
            states,
            _counters: counters,
        }
    }

    /// Runs the source once.
    ///
    /// # Panics
    /// On a fault; the bench is broken then.
    pub fn run(&mut self) {
        let state = self.states[0].borrow();
        let mut outlet = CountingOutlet::default();
        let mut context = CodeContext {
            inputs: InputTuples::NONE,
            state,
            outlet: &mut outlet,
            punctuation: None,
        };
        let result = self.source.run_body(&mut context);
        result.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// The number of tuples that the last operator has processed in all runs.
    ///
    /// # Panics
    /// If the counter is no int64; the bench is broken then.
    pub fn counted_tuples(&mut self) -> i64 {
        match self.states[3].borrow().get(StateId(0)) {
            Value::Int64(count) => count,
            other => panic!("{other:?} is no count"),
        }
    }
}
