//! What a backend is told about fused operators.

use std::sync::Arc;

use graph::{Body, Expr, Fault, Program, Services, State};
use runtime::abi::interpreted::Interpreted;
use runtime::abi::{Act, Backend, Code, FusedView, Project, Scope, Test};
use runtime::{Options, Pe};
use testkit::{Invoke, program, x};
use tuple::{Layout, Punctuation, Type, Value};

/// The interpreter, taking notes: a line for each view, `B>[F.0] F>- ...`.
struct Notes {
    interpreted: Interpreted,
    views: Vec<String>,
}

impl Backend for Notes {
    fn projection(
        &mut self,
        scope: &Scope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn Project>, Fault> {
        self.interpreted.projection(scope, exprs, layout)
    }

    fn predicate(&mut self, scope: &Scope<'_>, expr: &Expr) -> Result<Box<dyn Test>, Fault> {
        self.interpreted.predicate(scope, expr)
    }

    fn action(&mut self, scope: &Scope<'_>, body: &Body) -> Result<Box<dyn Act>, Fault> {
        self.interpreted.action(scope, body)
    }

    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        self.interpreted.evaluate(expr, state, services)
    }

    fn fused(&mut self, view: &FusedView<'_>) -> Result<Vec<Code>, Fault> {
        let name = |member: u32| &*view.members[member as usize].scope.operator.name;
        let members = (0..).zip(&view.members).map(|(at, member)| {
            let ports = member.links.iter().map(|links| match links {
                None => "-".to_owned(),
                Some(links) => {
                    assert!(links.links.iter().all(|link| link.member > at));
                    let links = links.links.iter();
                    let links = links.map(|l| format!("{}.{}", name(l.member), l.port));
                    format!("[{}]", links.collect::<Vec<_>>().join(" "))
                }
            });
            format!("{}>{}", name(at), ports.collect::<Vec<_>>().join(","))
        });
        self.views.push(members.collect::<Vec<_>>().join(" "));
        self.interpreted.fused(view)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.interpreted.finish()
    }
}

fn views(program: &Program) -> Vec<String> {
    let mut notes = Notes {
        interpreted: Interpreted::new(&[], &[]),
        views: Vec::new(),
    };
    let registry = thalweg_toolkit::operators();
    Pe::wire(program, registry, &mut notes, Options::default()).unwrap_or_else(|r| panic!("{r}"));
    notes.views.sort();
    notes.views
}

const N: [(&str, Type); 1] = [("n", Type::Int64)];

fn n() -> Expr {
    x::attribute(0, 0, Type::Int64)
}

fn source(name: &str) -> Invoke {
    Invoke::new("spl.utility::Beacon", name).output(name, N)
}

fn functor(name: &str, feeder: u32) -> Invoke {
    Invoke::new("spl.relational::Functor", name)
        .input("In", N)
        .fed(0, feeder, 0)
        .output(name, N)
        .assign([Some(n())])
}

#[test]
fn a_chain_of_one_thread_is_one_view_upstream_first() {
    let both = functor("Both", 0).output("Second", N).assign([Some(n())]);
    let program = program([
        source("B"),
        both,
        functor("X", 1),
        functor("Y", 2).fed(0, 1, 1),
    ]);
    let expected = "B>[Both.0] Both>[X.0 ],[Y.0] X>[Y.0] Y>[]".replace(" ]", "]");
    assert_eq!(views(&program), [expected]);
}

#[test]
fn shared_operators_and_loops_stand_alone() {
    let program = program([
        source("A"),
        source("B"),
        functor("Own", 0),
        functor("Shared", 2).fed(0, 1, 0),
        functor("Loop", 4),
    ]);
    assert_eq!(
        views(&program),
        ["A>[Own.0] Own>-", "B>-", "Loop>-", "Shared>[]"]
    );
}

#[test]
fn what_looks_back_or_catches_is_not_linked_to() {
    let program = program([
        source("B"),
        functor("Past", 0).history(1),
        functor("Catch", 1).catch("all"),
        functor("Plain", 2),
    ]);
    assert_eq!(views(&program), ["B>- Past>- Catch>[Plain.0] Plain>[]"]);
}

#[test]
fn who_may_end_its_port_early_submits_through_the_outlet() {
    let tuple = || x::submit(0, x::tuple(&["n"], vec![n()]));
    let custom = |name: &str, feeder: u32| {
        let custom = Invoke::new("spl.utility::Custom", name).input("In", N);
        custom.fed(0, feeder, 0).output(name, N)
    };
    let ends = |mark| x::body(&[], vec![tuple(), x::submit_mark(0, mark)]);
    let program = program([
        source("B"),
        custom("Early", 0).on_tuple(0, ends(Punctuation::Final)),
        custom("Window", 1).on_tuple(0, ends(Punctuation::Window)),
        custom("Last", 2)
            .on_tuple(0, x::body(&[], vec![tuple()]))
            .on_punct(0, x::body(&[], vec![x::submit_mark(0, Punctuation::Final)])),
        functor("F", 3),
    ]);
    assert_eq!(
        views(&program),
        ["B>[Early.0] Early>- Window>[Last.0] Last>[F.0] F>[]"]
    );
}
