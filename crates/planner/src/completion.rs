//! Plans of some processes, completed: crossings, media, queues, and all that follows from them.

use graph::{OperatorId, PePlan, Plan, Program};

use crate::choice::{PlanError, PlanOptions};
use crate::derived::{add_missing_crossings, check, derive};
use crate::streams::StreamConsumers;
use crate::{route, threaded_ports};

/// A plan of these PEs, without crossings and queues.
pub(crate) fn plan_of_pes(pes: Vec<Vec<OperatorId>>) -> Plan {
    let pes = pes.into_iter().map(|operators| PePlan {
        operators,
        ..PePlan::default()
    });
    Plan {
        pes: pes.collect(),
        crossings: Vec::new(),
    }
}

/// Adds all that is missing in a plan whose operators are all in a PE.
///
/// # Errors
/// Media that do not exist or do not reach the receivers.
pub(crate) fn complete(
    program: &Program,
    options: &PlanOptions<'_>,
    stream_consumers: &StreamConsumers,
    mut plan: Plan,
) -> Result<Plan, Vec<PlanError>> {
    add_missing_crossings(&mut plan, program, options.codec);
    route::route(program, options, stream_consumers, &mut plan)?;
    threaded_ports::add(program, options, stream_consumers, &mut plan);
    derive(&mut plan, program);
    debug_assert_eq!(check(&plan, program), Ok(()));
    Ok(plan)
}
