//! The printer of plans: the choices as lines, everything that follows from them as comments.

use std::fmt::{self, Write};
use std::net::IpAddr;

use crate::plan::{
    AUTO_MEDIUM, CongestionPolicy, Crossing, CrossingCodec, CrossingRails, EdgeMedium,
    PeAssignment, PeId, PePlan, Pin, PinnedThread, Plan, PlanEdge, ReceiverPlan, ThreadedPort,
};
use crate::{OperatorId, Program};

/// Columns that a line of names has at most, unless a single name is longer; the width of source
/// lines.
const LINE_COLUMNS_MAX: usize = 100;

pub(super) struct PlanText<'a> {
    pub plan: &'a Plan,
    pub program: &'a Program,
}

impl fmt::Display for PlanText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.program.name.is_empty() {
            writeln!(f, "plan {}", self.program.name)?;
        }
        let pe_assignment = PeAssignment::new(self.plan, self.program.operators.len());
        for (number, pe) in self.plan.pe_ids().zip(&self.plan.pes) {
            writeln!(f, "pe {number}")?;
            self.pe(f, pe)?;
            for receiver in &pe.receivers {
                self.receiver(f, &pe_assignment, receiver)?;
            }
            for merge in &pe.merges {
                writeln!(f, "  # {}", self.program.merge_name(merge))?;
            }
            pe.edges.iter().try_for_each(|edge| self.edge(f, edge))?;
            let crossings = self.plan.crossings.iter();
            for crossing in
                crossings.filter(|c| pe_assignment.pe_of(c.from.operator) == Some(number))
            {
                writeln!(f, "  # sender {}", self.program.sender_name(crossing))?;
            }
        }
        let crossings = self.plan.crossings.iter();
        crossings.into_iter().try_for_each(|c| self.crossing(f, c))
    }
}

impl PlanText<'_> {
    fn name(&self, id: OperatorId) -> &str {
        let operator = self.program.operators.get(id.0 as usize);
        operator.map_or("?", |o| &*o.name)
    }

    fn names(&self, f: &mut fmt::Formatter<'_>, head: &str, ids: &[OperatorId]) -> fmt::Result {
        let mut line = head.to_owned();
        for name in ids.iter().map(|&id| self.name(id)) {
            let has_name = line.len() > head.len();
            if has_name && line.len() + 1 + name.len() > LINE_COLUMNS_MAX {
                writeln!(f, "{line}")?;
                line = head.to_owned();
            }
            line.push(' ');
            line.push_str(name);
        }
        writeln!(f, "{line}")
    }

    fn pe(&self, f: &mut fmt::Formatter<'_>, pe: &PePlan) -> fmt::Result {
        self.names(f, "  operators", &pe.operators)?;
        if let Some(host) = &pe.host {
            writeln!(f, "  host {host}")?;
        }
        if !pe.cores.is_empty() {
            let cores: Vec<_> = pe.cores.iter().map(u32::to_string).collect();
            writeln!(f, "  cores {}", cores.join(" "))?;
        }
        if let Some(pool) = &pe.pool {
            writeln!(f, "  pool {pool}")?;
        }
        pe.threaded_ports
            .iter()
            .try_for_each(|queue| self.queue(f, queue))?;
        pe.pins.iter().try_for_each(|pin| self.pin(f, pin))
    }

    fn pin(&self, f: &mut fmt::Formatter<'_>, pin: &Pin) -> fmt::Result {
        let core = pin.core;
        match pin.thread {
            PinnedThread::Source(id) => writeln!(f, "  source {} core {core}", self.name(id)),
            PinnedThread::Receiver(from) => {
                let (name, port) = (self.name(from.operator), from.port);
                writeln!(f, "  receiver {name}.{port} core {core}")
            }
        }
    }

    fn queue(&self, f: &mut fmt::Formatter<'_>, queue: &ThreadedPort) -> fmt::Result {
        let congestion = match queue.congestion {
            CongestionPolicy::Wait => "wait",
            CongestionPolicy::DropFirst => "dropFirst",
            CongestionPolicy::DropLast => "dropLast",
        };
        let (name, port) = (self.name(queue.operator), queue.port);
        write!(f, "  queue {name}.{port} {congestion} {}", queue.tuples_max)?;
        if let Some(core) = queue.core {
            write!(f, " core {core}")?;
        }
        if queue.is_pooled {
            f.write_str(" pooled")?;
        }
        f.write_char('\n')
    }

    fn receiver(
        &self,
        f: &mut fmt::Formatter<'_>,
        pe_assignment: &PeAssignment,
        receiver: &ReceiverPlan,
    ) -> fmt::Result {
        let name = self
            .program
            .receiver_name(self.plan, pe_assignment, receiver);
        writeln!(f, "  # receiver {name}")
    }

    fn edge(&self, f: &mut fmt::Formatter<'_>, edge: &PlanEdge) -> fmt::Result {
        let from = self.name(edge.from.operator);
        let to = self.name(edge.operator);
        let ports = format!("{from}.{} -> {to}.{}", edge.from.port, edge.port);
        match edge.medium {
            EdgeMedium::Fused => writeln!(f, "  # edge {ports} fused"),
            EdgeMedium::Queue => writeln!(f, "  # edge {ports} queue"),
            EdgeMedium::Merge => writeln!(f, "  # edge {ports} merge"),
            EdgeMedium::Crossing(id) => {
                let crossing = self.plan.crossings.get(id.0 as usize);
                let medium = crossing.map_or(AUTO_MEDIUM, |crossing| &*crossing.medium);
                writeln!(f, "  # edge {ports} {medium}")
            }
        }
    }

    fn crossing(&self, f: &mut fmt::Formatter<'_>, crossing: &Crossing) -> fmt::Result {
        let from = self.name(crossing.from.operator);
        let to: Vec<_> = crossing.to.iter().map(PeId::to_string).collect();
        let port = crossing.from.port;
        write!(f, "crossing {from}.{port} -> pe {}", to.join(" "))?;
        write!(f, " on {}", crossing.medium)?;
        if !crossing.medium_settings.is_empty() {
            write!(f, " {}", crossing.medium_settings)?;
        }
        if crossing.codec == CrossingCodec::Normal {
            f.write_str(" codec normal")?;
        }
        if let Some(bytes) = crossing.ring_bytes {
            write!(f, " ring {bytes}")?;
        }
        if let Some((shortest, longest, bytes)) = crossing.batch {
            write!(f, " batch {shortest} {longest} {bytes}")?;
        }
        match &crossing.rails {
            CrossingRails::None => {}
            CrossingRails::Striped(addresses) => {
                let rails: Vec<_> = addresses.iter().map(IpAddr::to_string).collect();
                write!(f, " rails {}", rails.join(" "))?;
            }
            CrossingRails::Mptcp => f.write_str(" rails mptcp")?,
        }
        f.write_char('\n')?;
        match crossing.medium_reason.text() {
            "" => Ok(()),
            reason => writeln!(f, "  # {}: {reason}", crossing.medium),
        }
    }
}
