//! Parallel regions: `@parallel` before an invocation makes a copy of it for each channel.
//!
//! ```text
//!                     +-> X[0] --+
//!   A --> splitter ---+-> X[1] --+--> readers of X
//!                     +-> X[2] --+
//! ```
//! Each input port gets a splitter of its own, which the library has
//! ([`graph::OperatorRole::Splitter`]). The streams of the channels come together where the stream
//! of the region is read. A region may stand in another one; it is split and brought together in
//! each channel of that.

use std::sync::Arc;

use graph::{
    Expr, ExprKind, InPort, OperatorModel, OperatorNode, OperatorRole, OutPort, Param, ParamValue,
    PortIndex,
};
use planner::SPLITTER;
use syntax::ast::Invocation;
use tuple::{Type, Value};

use super::expander::Expander;
use super::invocation::InvocationPlace;
use crate::annotation::{
    self, AnnotatedPorts, AnnotationTarget, ChannelDistribution, ParallelRegion,
};
use crate::instance::{InPortSite, InputFeed, OperatorSite, OutPortSite, OutputStream};
use crate::names::{Definition, StreamId};

impl<'w> Expander<'_, 'w> {
    /// The parallel region that an invocation is.
    pub(super) fn parallel_region(
        &self,
        ast: &'w Invocation,
        found: Option<Definition<'w>>,
        inputs: &[InputFeed],
        output_streams: &[OutputStream],
        place: &InvocationPlace<'_, 'w>,
    ) -> Option<ParallelRegion> {
        let target = match found? {
            Definition::Operator(model) => AnnotationTarget::Primitive(model),
            Definition::Composite(..) => AnnotationTarget::Composite,
            _ => return None,
        };
        let ports = AnnotatedPorts::from_invocation(ast, inputs, output_streams);
        annotation::parallel_region(self.session, place.scope, &ast.annotations, target, &ports)
    }

    /// Expands an invocation once for each channel.
    pub(super) fn expand_channels(
        &mut self,
        ast: &'w Invocation,
        found: Option<Definition<'w>>,
        (inputs, output_streams): (Vec<InputFeed>, Vec<OutputStream>),
        place: &InvocationPlace<'_, 'w>,
        region: &ParallelRegion,
    ) {
        if !self.has_room_for_channels(region.width, ast.head) {
            return;
        }
        let distributed = region.distributions.iter().zip(inputs);
        let feeds: Vec<_> = distributed
            .enumerate()
            .map(|(port, (distribution, feed))| {
                self.split_input(feed, distribution, region.width, (place, port))
            })
            .collect();
        let mut parts = vec![Vec::new(); output_streams.len()];
        for channel in 0..region.width {
            let inputs = feeds.iter().map(|ports| ports[channel as usize].clone());
            let outputs = output_streams
                .iter()
                .zip(&mut parts)
                .map(|(output, parts)| {
                    let stream = self.new_stream();
                    parts.push(stream);
                    OutputStream {
                        stream,
                        ..output.clone()
                    }
                });
            let ports = (inputs.collect(), outputs.collect());
            let place = InvocationPlace {
                path: format!("{}[{channel}]", place.path).into(),
                ..*place
            };
            self.channel.channels.push(channel as i32);
            self.channel.widths.push(region.width as i32);
            self.expand_channel(ast, found, ports, &place);
            self.channel.channels.pop();
            self.channel.widths.pop();
        }
        for (output_streams, parts) in output_streams.iter().zip(parts) {
            self.merged_streams.insert(output_streams.stream, parts);
        }
    }

    /// Makes the splitter of an input port; answers the feed of the port in each channel.
    fn split_input(
        &mut self,
        feed: InputFeed,
        share: &ChannelDistribution,
        width: u32,
        (place, port): (&InvocationPlace<'_, 'w>, usize),
    ) -> Vec<InputFeed> {
        let mut models = self.session.symbols.models().iter();
        let splitter = models.find(|model| model.role == OperatorRole::Splitter);
        let Some(splitter) = splitter.filter(|_| width > 1 && !feed.streams.is_empty()) else {
            return vec![feed; width as usize];
        };
        let outputs: Vec<StreamId> = (0..width).map(|_| self.new_stream()).collect();
        let name = format!("{}.split{port}", place.path);
        self.add_splitter(splitter, name.into(), &feed, share, &outputs);
        let mut channels = Vec::with_capacity(outputs.len());
        for stream in outputs {
            channels.push(InputFeed {
                streams: vec![(stream, feed.span)],
                split_from: feed.ids_and_origins(),
                schema: feed.schema.clone(),
                span: feed.span,
            });
        }
        channels
    }

    /// Has splitters drop the window markers that come out of another parallel region: those of its
    /// channels mean nothing together.
    pub fn drop_markers(&mut self) {
        let merged = &self.merged_streams;
        for (operator, site) in self.operators.iter_mut().zip(&self.sites) {
            let mut streams = site.inputs.iter().flat_map(|input| &input.streams);
            if site.model.role == OperatorRole::Splitter
                && streams.any(|(s, _)| merged.contains_key(s))
            {
                operator
                    .params
                    .push(flag_param("dropMarkers", operator.pos));
            }
        }
    }

    /// Adds the operator that deals a port's tuples out.
    fn add_splitter(
        &mut self,
        model: &'static OperatorModel,
        name: Arc<str>,
        feed: &InputFeed,
        share: &ChannelDistribution,
        outputs: &[StreamId],
    ) {
        let schema = feed.schema.clone().unwrap_or_default();
        let pos = self.session.pos(feed.span);
        let out = |channel: usize| OutPort::new(format!("{name}[{channel}]"), schema.clone());
        let mut operator = OperatorNode {
            inputs: vec![InPort::new(name.clone(), schema.clone(), Vec::new())],
            outputs: (0..outputs.len()).map(out).collect(),
            params: splitter_param(share, &schema, pos).into_iter().collect(),
            annotations: vec![(SPLITTER.into(), Vec::new())],
            ..OperatorNode::new(name, format!("{}::{}", model.namespace, model.name), pos)
        };
        model.set_threads_and_timers(&mut operator);
        let site = OperatorSite {
            model,
            head: feed.span,
            config: Vec::new(),
            inputs: vec![InPortSite {
                model: &model.inputs[0],
                span: feed.span,
                streams: feed.streams.clone(),
                window: None,
            }],
            outputs: outputs
                .iter()
                .map(|&stream| OutPortSite {
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
fn flag_param(name: &str, pos: graph::Pos) -> Param {
    let kind = ExprKind::Const(Value::Boolean(true));
    let ty = Type::Boolean;
    Param {
        name: name.into(),
        value: ParamValue::Exprs(vec![Expr { kind, ty, pos }]),
        pos,
    }
}

/// Parameters that tell a splitter how to distribute.
fn splitter_param(
    share: &ChannelDistribution,
    schema: &Arc<tuple::TupleType>,
    pos: graph::Pos,
) -> Option<Param> {
    let (name, exprs) = match share {
        ChannelDistribution::RoundRobin => return None,
        ChannelDistribution::Broadcast => return Some(flag_param("broadcast", pos)),
        ChannelDistribution::Partitioned(attributes) => {
            let attribute = |&at: &usize| Expr {
                kind: ExprKind::Attribute {
                    port: PortIndex(0),
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
