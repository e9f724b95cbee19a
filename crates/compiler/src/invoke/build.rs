//! Builds the operator of an invocation from its clauses.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use graph::{InPort, InPortModel, OperatorModel, OperatorNode};
use syntax::ast::Invocation;

use super::{logic, output, params, ports, tuple_room, verify, window};
use crate::instance::{
    InPortSite, InheritedClauses, InputFeed, InvocationContext, OperatorSite, OutPortSite,
    OutputStream, input_names,
};
use crate::names::{ChannelPosition, OperatorScope, Scope, ScopeLevel};
use crate::{Session, annotation, config};

/// An invocation that is to become an operator.
pub(crate) struct InvocationRequest<'a, 'w> {
    /// Invocation in the syntax tree.
    pub ast: &'w Invocation,
    /// The operator that it names.
    pub model: &'static OperatorModel,
    /// Instance path of the operator.
    pub path: Arc<str>,
    /// Streams that feed the input ports.
    pub inputs: Vec<InputFeed>,
    /// Streams that leave the output ports.
    pub outputs: Vec<OutputStream>,
    /// The composite around it.
    pub scope: &'a Scope<'w>,
    /// Config and annotations of the composites around it.
    pub inherited: &'a InheritedClauses,
    /// Position among the channels of parallel regions.
    pub channel: &'a ChannelPosition,
}

/// Makes the operator of an invocation.
pub(crate) fn build_operator<'w>(
    session: &Session<'w>,
    request: InvocationRequest<'_, 'w>,
) -> (OperatorNode, OperatorSite) {
    let errors = session.diagnostics.error_count();
    let InvocationRequest {
        ast, model, scope, ..
    } = request;
    let (inputs, has_inputs) = ports::inputs(session, ast, model);
    let (outputs, has_outputs) = ports::outputs(session, ast, model);
    let operator_scope = Rc::new(operator_scope(&request, &inputs));
    ports::check_names(session, ast);
    let invocation = InvocationContext {
        session,
        ast,
        model,
        scope: scope.enter(ScopeLevel::Operator(operator_scope.clone())),
        operator_scope,
        inputs,
        outputs,
        are_ports_matched: has_inputs && has_outputs,
        filter_text: OnceCell::new(),
    };
    let (operator, site) = invocation.operator(&request);
    tuple_room::check_room(&invocation, &operator);
    // A parameter that is broken elsewhere is left out without a report here.
    let has_its_params = operator.params.len() == ast.params.len();
    if session.diagnostics.error_count() == errors && has_its_params && invocation.are_types_known()
    {
        verify::check_with_model(&invocation, &operator);
    }
    (operator, site)
}

impl<'w> InvocationContext<'_, 'w> {
    /// Whether the types of all ports are known. Those of a composite that nothing invokes may not
    /// be.
    fn are_types_known(&self) -> bool {
        let inputs = self.operator_scope.inputs.iter().map(|port| &port.schema);
        let mut all = inputs.chain(self.operator_scope.outputs.iter().map(|port| &port.schema));
        all.all(Option::is_some)
    }

    fn operator(&self, request: &InvocationRequest<'_, 'w>) -> (OperatorNode, OperatorSite) {
        let (session, ast) = (self.session, self.ast);
        // With wrong ports, unknown names follow: they are not reported too.
        let mute_guard = session.diagnostics.mute(!self.are_ports_matched);
        let logic = logic::logic(self);
        let params = params::params(self);
        let windows = window::windows(self, &params);
        let outputs = output::outputs(self);
        drop(mute_guard);
        let config = config::operator_config(self, request.inherited);
        let config_places = config.iter().map(|entry| entry.span).collect();
        let config = config.into_iter().map(|entry| entry.entry).collect();
        let mut annotations = annotation::of_operator(self, request.inherited);
        let place = request.channel.properties();
        if !place.is_empty() {
            let keys = place.into_iter().map(|(key, value)| {
                let value = tuple::Value::RString(tuple::RString(value.into_bytes()));
                (Arc::from(key), value)
            });
            annotations.push(("channel".into(), keys.collect()));
        }
        if self.model.role == graph::OperatorRole::Threading {
            annotations.push((planner::SPLITTER.into(), Vec::new()));
        }
        let window_places = windows
            .iter()
            .map(|w| w.as_ref().map(|(_, span)| *span))
            .collect();
        let inputs = windows.into_iter().map(|w| w.map(|(window, _)| window));
        let inputs = inputs
            .enumerate()
            .map(|(at, window)| self.in_port(at, window))
            .collect();
        let mut operator = OperatorNode {
            inputs,
            outputs,
            params,
            logic,
            config,
            annotations,
            ..OperatorNode::new(
                request.path.clone(),
                format!("{}::{}", self.model.namespace, self.model.name),
                session.pos(ast.head),
            )
        };
        self.model.set_threads_and_timers(&mut operator);
        (operator, self.site(request, window_places, config_places))
    }

    fn in_port(&self, at: usize, window: Option<graph::Window>) -> InPort {
        let port = &self.operator_scope.inputs[at];
        InPort {
            window,
            history: self.operator_scope.history(at),
            is_control: self.inputs[at].is_control,
            ..InPort::new(
                port.name.clone(),
                port.schema.clone().unwrap_or_default(),
                Vec::new(),
            )
        }
    }

    fn site(
        &self,
        request: &InvocationRequest<'_, 'w>,
        windows: Vec<Option<syntax::Span>>,
        config: Vec<syntax::Span>,
    ) -> OperatorSite {
        let inputs = request.inputs.iter().zip(&self.inputs).zip(windows);
        let outputs = request.outputs.iter().zip(&self.outputs);
        let inputs = inputs.map(|((feed, model), window)| InPortSite {
            model,
            span: feed.span,
            streams: feed.streams.clone(),
            window,
        });
        let outputs = outputs.map(|(output, model)| OutPortSite {
            model,
            stream: output.stream,
        });
        OperatorSite {
            model: self.model,
            head: self.ast.head,
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            subscription: params::subscription(self),
            filter: params::filter(self),
            config,
        }
    }

    /// The scope of expressions that see the first output port as if it were an input port.
    pub(super) fn scope_of_output(&self, outer: &Scope<'w>) -> Scope<'w> {
        let operator_scope = &self.operator_scope;
        let inputs =
            operator_scope
                .outputs
                .iter()
                .take(1)
                .map(|port| crate::names::ScopeInputPort {
                    name: port.names.first().cloned().unwrap_or_default(),
                    names: port.names.clone(),
                    streams: vec![port.stream],
                    schema: port.schema.clone(),
                    mutable: false,
                    span: self.ast.head,
                    alias: port.alias.clone(),
                });
        let (name, logical) = (
            operator_scope.name.clone(),
            operator_scope.logical_name.clone(),
        );
        let operator_scope = OperatorScope::new(
            name,
            logical,
            inputs.collect(),
            Vec::new(),
            operator_scope.channel.clone(),
        );
        outer.enter(ScopeLevel::Operator(Rc::new(operator_scope)))
    }
}

/// The ports as the invocation's expressions see them.
fn operator_scope(
    request: &InvocationRequest<'_, '_>,
    models: &[&'static InPortModel],
) -> OperatorScope {
    let inputs = request.ast.inputs.iter().zip(&request.inputs).zip(models);
    let names = input_names(request.ast);
    let inputs = inputs.zip(names).map(|(((port, feed), model), names)| {
        let name = port.alias.iter().chain(&port.streams).next();
        crate::names::ScopeInputPort {
            name: name.map(|name| name.text.clone()).unwrap_or_default(),
            names,
            streams: feed.ids_and_origins(),
            schema: feed.schema.clone(),
            mutable: model.mutable,
            span: port.span,
            alias: port.alias.clone(),
        }
    });
    let outputs = request.ast.outputs.iter().zip(&request.outputs);
    let outputs = outputs.map(|(port, output)| crate::names::ScopeOutputPort {
        names: std::iter::once(&port.name)
            .chain(&port.alias)
            .map(|name| name.text.clone())
            .collect(),
        alias: port.alias.clone(),
        stream: output.stream,
        schema: output.schema.clone(),
    });
    let path = &request.path;
    let (inputs, outputs) = (inputs.collect(), outputs.collect());
    let channel = request.channel.clone();
    OperatorScope::new(
        path.clone(),
        without_channels(path),
        inputs,
        outputs,
        channel,
    )
}

/// An instance path without channels: `Inner[1].Filtered[0]` is `Inner.Filtered`.
pub fn without_channels(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    let mut is_inside = false;
    for c in path.chars() {
        is_inside |= c == '[';
        if !is_inside {
            name.push(c);
        }
        is_inside &= c != ']';
    }
    name
}
