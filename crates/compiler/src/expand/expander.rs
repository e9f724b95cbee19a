//! State of an expansion: the operators so far, and the composites and channels around the current
//! invocation.

use std::collections::{HashMap, HashSet};

use graph::{ConfigEntry, OperatorNode};
use syntax::ast::Composite;
use syntax::{Diagnostic, Span};

use super::operator_count::ExpansionSizes;
use crate::Session;
use crate::instance::OperatorSite;
use crate::names::{ChannelPosition, StreamId, UnitId};

/// Levels that composites may nest: expansion recurses.
const DEPTH_MAX: usize = 200;
/// Operators that a program may have, unless the user sets another limit: all are in memory.
const OPERATORS_MAX: usize = 1 << 18;
/// Composite instances that a program may have. Four for each operator: most hold several, and
/// composites that hold none must not multiply for ever.
const COMPOSITES_MAX: usize = 1 << 20;

/// The state of an expansion.
pub(crate) struct Expander<'e, 'w> {
    /// Compilation that the expansion belongs to.
    pub session: &'e Session<'w>,
    /// The operators so far.
    pub operators: Vec<OperatorNode>,
    /// Config entries of the main composite that hold for no single operator.
    pub main_config: Vec<ConfigEntry>,
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
    pub(super) expanded: HashSet<*const Composite>,
    /// Composite instances so far.
    composite_count: usize,
    sizes: ExpansionSizes,
    /// Whether the program is too large; nothing is expanded any more.
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
            main_config: Vec::new(),
            sites: Vec::new(),
            stream_count: 0,
            merged_streams: HashMap::new(),
            channel: ChannelPosition::default(),
            enclosing: Vec::new(),
            expanded: HashSet::new(),
            composite_count: 0,
            sizes: ExpansionSizes::default(),
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

    /// The composites that were instantiated. Of a program that is too large also those within the
    /// instances that found no room.
    pub fn into_reached(mut self) -> HashSet<*const Composite> {
        if self.is_full {
            self.expanded.extend(self.sizes.measured());
        }
        self.expanded
    }

    /// A stream that was not there before.
    pub fn new_stream(&mut self) -> StreamId {
        self.stream_count += 1;
        StreamId(self.stream_count - 1)
    }

    /// Adds an operator with its site; reports once when there are too many.
    pub fn push(&mut self, operator: OperatorNode, site: OperatorSite) {
        if self.operators.len() >= self.operators_max() {
            self.report_full(site.head);
        } else if !self.is_full {
            self.operators.push(operator);
            self.sites.push(site);
        }
    }

    /// Whether the program is too large to be expanded any further, which was reported.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    fn operators_max(&self) -> usize {
        let most = self.session.options.operators_max;
        most.unwrap_or(OPERATORS_MAX)
    }

    fn report_full(&mut self, at: Span) {
        self.report_more_than(self.operators_max(), "operators", at);
    }

    /// Reports a program that is too large, once, and drops its operators: no stage needs them.
    fn report_more_than(&mut self, most: usize, what: &str, at: Span) {
        if !std::mem::replace(&mut self.is_full, true) {
            let message = format!("the program has more than {most} {what}");
            self.report(Diagnostic::error("too-many-operators", at, message));
            self.operators = Vec::new();
            self.sites = Vec::new();
        }
    }

    /// Number of composite instances that an instance of a composite comes to, itself included.
    pub fn count_instances(&mut self, unit: UnitId, composite: &Composite) -> usize {
        let symbols = self.session.symbols;
        let size = self.sizes.least(symbols, unit, composite, DEPTH_MAX);
        size.composites
    }

    /// Whether the program stays within its limits with an instance of a composite; reports that it
    /// does not.
    fn has_room_for(&mut self, unit: UnitId, composite: &'w Composite, invoked: Span) -> bool {
        let symbols = self.session.symbols;
        let size = self.sizes.least(symbols, unit, composite, DEPTH_MAX);
        self.composite_count += 1;
        let operators = self.operators.len().saturating_add(size.operators);
        let composites = self.composite_count.saturating_add(size.composites);
        if operators > self.operators_max() {
            self.report_full(invoked);
        } else if composites > COMPOSITES_MAX {
            self.report_more_than(COMPOSITES_MAX, "instances of composites", invoked);
        }
        !self.is_full
    }

    /// Whether so many channels, in each of the channels around, are no more than there may be
    /// operators; reports that they are too many.
    pub(super) fn has_room_for_channels(&mut self, width: u32, invoked: Span) -> bool {
        if self.is_full {
            return false;
        }
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

    /// Whether a composite can be expanded here; reports why not. A main composite is entered
    /// however large it is: its invocations say where the program is too large.
    pub(super) fn may_enter(
        &mut self,
        unit: UnitId,
        composite: &'w Composite,
        invoked: Option<Span>,
    ) -> bool {
        let invoked = match invoked {
            Some(invoked) => invoked,
            None => return true,
        };
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
        !self.is_full && self.has_room_for(unit, composite, invoked)
    }
}
