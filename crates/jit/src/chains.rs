//! Which bodies of a fused view are inlined where, and the code of its members.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use graph::StateId;
use runtime::Logic;
use runtime::abi::{Act, Code, FusedView, Member};

use crate::backend::{Jit, against};
use crate::error::Error;
use crate::lower::{self, Against, Branch, Granted, Link, Target, Uses};

/// How many nodes of other operators' bodies are inlined into one machine function at most.
const INLINED_NODES: u32 = 16_000;

/// The members of a view, ready to be inlined.
pub struct Chains<'v> {
    view: &'v FusedView<'v>,
    /// By member.
    inlinable: Vec<Rc<lower::Member>>,
    /// By member: some other member inlines it.
    is_inlined: Vec<bool>,
    stop: i64,
}

impl<'v> Chains<'v> {
    /// Of a view. Members are taken from the last to the first, for a member may only inline those
    /// behind it.
    pub fn of(view: &'v FusedView<'v>) -> Chains<'v> {
        let count = view.members.len();
        let mut chains = Chains {
            view,
            inlinable: Vec::with_capacity(count),
            is_inlined: vec![false; count],
            stop: view.stop.expose_provenance() as i64,
        };
        let mut behind: Vec<Option<Rc<lower::Member>>> = vec![None; count];
        let mut nodes = vec![0; count];
        for at in (0..count).rev() {
            let member = chains.inlinable(at, &behind, &mut nodes);
            behind[at] = Some(Rc::new(member));
        }
        chains.inlinable = behind.into_iter().flatten().collect();
        chains
    }

    fn inlinable(
        &mut self,
        at: usize,
        behind: &[Option<Rc<lower::Member>>],
        nodes: &mut [u32],
    ) -> lower::Member {
        let member = &self.view.members[at];
        let against = against(&member.scope);
        let on_tuple = member.logic.on_tuple.iter();
        let on_tuple = on_tuple.map(|body| Rc::new((body.clone(), Uses::of(body))));
        let on_tuple: Vec<_> = on_tuple.collect();
        let own: u32 = on_tuple.iter().map(|body| body.1.nodes).sum();
        let targets = self.targets(member, behind, nodes);
        let inlined = member
            .links
            .iter()
            .zip(&targets)
            .flat_map(|(links, target)| {
                let is_inlined = matches!(target, Target::Inlined(..));
                links
                    .iter()
                    .filter(move |_| is_inlined)
                    .flat_map(|links| &links.links)
            });
        nodes[at] = own + inlined.map(|link| nodes[link.member as usize]).sum::<u32>();
        lower::Member {
            index: member.scope.index,
            inputs: against.inputs,
            ports: against.ports,
            state_types: against.state_types,
            state: state_address(member),
            changed: changed_by(member.logic),
            on_tuple,
            targets,
        }
    }

    /// Where a member's tuples go: into the members behind it, unless they are too large together.
    fn targets(
        &mut self,
        member: &Member<'_>,
        behind: &[Option<Rc<lower::Member>>],
        nodes: &[u32],
    ) -> Vec<Target> {
        let ports = member.scope.outputs.iter().enumerate();
        ports
            .map(|(port, layout)| {
                let layout = Arc::clone(layout);
                if let Some(Some(frames)) = member.frames.get(port)
                    && layout.is_fixed
                {
                    return Target::Frame(layout, Granted::of(frames));
                }
                let Some(links) = member.links.get(port).and_then(Option::as_ref) else {
                    return Target::Outlet(layout);
                };
                let size: u32 = links
                    .links
                    .iter()
                    .map(|link| nodes[link.member as usize])
                    .sum();
                if size > INLINED_NODES {
                    return Target::Outlet(layout);
                }
                let each = links.links.iter().filter_map(|link| {
                    self.is_inlined[link.member as usize] = true;
                    Some(Link {
                        member: Rc::clone(behind[link.member as usize].as_ref()?),
                        port: link.port,
                        processed: link.processed.address().expose_provenance() as i64,
                    })
                });
                let links_lowered = each.collect();
                let submitted = links.submitted.address().expose_provenance() as i64;
                Target::Inlined(
                    layout,
                    Rc::new(Branch {
                        submitted,
                        links: links_lowered,
                    }),
                )
            })
            .collect()
    }

    /// The code of every member.
    pub fn code(&self, jit: &mut Jit) -> Result<Vec<Code>, Error> {
        (0..self.view.members.len())
            .map(|at| self.member(at, jit))
            .collect()
    }

    fn member(&self, at: usize, jit: &mut Jit) -> Result<Code, Error> {
        let member = &self.view.members[at];
        let name = &member.scope.operator.name;
        let alone = Against {
            state: Some(state_address(member)),
            stop: Some(self.stop),
            ..against(&member.scope)
        };
        let chained = Against {
            targets: self.inlinable[at].targets.clone(),
            ..alone.clone()
        };
        // What others inline is seldom called itself: its own code does not inline once more.
        let on_tuple_against = if self.is_inlined[at] {
            &alone
        } else {
            &chained
        };
        let mut code = Code::default();
        for (port, body) in member.logic.on_tuple.iter().enumerate() {
            let title = format!("{name}: onTuple of port {port}");
            let act = jit.action_against(&title, body, on_tuple_against)?;
            code.on_tuple.push(Some(act));
            let is_batched = member.batched.get(port).is_some_and(|&batched| batched);
            let title = format!("{name}: onTuple of port {port}, for a batch");
            let each = is_batched.then(|| jit.loop_against(&title, body, port, on_tuple_against));
            code.on_each.push(each.transpose()?);
        }
        for (port, body) in member.logic.on_punct.iter().enumerate() {
            let title = format!("{name}: onPunct of port {port}");
            let act = body
                .as_ref()
                .map(|body| jit.action_against(&title, body, &alone));
            code.on_punct.push(act.transpose()?);
        }
        if let Some(body) = &member.logic.on_process {
            let title = format!("{name}: onProcess");
            let act: Box<dyn Act> = jit.action_against(&title, body, &chained)?;
            code.on_process = Some(act);
        }
        Ok(code)
    }
}

/// The state variables that any body of an operator changes. A body that is inlined elsewhere may not
/// take what it does not change itself for the same from one tuple to the next: a marker between them,
/// which comes through the outlet, runs `onPunct`.
fn changed_by(logic: &Logic) -> HashSet<StateId> {
    let bodies = logic.on_tuple.iter();
    let bodies = bodies.chain(logic.on_punct.iter().flatten());
    let bodies = bodies.chain(&logic.on_process);
    bodies.flat_map(|body| Uses::of(body).changed).collect()
}

/// The addresses of a member's state, which stays where it is.
fn state_address(member: &Member<'_>) -> (i64, i64) {
    crate::code::state_parts(member.state)
}
