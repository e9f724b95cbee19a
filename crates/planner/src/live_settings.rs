//! Settings of a plan that may change while the job runs: cores of threads, sizes of queues, and
//! the threads of pools.

use graph::{AUTO_MEDIUM, Crossing, CrossingRails, PeId, PePlan, Plan, Program, ThreadedPort};

use crate::derived::{check, derive};

/// The plan of a running job with the settings of another plan, which must be the same otherwise.
/// Crossings, and their media, may be left out of the other plan.
///
/// # Example
/// ```
/// use graph::{Plan, Program};
///
/// let (program, plan) = (Program::default(), Plan::default());
/// let applied = thalweg_planner::with_live_settings(&plan, &plan, &program);
/// assert_eq!(applied, Ok(plan));
/// ```
///
/// # Errors
/// The first difference besides settings, in a sentence that names it.
pub fn with_live_settings(
    running: &Plan,
    wanted: &Plan,
    program: &Program,
) -> Result<Plan, String> {
    if wanted.pes.len() != running.pes.len() {
        let (has, had) = (wanted.pes.len(), running.pes.len());
        return Err(format!(
            "the number of processes cannot change while the job runs: it is {had} there, and {has} \
             in the plan"
        ));
    }
    let comparison = PlanComparison { running, program };
    let mut plan = running.clone();
    for ((number, pe), wanted) in running.pe_ids().zip(&mut plan.pes).zip(&wanted.pes) {
        comparison.compare_pes(number, wanted)?;
        pe.cores.clone_from(&wanted.cores);
        pe.pins.clone_from(&wanted.pins);
        pe.pool = wanted.pool;
        for (queue, wanted) in pe.threaded_ports.iter_mut().zip(&wanted.threaded_ports) {
            queue.core = wanted.core;
            queue.tuples_max = wanted.tuples_max;
        }
    }
    let mut crossings = wanted.crossings.iter();
    crossings.try_for_each(|wanted| comparison.compare_crossings(wanted))?;
    derive(&mut plan, program);
    check(&plan, program).map_err(|fault| fault.message)?;
    Ok(plan)
}

/// Compares a plan with that of a running job.
struct PlanComparison<'a> {
    running: &'a Plan,
    program: &'a Program,
}

impl PlanComparison<'_> {
    fn compare_pes(&self, number: PeId, wanted: &PePlan) -> Result<(), String> {
        let running = self.running.pe(number);
        if wanted.operators != running.operators {
            let moved = wanted.operators.iter();
            let mut moved = moved.filter(|id| !running.operators.contains(id));
            let which = moved.next().map_or(String::new(), |id| {
                let name = &self.program.operators[id.0 as usize].name;
                format!(": `{name}` runs elsewhere")
            });
            return Err(format!(
                "pe {number} of the plan has other operators than the job's{which}; operators \
                 cannot change their process while the job runs"
            ));
        }
        if wanted.host != running.host {
            return Err(format!(
                "pe {number} of the plan has another host; a process cannot change its host while \
                 the job runs"
            ));
        }
        if wanted.pool.is_some() != running.pool.is_some() {
            return Err(format!(
                "pe {number} has a pool in one of the two plans only; pools cannot come or go \
                 while the job runs"
            ));
        }
        self.compare_queues(number, running, wanted)
    }

    fn compare_queues(
        &self,
        number: PeId,
        running: &PePlan,
        wanted: &PePlan,
    ) -> Result<(), String> {
        let has = |pe: &PePlan, queue: &ThreadedPort| {
            let mut ports = pe.threaded_ports.iter().map(ThreadedPort::in_port);
            ports.any(|port| port == queue.in_port())
        };
        let mut new = wanted.threaded_ports.iter();
        if let Some(new) = new.find(|queue| !has(running, queue)) {
            let port = self.port_name(new);
            return Err(format!(
                "the job has no queue before `{port}` in pe {number}; queues cannot be added while \
                 it runs"
            ));
        }
        let mut gone = running.threaded_ports.iter();
        if let Some(gone) = gone.find(|queue| !has(wanted, queue)) {
            let port = self.port_name(gone);
            return Err(format!(
                "the plan has no queue before `{port}` in pe {number}, where the job has one; \
                 queues cannot be removed while it runs"
            ));
        }
        let pairs = running.threaded_ports.iter().zip(&wanted.threaded_ports);
        for (running, wanted) in pairs {
            let port = self.port_name(wanted);
            if wanted.is_pooled != running.is_pooled {
                return Err(format!(
                    "the queue before `{port}` is pooled in one of the two plans only; that cannot \
                     change while the job runs"
                ));
            }
            if wanted.congestion != running.congestion {
                return Err(format!(
                    "the queue before `{port}` waits or drops otherwise in the plan than in the \
                     job; that cannot change while the job runs"
                ));
            }
        }
        Ok(())
    }

    /// Compares a crossing with the job's, as far as the plan says how the stream crosses.
    fn compare_crossings(&self, wanted: &Crossing) -> Result<(), String> {
        let name = &self.program.operators[wanted.from.operator.0 as usize].name;
        let stream = format!("`{name}.{}`", wanted.from.port);
        let mut running = self.running.crossings.iter();
        let running =
            running.find(|running| (running.from, &running.to) == (wanted.from, &wanted.to));
        let Some(running) = running else {
            return Err(format!("{stream} does not cross like this in the job"));
        };
        let same_medium = wanted.medium == running.medium
            && (wanted.medium_settings.is_empty()
                || wanted.medium_settings == running.medium_settings);
        let same = (&*wanted.medium == AUTO_MEDIUM || same_medium)
            && (wanted.ring_bytes.is_none() || wanted.ring_bytes == running.ring_bytes)
            && (wanted.batch.is_none() || wanted.batch == running.batch)
            && (wanted.rails == CrossingRails::None || wanted.rails == running.rails)
            && (wanted.codec == running.codec || wanted.codec == Default::default());
        match same {
            true => Ok(()),
            false => Err(format!(
                "{stream} crosses otherwise in the plan than in the job; streams cannot change \
                 their medium or its settings while the job runs"
            )),
        }
    }

    fn port_name(&self, queue: &ThreadedPort) -> String {
        let name = &self.program.operators[queue.operator.0 as usize].name;
        format!("{name}.{}", queue.port)
    }
}
