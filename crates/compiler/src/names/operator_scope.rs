//! Scope of an operator invocation: its ports and its state variables.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use graph::{HistoryDepths, StateId};
use syntax::Span;
use syntax::ast::Ident;
use tuple::{TupleType, Type};

use super::Enumerator;
use super::stream_id::StreamId;

/// An input port as its expressions see it.
#[derive(Clone, Debug)]
pub struct ScopeInputPort {
    /// Alias, or name of the first stream.
    pub name: Arc<str>,
    /// Every name that means the port: its alias, and the names of its streams that are no alias of
    /// another port. Ports that carry one stream have its name in common.
    pub names: Vec<Arc<str>>,
    /// The streams that it carries, for names written in another scope.
    pub streams: Vec<StreamId>,
    /// Tuple type of the port; `None` if it is broken, which was reported.
    pub schema: Option<Arc<TupleType>>,
    /// Whether logic may change its tuples.
    pub mutable: bool,
    /// Where it is declared.
    pub span: Span,
    /// Alias of the port, `as Alias`.
    pub alias: Option<Ident>,
}

/// An output port as `submit` and `outputPort` see it.
#[derive(Clone, Debug)]
pub struct ScopeOutputPort {
    /// Every name that means the port: stream name and alias.
    pub names: Vec<Arc<str>>,
    /// Alias of the port, `as Alias`.
    pub alias: Option<Ident>,
    /// The stream that leaves it.
    pub stream: StreamId,
    /// Tuple type of the port; `None` if it is broken, which was reported.
    pub schema: Option<Arc<TupleType>>,
}

/// Where an operator stands among the channels of parallel regions. Outermost region first.
#[derive(Clone, Debug, Default)]
pub struct ChannelPosition {
    /// Channel in each enclosing region.
    pub channels: Vec<i32>,
    /// Width of each enclosing region.
    pub widths: Vec<i32>,
}

impl ChannelPosition {
    /// Values for library functions that ask for the channel at run time, by name: numbers with
    /// commas between, the innermost region first. Empty outside of regions.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let (Some(local), Some(width)) = (self.channels.last(), self.widths.last()) else {
            return Vec::new();
        };
        let list = |all: &[i32]| {
            let texts: Vec<_> = all.iter().rev().map(i32::to_string).collect();
            texts.join(",")
        };
        vec![
            ("channel", self.global_channel().to_string()),
            ("localChannel", local.to_string()),
            ("allChannels", list(&self.channels)),
            (
                "maxChannels",
                self.widths.iter().product::<i32>().to_string(),
            ),
            ("localMaxChannels", width.to_string()),
            ("allMaxChannels", list(&self.widths)),
        ]
    }

    /// The channel counted through all regions, the outermost being the most significant.
    pub fn global_channel(&self) -> i32 {
        let nested = self.channels.iter().zip(&self.widths);
        nested.fold(0, |sum, (channel, width)| sum * width + channel)
    }
}

/// State variable of an operator's logic.
#[derive(Clone, Debug)]
pub struct StateEntry {
    /// Name of the variable.
    pub name: Arc<str>,
    /// Type of the variable; `None` if it is broken, which was reported.
    pub ty: Option<Type>,
    /// Whether it may be changed.
    pub mutable: bool,
    /// Where it is declared.
    pub span: Span,
}

/// The names of one operator invocation.
#[derive(Debug, Default)]
pub struct OperatorScope {
    /// Full name of the instance, with its channel: `Inner.Filtered[1]`.
    pub name: Arc<str>,
    /// The name without channels.
    pub logical_name: Arc<str>,
    /// Input ports, in their order.
    pub inputs: Vec<ScopeInputPort>,
    /// Output ports, in their order.
    pub outputs: Vec<ScopeOutputPort>,
    /// Position among the channels of parallel regions.
    pub channel: ChannelPosition,
    input_names: HashMap<Arc<str>, Vec<usize>>,
    output_names: HashMap<Arc<str>, Vec<usize>>,
    state: RefCell<Vec<StateEntry>>,
    /// Each name of a state variable with the first variable of that name.
    state_ids: RefCell<HashMap<Arc<str>, StateId>>,
    /// Enumerators of enum types that declarations of state variables contain.
    enumerators: RefCell<HashMap<Arc<str>, Enumerator>>,
    /// By input port: the earlier tuples that expressions read.
    history: Vec<RefCell<HistoryDepths>>,
}

impl OperatorScope {
    /// Scope of an operator with these ports.
    pub fn new(
        name: impl Into<Arc<str>>,
        logical_name: impl Into<Arc<str>>,
        inputs: Vec<ScopeInputPort>,
        outputs: Vec<ScopeOutputPort>,
        channel: ChannelPosition,
    ) -> OperatorScope {
        let history = inputs.iter().map(|_| RefCell::default()).collect();
        let (name, logical_name) = (name.into(), logical_name.into());
        OperatorScope {
            input_names: ports_by_name(inputs.iter().map(|port| &port.names)),
            output_names: ports_by_name(outputs.iter().map(|port| &port.names)),
            state_ids: RefCell::default(),
            name,
            logical_name,
            inputs,
            outputs,
            channel,
            state: RefCell::default(),
            enumerators: RefCell::default(),
            history,
        }
    }

    /// The earlier tuples of an input port that the expressions typed so far read.
    pub fn history(&self, port: usize) -> HistoryDepths {
        let depths = self.history.get(port).map(|depths| depths.borrow().clone());
        depths.unwrap_or_default()
    }

    /// Notes that an expression reads the tuple of a port that came `depth` tuples ago.
    pub(crate) fn note_history(&self, port: usize, depth: u32) {
        if let Some(depths) = self.history.get(port) {
            depths.borrow_mut().insert(depth);
        }
    }

    /// The input ports of a name: several if they carry one stream.
    pub fn inputs_named(&self, name: &str) -> Vec<usize> {
        self.input_names.get(name).cloned().unwrap_or_default()
    }

    /// The output port of a name.
    pub fn output(&self, name: &str) -> Option<usize> {
        self.output_names.get(name)?.first().copied()
    }

    /// The input ports that carry one of these streams.
    pub fn inputs_of(&self, streams: &[StreamId]) -> Vec<usize> {
        let carries = |port: &ScopeInputPort| port.streams.iter().any(|s| streams.contains(s));
        let ports = self.inputs.iter().enumerate();
        let found = ports.filter(|(_, port)| carries(port));
        found.map(|(at, _)| at).collect()
    }

    /// The output port of a stream.
    pub fn output_of(&self, streams: &[StreamId]) -> Option<usize> {
        self.outputs
            .iter()
            .position(|port| streams.contains(&port.stream))
    }

    /// The input ports that have an attribute, with its index there.
    pub fn attribute(&self, name: &str) -> Vec<(usize, usize)> {
        let ports = self.inputs.iter().enumerate();
        ports
            .filter_map(|(at, port)| Some((at, port.schema.as_ref()?.find(name)?.0)))
            .collect()
    }

    /// Whether something about the input ports is broken, so that unknown names are not reported.
    pub fn is_broken(&self) -> bool {
        self.inputs.iter().any(|port| port.schema.is_none())
    }

    pub(crate) fn add_state(&self, entry: StateEntry) -> StateId {
        let mut all = self.state.borrow_mut();
        let id = StateId(all.len() as u32);
        let mut ids = self.state_ids.borrow_mut();
        ids.entry(entry.name.clone()).or_insert(id);
        all.push(entry);
        id
    }

    pub(crate) fn state(&self, name: &str) -> Option<(StateId, StateEntry)> {
        let id = *self.state_ids.borrow().get(name)?;
        Some((id, self.state_entry(id)))
    }

    pub(crate) fn state_entry(&self, id: StateId) -> StateEntry {
        self.state.borrow()[id.0 as usize].clone()
    }

    /// Names of all state variables.
    pub fn state_names(&self) -> Vec<Arc<str>> {
        self.state
            .borrow()
            .iter()
            .map(|entry| entry.name.clone())
            .collect()
    }

    /// An enumerator that the declarations of state variables bring along.
    pub(crate) fn enumerator(&self, name: &str) -> Option<Enumerator> {
        self.enumerators.borrow().get(name).cloned()
    }

    /// Adds one; answers where the name already stands for another.
    pub(crate) fn add_enumerator(&self, name: &Arc<str>, new: Enumerator) -> Result<(), Span> {
        let mut all = self.enumerators.borrow_mut();
        match all.get(name) {
            Some(old) if old.ty != new.ty => Err(old.span),
            _ => {
                all.insert(name.clone(), new);
                Ok(())
            }
        }
    }
}

/// By name: the ports that have it, in their order.
fn ports_by_name<'n>(
    ports: impl Iterator<Item = &'n Vec<Arc<str>>>,
) -> HashMap<Arc<str>, Vec<usize>> {
    let mut by_name: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
    for (at, names) in ports.enumerate() {
        for name in names {
            let ports = by_name.entry(name.clone()).or_default();
            if ports.last() != Some(&at) {
                ports.push(at);
            }
        }
    }
    by_name
}
