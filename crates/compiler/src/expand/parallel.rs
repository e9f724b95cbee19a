//! Parallel regions: `@parallel` before an invocation makes a copy of it for each channel.
//!
//! ```text
//!                     +-> X[0] --+
//!   A --> splitter ---+-> X[1] --+--> whoever reads X
//!                     +-> X[2] --+
//! ```
//! Each input port gets a splitter of its own, which the library has ([`graph::Role::Splitter`]).
//! The streams of the channels come together where the stream of the region is read. A region may
//! stand in another one; it is split and brought together in each channel of that.

use std::sync::Arc;

use graph::{Expr, ExprKind, InPort, Operator, OperatorModel, OutPort, Param, ParamValue, Role};
use syntax::ast::Invocation;
use tuple::{Type, Value};

use super::invocation::Place;
use super::{Expander, Fed, Given, InSite, OutSite, Site};
use crate::annotation::{self, Ports, Region, Share, Target};
use crate::names::{Found, StreamId};
use crate::plan::SPLITTER;

impl<'w> Expander<'_, 'w> {
    /// The parallel region that an invocation is.
    pub(super) fn region(
        &self,
        ast: &'w Invocation,
        found: Option<Found<'w>>,
        inputs: &[Fed],
        given: &[Given],
        place: &Place<'_, 'w>,
    ) -> Option<Region> {
        let target = match found? {
            Found::Operator(model) => Target::Primitive(model),
            Found::Composite(..) => Target::Composite,
            _ => return None,
        };
        let ports = Ports::of_invocation(ast, inputs, given);
        annotation::region(self.session, place.scope, &ast.annotations, target, &ports)
    }

    /// Expands an invocation once for each channel.
    pub(super) fn channels(
        &mut self,
        ast: &'w Invocation,
        found: Option<Found<'w>>,
        (inputs, given): (Vec<Fed>, Vec<Given>),
        place: &Place<'_, 'w>,
        region: &Region,
    ) {
        let shares = region.shares.iter().zip(inputs);
        let dealt: Vec<_> = shares
            .enumerate()
            .map(|(port, (share, fed))| self.dealt(fed, share, region.width, (place, port)))
            .collect();
        let mut parts = vec![Vec::new(); given.len()];
        for channel in 0..region.width {
            let inputs = dealt.iter().map(|ports| ports[channel as usize].clone());
            let outputs = given.iter().zip(&mut parts).map(|(given, parts)| {
                let stream = self.new_stream();
                parts.push(stream);
                Given {
                    stream,
                    ..given.clone()
                }
            });
            let ports = (inputs.collect(), outputs.collect());
            let place = Place {
                path: format!("{}[{channel}]", place.path).into(),
                ..*place
            };
            self.channel.channels.push(channel as i32);
            self.channel.widths.push(region.width as i32);
            self.one(ast, found, ports, &place);
            self.channel.channels.pop();
            self.channel.widths.pop();
        }
        for (given, parts) in given.iter().zip(parts) {
            self.merged.insert(given.stream, parts);
        }
    }

    /// What feeds an input port in each channel.
    fn dealt(
        &mut self,
        fed: Fed,
        share: &Share,
        width: u32,
        (place, port): (&Place<'_, 'w>, usize),
    ) -> Vec<Fed> {
        let mut models = self.session.world.models().iter();
        let splitter = models.find(|model| model.role == Role::Splitter);
        let Some(splitter) = splitter.filter(|_| width > 1 && !fed.streams.is_empty()) else {
            return vec![fed; width as usize];
        };
        let outputs: Vec<StreamId> = (0..width).map(|_| self.new_stream()).collect();
        let name = format!("{}.split{port}", place.path);
        self.splitter(splitter, name.into(), &fed, share, &outputs);
        let mut channels = Vec::with_capacity(outputs.len());
        for stream in outputs {
            channels.push(Fed {
                streams: vec![(stream, fed.span)],
                shares: fed.meanings(),
                schema: fed.schema.clone(),
                span: fed.span,
            });
        }
        channels
    }

    /// Has splitters drop the window markers that come out of another parallel region: those of its
    /// channels mean nothing together.
    pub fn drop_markers(&mut self) {
        let merged = &self.merged;
        for (operator, site) in self.operators.iter_mut().zip(&self.sites) {
            let mut streams = site.inputs.iter().flat_map(|input| &input.streams);
            if site.model.role == Role::Splitter && streams.any(|(s, _)| merged.contains_key(s)) {
                operator.params.push(flag("dropMarkers", operator.pos));
            }
        }
    }

    /// Adds the operator that deals a port's tuples out.
    fn splitter(
        &mut self,
        model: &'static OperatorModel,
        name: Arc<str>,
        fed: &Fed,
        share: &Share,
        outputs: &[StreamId],
    ) {
        let schema = fed.schema.clone().unwrap_or_default();
        let pos = self.session.pos(fed.span);
        let out = |channel: usize| OutPort {
            name: format!("{name}[{channel}]").into(),
            schema: schema.clone(),
            calls: Vec::new(),
            assign: Vec::new(),
        };
        let operator = Operator {
            kind: format!("{}::{}", model.namespace, model.name).into(),
            inputs: vec![InPort {
                name: name.clone(),
                schema: schema.clone(),
                sources: Vec::new(),
                window: None,
                history: 0,
                is_control: false,
                unmarked: Vec::new(),
            }],
            outputs: (0..outputs.len()).map(out).collect(),
            params: params(share, &schema, pos).into_iter().collect(),
            logic: graph::Logic::default(),
            config: Vec::new(),
            annotations: vec![(SPLITTER.into(), Vec::new())],
            own_thread: model.own_thread,
            is_timed: false,
            clock: None,
            pos,
            name,
        };
        let site = Site {
            model,
            head: fed.span,
            config: Vec::new(),
            inputs: vec![InSite {
                model: &model.inputs[0],
                span: fed.span,
                streams: fed.streams.clone(),
                window: None,
            }],
            outputs: outputs
                .iter()
                .map(|&stream| OutSite {
                    model: &model.outputs[0],
                    stream,
                })
                .collect(),
            subscription: None,
            filter: None,
        };
        self.push(operator, site);
    }
}

/// A parameter that is true.
fn flag(name: &str, pos: graph::Pos) -> Param {
    let kind = ExprKind::Const(Value::Boolean(true));
    let ty = Type::Boolean;
    Param {
        name: name.into(),
        value: ParamValue::Exprs(vec![Expr { kind, ty, pos }]),
        pos,
    }
}

/// How a splitter is told to share.
fn params(share: &Share, schema: &Arc<tuple::TupleType>, pos: graph::Pos) -> Option<Param> {
    let (name, exprs) = match share {
        Share::InTurn => return None,
        Share::Everything => return Some(flag("broadcast", pos)),
        Share::By(attributes) => {
            let attribute = |&at: &usize| Expr {
                kind: ExprKind::Attribute {
                    port: 0,
                    history: 0,
                    index: at as u32,
                },
                ty: schema.attributes[at].ty.clone(),
                pos,
            };
            ("key", attributes.iter().map(attribute).collect())
        }
    };
    Some(Param {
        name: name.into(),
        value: ParamValue::Exprs(exprs),
        pos,
    })
}
