//! The lines of a plan's text on one PE.

use std::sync::Arc;

use super::line::PlanTextWord;
use super::plan_text_error::PlanTextPos;
use crate::plan::{PePlan, Pin, ThreadPool, ThreadedPort};

/// The lines on a PE, with the positions of those that a check may refuse.
pub(super) struct PeDraft<'t> {
    pub pos: PlanTextPos,
    /// Names of operators, and beginnings of names.
    pub operators: Vec<PlanTextWord<'t>>,
    pub cores: Vec<u32>,
    pub host: Option<Arc<str>>,
    pub pool: Option<(PlanTextPos, ThreadPool)>,
    pub queues: Vec<(PlanTextPos, ThreadedPort)>,
    pub pins: Vec<(PlanTextPos, Pin)>,
}

impl PeDraft<'_> {
    /// A PE without lines, whose `pe` line is at `pos`.
    pub fn new(pos: PlanTextPos) -> Self {
        PeDraft {
            pos,
            operators: Vec::new(),
            cores: Vec::new(),
            host: None,
            pool: None,
            queues: Vec::new(),
            pins: Vec::new(),
        }
    }

    /// The PE that the lines describe, without operators.
    pub fn pe_plan(&self) -> PePlan {
        PePlan {
            cores: self.cores.clone(),
            host: self.host.clone(),
            pool: self.pool.map(|(_, pool)| pool),
            threaded_ports: self.queues.iter().map(|(_, queue)| queue.clone()).collect(),
            pins: self.pins.iter().map(|(_, pin)| *pin).collect(),
            ..PePlan::default()
        }
    }
}
