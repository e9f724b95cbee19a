//! Chains of lowered operators that a backend is given.

use std::sync::Arc;

use eval::{Fault, Services, State};
use graph::{Body, Expr, PortIndex, Program};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::abi::{
    Backend, ChainEdge, CodeScope, OperatorCode, ProjectTuple, RunBody, TestPredicate, ThreadChains,
};
use runtime::{Pe, PeOptions};
use testkit::{OperatorBuilder, build_program, exprs};
use tuple::{Layout, Punctuation, Type, Value};

/// The interpreter, taking notes: a line for each thread, `B>[F.0] F>- ...`.
struct Notes {
    interpreted: InterpreterBackend,
    chains: Vec<String>,
}

impl Backend for Notes {
    fn projection(
        &mut self,
        scope: &CodeScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault> {
        self.interpreted.projection(scope, exprs, layout)
    }

    fn predicate(
        &mut self,
        scope: &CodeScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestPredicate>, Fault> {
        self.interpreted.predicate(scope, expr)
    }

    fn body(&mut self, scope: &CodeScope<'_>, body: &Body) -> Result<Box<dyn RunBody>, Fault> {
        self.interpreted.body(scope, body)
    }

    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        self.interpreted.evaluate(expr, state, services)
    }

    fn compile_chains(&mut self, chains: &ThreadChains<'_>) -> Result<Vec<OperatorCode>, Fault> {
        let name = |member: u32| &*chains.members[member as usize].scope.operator.name;
        let members = (0..).zip(&chains.members).map(|(at, member)| {
            let ports = member.chain_outputs.iter().map(|output| match output {
                None => "-".to_owned(),
                Some(output) => {
                    let edges = output.edges.iter().map(|edge| match edge {
                        ChainEdge::Member(edge) => {
                            assert!(edge.member > at);
                            format!("{}.{}", name(edge.member), edge.port)
                        }
                        ChainEdge::Frames(_) => "frames".to_owned(),
                        ChainEdge::Outlet => "outlet".to_owned(),
                    });
                    format!("[{}]", edges.collect::<Vec<_>>().join(" "))
                }
            });
            format!("{}>{}", name(at), ports.collect::<Vec<_>>().join(","))
        });
        self.chains.push(members.collect::<Vec<_>>().join(" "));
        self.interpreted.compile_chains(chains)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.interpreted.finish()
    }
}

fn chains(program: &Program) -> Vec<String> {
    let mut notes = Notes {
        interpreted: InterpreterBackend::new(&[], &[]),
        chains: Vec::new(),
    };
    let registry = thalweg_toolkit::operators();
    let (program, threads) = &testkit::planned(program, registry, &[]);
    Pe::wire(program, threads, registry, &mut notes, PeOptions::default())
        .unwrap_or_else(|r| panic!("{r}"));
    notes.chains.sort();
    notes.chains
}

const N: [(&str, Type); 1] = [("n", Type::Int64)];

fn n() -> Expr {
    exprs::attribute(PortIndex(0), 0, Type::Int64)
}

fn source(name: &str) -> OperatorBuilder {
    OperatorBuilder::new("spl.utility::Beacon", name).output(name, N)
}

fn functor(name: &str, feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("spl.relational::Functor", name)
        .input("In", N)
        .connect(0, feeder, 0)
        .output(name, N)
        .assign([Some(n())])
}

#[test]
fn the_operators_of_one_thread_come_upstream_first() {
    let both = functor("Both", 0).output("Second", N).assign([Some(n())]);
    let program = build_program([
        source("B"),
        both,
        functor("X", 1),
        functor("Y", 2).connect(0, 1, 1),
    ]);
    let expected = "B>[Both.0] Both>[X.0 ],[Y.0] X>[Y.0] Y>[]".replace(" ]", "]");
    assert_eq!(chains(&program), [expected]);
}

#[test]
fn shared_operators_and_loops_stand_alone() {
    let program = build_program([
        source("A"),
        source("B"),
        functor("Own", 0),
        functor("Shared", 2).connect(0, 1, 0),
        functor("Loop", 4),
    ]);
    assert_eq!(
        chains(&program),
        ["A>[Own.0] Own>-", "B>-", "Loop>-", "Shared>[]"]
    );
}

#[test]
fn what_looks_back_or_catches_is_in_no_chain() {
    let program = build_program([
        source("B"),
        functor("Past", 0).history(1),
        functor("Catch", 1).catch("all"),
        functor("Plain", 2),
    ]);
    assert_eq!(chains(&program), ["B>- Past>- Catch>[Plain.0] Plain>[]"]);
}

#[test]
fn who_may_end_its_port_early_submits_through_the_outlet() {
    let tuple = || exprs::submit(PortIndex(0), exprs::tuple(&["n"], vec![n()]));
    let custom = |name: &str, feeder: u32| {
        let custom = OperatorBuilder::new("spl.utility::Custom", name).input("In", N);
        custom.connect(0, feeder, 0).output(name, N)
    };
    let ends = |mark| exprs::body(&[], vec![tuple(), exprs::submit_mark(PortIndex(0), mark)]);
    let program = build_program([
        source("B"),
        custom("Early", 0).on_tuple(0, ends(Punctuation::Final)),
        custom("Window", 1).on_tuple(0, ends(Punctuation::Window)),
        custom("Last", 2)
            .on_tuple(0, exprs::body(&[], vec![tuple()]))
            .on_punct(
                0,
                exprs::body(
                    &[],
                    vec![exprs::submit_mark(PortIndex(0), Punctuation::Final)],
                ),
            ),
        functor("F", 3),
    ]);
    assert_eq!(
        chains(&program),
        ["B>[Early.0] Early>- Window>[Last.0] Last>[F.0] F>[]"]
    );
}
