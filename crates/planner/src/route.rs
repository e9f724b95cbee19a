//! Routing: the medium of each stream between PEs.
//!
//! Config `outputTransport` of the sending operator or `inputTransport` of the receiving one names
//! a medium; else the options for the job do; else `auto` chooses one ([`auto_medium`]). A stream
//! has one crossing for each of its media, or several on one medium that serves fewer receivers
//! than the stream has. Only some media reach another host.
//!
//! # Cost
//! One walk over the edges.

use std::sync::Arc;

use graph::{
    AUTO_MEDIUM, Crossing, CrossingRails, InPortId, OperatorId, OutPortId, PeAssignment, PeId,
    Plan, Pos, Program,
};

use crate::auto_medium::{self, ChosenMedium, StreamJoins, UnroutedStream};
use crate::choice::{
    MediumCapabilities, PlanError, PlanOptions, SharedFabric, TransportPolicy, find_medium,
    stays_on_host,
};
use crate::streams::StreamConsumers;

/// Chooses a medium for each crossing that has none, and checks the others' media.
///
/// # Errors
/// All media that are asked for and cannot be had, once each.
pub(super) fn route(
    program: &Program,
    options: &PlanOptions<'_>,
    stream_consumers: &StreamConsumers,
    plan: &mut Plan,
) -> Result<(), Vec<PlanError>> {
    let router = Router {
        program,
        options,
        stream_consumers,
        hosts: plan.pes.iter().map(|pe| pe.host.clone()).collect(),
        pe_assignment: &PeAssignment::new(plan, program.operators.len()),
    };
    let mut crossings = Vec::with_capacity(plan.crossings.len());
    let mut errors: Vec<PlanError> = Vec::new();
    for crossing in std::mem::take(&mut plan.crossings) {
        match router.crossing(crossing) {
            Ok(found) => crossings.extend(found),
            Err(error) if errors.contains(&error) => {}
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    crossings.sort_by_key(Crossing::sort_key);
    plan.crossings = crossings;
    Ok(())
}

struct Router<'a> {
    program: &'a Program,
    options: &'a PlanOptions<'a>,
    stream_consumers: &'a StreamConsumers,
    /// The host of each PE; `None` for the launcher's.
    hosts: Vec<Option<Arc<str>>>,
    pe_assignment: &'a PeAssignment,
}

/// A medium that config asks for, and the place of the config entry.
#[derive(Clone, Copy)]
struct RequestedMedium<'a> {
    medium: MediumCapabilities<'a>,
    pos: Pos,
}

impl<'a> Router<'a> {
    /// A crossing with its medium; several crossings if its PEs need several media.
    fn crossing(&self, mut crossing: Crossing) -> Result<Vec<Crossing>, PlanError> {
        if *crossing.medium != *AUTO_MEDIUM {
            let name = self.program.sender_name(&crossing);
            let found = self.medium(&crossing.medium);
            let about = |error: PlanError| error.with_prefix(&format!("`{name}`"));
            let medium = found.map_err(about)?;
            for &pe in &crossing.to {
                self.check_host(medium, crossing.from, pe).map_err(about)?;
            }
            crossing.medium = medium.name.into();
            self.add_settings(&mut crossing);
            return Ok(split_crossing(crossing, medium).collect());
        }
        let mut by_medium: Vec<(ChosenMedium<'_>, Vec<PeId>)> = Vec::new();
        let mut add = |chosen: ChosenMedium<'a>, pe| match by_medium
            .iter_mut()
            .find(|(other, _)| other.is_same(&chosen))
        {
            Some((_, to)) => to.push(pe),
            None => by_medium.push((chosen, vec![pe])),
        };
        let (mut near, mut far): (Vec<PeId>, Vec<PeId>) = (Vec::new(), Vec::new());
        for &pe in &crossing.to {
            match self.requested_medium(crossing.from, pe)? {
                Some(medium) => {
                    self.check_host(medium, crossing.from, pe)?;
                    add(ChosenMedium::requested(medium), pe);
                }
                None if self.is_on_other_host(crossing.from, pe) => far.push(pe),
                None => near.push(pe),
            }
        }
        for (medium, to) in self.free_groups(&crossing, near, far)? {
            for pe in to {
                self.check_host(medium.medium, crossing.from, pe)?;
                add(medium.clone(), pe);
            }
        }
        let crossings = by_medium.into_iter().flat_map(|(chosen, mut to)| {
            to.sort_unstable();
            let medium = chosen.medium;
            let mut whole = Crossing {
                to,
                medium: medium.name.into(),
                medium_settings: chosen.settings.into(),
                medium_reason: chosen.reason,
                ..crossing.clone()
            };
            self.add_settings(&mut whole);
            split_crossing(whole, medium)
        });
        Ok(crossings.collect())
    }

    /// The media of receivers for which neither end asks for one: of those on the sender's host, of
    /// those that a fabric joins to it, and of all others.
    fn free_groups(
        &self,
        crossing: &Crossing,
        near: Vec<PeId>,
        far: Vec<PeId>,
    ) -> Result<Vec<(ChosenMedium<'a>, Vec<PeId>)>, PlanError> {
        let mut groups: Vec<(StreamJoins, Vec<PeId>)> = vec![(StreamJoins::SameHost, near)];
        for pe in far {
            let joins = StreamJoins::OtherHost(self.fabric_to(crossing.from, pe));
            match groups.iter_mut().find(|(other, _)| *other == joins) {
                Some((_, to)) => to.push(pe),
                None => groups.push((joins, vec![pe])),
            }
        }
        groups.retain(|(_, to)| !to.is_empty());
        let groups = groups.into_iter().map(|(joins, to)| {
            let medium = self.free_medium(crossing, to.len(), joins)?;
            Ok((medium, to))
        });
        groups.collect()
    }

    /// The fabric between the sender of a stream and a PE on another host, or why there is none.
    fn fabric_to(&self, stream: OutPortId, pe: PeId) -> Result<SharedFabric, String> {
        let Some(fabrics) = self.options.fabrics else {
            return Err(String::new());
        };
        let from = self.pe_assignment.pe_of(stream.operator);
        match (from.and_then(|from| self.host(from)), self.host(pe)) {
            (Some(near), Some(far)) => fabrics.shared_fabric(&near, &far),
            _ => Err(String::new()),
        }
    }

    fn host(&self, pe: PeId) -> Option<Arc<str>> {
        self.hosts.get(pe.0 as usize).cloned().flatten()
    }

    /// Gives a crossing without settings of its own those of the job for its medium.
    fn add_settings(&self, crossing: &mut Crossing) {
        if crossing.medium_settings.is_empty() {
            crossing.medium_settings = self.options.settings_of(&crossing.medium).into();
        }
    }

    /// Whether a stream comes to a PE from another host.
    fn is_on_other_host(&self, stream: OutPortId, pe: PeId) -> bool {
        let from = self.pe_assignment.pe_of(stream.operator);
        from.and_then(|from| self.host(from)) != self.host(pe)
    }

    /// Checks that a medium reaches the host of a PE that takes a stream.
    fn check_host(
        &self,
        medium: MediumCapabilities<'_>,
        stream: OutPortId,
        pe: PeId,
    ) -> Result<(), PlanError> {
        match medium.crosses_hosts || !self.is_on_other_host(stream, pe) {
            true => Ok(()),
            false => Err(stays_on_host(medium, self.options.media)),
        }
    }

    /// The medium that the operators at both ends of an edge ask for.
    fn requested_medium(
        &self,
        stream: OutPortId,
        pe: PeId,
    ) -> Result<Option<MediumCapabilities<'a>>, PlanError> {
        let mut requested = self.config(stream.operator, "outputTransport")?;
        for &InPortId { operator, .. } in self.stream_consumers.consumers_of(stream) {
            if self.pe_assignment.pe_of(operator) != Some(pe) {
                continue;
            }
            let Some(other) = self.config(operator, "inputTransport")? else {
                continue;
            };
            match requested {
                Some(one) if one.medium != other.medium => {
                    return Err(self.conflict(stream, &one, &other));
                }
                _ => requested = Some(other),
            }
        }
        Ok(requested.map(|requested| requested.medium))
    }

    fn conflict(
        &self,
        stream: OutPortId,
        one: &RequestedMedium<'_>,
        other: &RequestedMedium<'_>,
    ) -> PlanError {
        let name = self.program.stream_name(stream);
        let (a, b) = (one.medium.name, other.medium.name);
        PlanError::new(format!("stream `{name}` cannot cross by both {a} and {b}"))
            .with_pos(other.pos)
            .with_label(one.pos, format!("{a} is asked for here"))
            .with_help("ask for one medium, or only at one end")
    }

    fn config(
        &self,
        operator: OperatorId,
        name: &str,
    ) -> Result<Option<RequestedMedium<'a>>, PlanError> {
        let operator = &self.program.operators[operator.0 as usize];
        let entry = operator.config.iter().find(|entry| &*entry.name == name);
        let word = entry.and_then(|entry| Some((entry.pos, entry.values.first()?)));
        let Some((pos, word)) = word else {
            return Ok(None);
        };
        let medium = self.medium(word).map_err(|error| error.with_pos(pos))?;
        Ok(Some(RequestedMedium { medium, pos }))
    }

    /// The medium for receivers for which neither end asks for one.
    fn free_medium(
        &self,
        crossing: &Crossing,
        receivers: usize,
        joins: StreamJoins,
    ) -> Result<ChosenMedium<'a>, PlanError> {
        if let TransportPolicy::Medium(name) = self.options.transport {
            return self.medium(name).map(ChosenMedium::requested);
        }
        let OutPortId { operator, port } = crossing.from;
        let operator = &self.program.operators[operator.0 as usize];
        let stream = UnroutedStream {
            schema: &operator.outputs[port.0 as usize].schema,
            receivers,
            has_rails: crossing.rails != CrossingRails::None,
            joins,
        };
        auto_medium::choose(self.options, &stream)
    }

    fn medium(&self, name: &str) -> Result<MediumCapabilities<'a>, PlanError> {
        find_medium(name, self.options.media)
    }
}

/// Splits a crossing that has more receivers than its medium serves.
fn split_crossing(
    whole: Crossing,
    medium: MediumCapabilities<'_>,
) -> impl Iterator<Item = Crossing> {
    let most = medium.receivers_max.max(1) as usize;
    let parts: Vec<Vec<PeId>> = whole.to.chunks(most).map(<[PeId]>::to_vec).collect();
    let part = move |to| Crossing {
        to,
        ..whole.clone()
    };
    parts.into_iter().map(part)
}
