//! State of an expansion: the operators so far, and the composites and channels around the current
//! invocation.

use std::collections::{HashMap, HashSet};

use graph::OperatorNode;
use syntax::ast::Composite;
use syntax::{Diagnostic, Span};

use crate::Session;
use crate::instance::OperatorSite;
use crate::names::{ChannelPosition, StreamId};

/// Levels that composites may nest: expansion recurses.
const DEPTH_MAX: usize = 200;
/// Operators that a program may have, unless the user sets another limit: all are in memory.
const OPERATORS_MAX: usize = 1 << 18;

/// The state of an expansion.
pub(crate) struct Expander<'e, 'w> {
    /// Compilation that the expansion belongs to.
    pub session: &'e Session<'w>,
    /// The operators so far.
    pub operators: Vec<OperatorNode>,
    /// Where each came from.
    pub sites: Vec<OperatorSite>,
    stream_count: u32,
    /// Streams that leave a parallel region, each with those of its channels.
    pub merged_streams: HashMap<StreamId, Vec<StreamId>>,
    /// The channels around, outermost first.
    pub(super) channel: ChannelPosition,
    /// The composites around, outermost first.
    pub(super) enclosing: Vec<&'w Composite>,
    /// Composites that were instantiated at least once.
    pub expanded: HashSet<*const Composite>,
    is_full: bool,
    /// First stream whose type could not be resolved.
    pub(super) first_untyped: Option<Span>,
}

impl<'e, 'w> Expander<'e, 'w> {
    /// An expansion that has not begun.
    pub fn new(session: &'e Session<'w>) -> Expander<'e, 'w> {
        Expander {
            session,
            operators: Vec::new(),
            sites: Vec::new(),
            stream_count: 0,
            merged_streams: HashMap::new(),
            channel: ChannelPosition::default(),
            enclosing: Vec::new(),
            expanded: HashSet::new(),
            is_full: false,
            first_untyped: None,
        }
    }

    /// Reports a stream whose type could not be worked out, if nothing else is wrong. Usually the
    /// cause was reported; this catches a cause that was not.
    pub fn report_untyped(&self) {
        if let (false, Some(place)) = (self.session.diagnostics.has_errors(), self.first_untyped) {
            let message = "the type of this stream is not known";
            self.report(Diagnostic::error("unknown-stream-type", place, message));
        }
    }

    /// Whether a composite was instantiated, or would be if the program were not too large.
    pub fn has_expanded(&self, composite: &Composite) -> bool {
        self.is_full || self.expanded.contains(&std::ptr::from_ref(composite))
    }

    /// A stream that was not there before.
    pub fn new_stream(&mut self) -> StreamId {
        self.stream_count += 1;
        StreamId(self.stream_count - 1)
    }

    /// Adds an operator with its site; reports once when there are too many.
    pub fn push(&mut self, operator: OperatorNode, site: OperatorSite) {
        if self.operators.len() < self.operators_max() {
            self.operators.push(operator);
            self.sites.push(site);
        } else {
            self.report_full(site.head);
        }
    }

    fn operators_max(&self) -> usize {
        let most = self.session.options.operators_max;
        most.unwrap_or(OPERATORS_MAX)
    }

    fn report_full(&mut self, at: Span) {
        if !std::mem::replace(&mut self.is_full, true) {
            let most = self.operators_max();
            let message = format!("the program has more than {most} operators");
            self.report(Diagnostic::error("too-many-operators", at, message));
        }
    }

    /// Whether so many channels, in each of the channels around, are no more than there may be
    /// operators; reports that they are too many.
    pub(super) fn has_room_for_channels(&mut self, width: u32, invoked: Span) -> bool {
        let around = self.channel.widths.iter();
        let channels = around.fold(u64::from(width), |product, &outer| {
            product.saturating_mul(outer.unsigned_abs().into())
        });
        let fits = channels <= self.operators_max() as u64;
        if !fits {
            self.report_full(invoked);
        }
        fits
    }

    /// Reports a finding to the session.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.session.report(diagnostic);
    }

    /// Whether a composite can be expanded here; reports why not.
    pub(super) fn may_enter(&self, composite: &'w Composite, invoked: Span) -> bool {
        let name = &composite.name.text;
        if self.enclosing.iter().any(|c| std::ptr::eq(*c, composite)) {
            let message = format!("composite `{name}` would contain itself");
            let finding = Diagnostic::error("recursive-composite", invoked, message);
            let help = self.enclosing.iter().map(|c| &*c.name.text);
            let chain: Vec<_> = help.chain([&**name]).collect();
            self.report(finding.help(format!("it is invoked through {}", chain.join(" > "))));
            return false;
        }
        if self.enclosing.len() >= DEPTH_MAX {
            let message = format!("composites nest deeper than {DEPTH_MAX}");
            self.report(Diagnostic::error("deep-composites", invoked, message));
            return false;
        }
        !self.is_full
    }
}
