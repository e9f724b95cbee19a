//! A PE: from a program to running threads, and from there to an orderly end.
//!
//! ```text
//!   wire ----> start ----> sources return -> final markers -> all operators finish ----> join
//!     |                        ^                                                          |
//!   Report                Stop::request                                         Summary or Report
//! ```

use std::sync::Arc;
use std::time::Duration;

use graph::{Fault, FaultKind, Program};

use crate::OperatorEntry;
use crate::abi::Backend;
use crate::assemble::{Assembly, assemble};
use crate::crossing::{Flow, Queued};
use crate::held::Flusher;
use crate::house::{House, Options};
use crate::launch::{self, Thread, Wanted};
use crate::leftover::Leftover;
use crate::make::Runner;
use crate::marks::MarkCounters;
use crate::node::Node;
use crate::region::Region;
use crate::report::{Failure, Report, Tally};
use crate::runner;
use crate::stop::Stop;
use crate::timer::Timers;
use crate::wait::ThreadId;
use crate::wiring::Wiring;

/// A wired PE.
pub struct Pe {
    assembly: Assembly,
}

/// A PE whose threads run.
pub struct Running {
    wiring: Arc<Wiring>,
    threads: Vec<Thread>,
    timers: Option<(Stop, Thread)>,
    flusher: Option<Flusher>,
    /// Operators that no thread enters.
    idle: Region,
}

impl Pe {
    /// Makes the operators and their code.
    ///
    /// # Errors
    /// An operator that cannot be made: a parameter's value is out of range, a file is missing, ...
    pub fn wire(
        program: &Program,
        registry: &[OperatorEntry],
        backend: &mut dyn Backend,
        options: Options,
    ) -> Result<Pe, Report> {
        let (house, setting) = House::new(options);
        let assembly = assemble(program, registry, backend, house.clone(), setting);
        let assembly = assembly.map_err(|failure| {
            // What initial values printed is to be seen.
            let _ = house.flush();
            Report {
                failures: vec![failure],
                is_quiet: house.is_quiet(),
            }
        })?;
        Ok(Pe { assembly })
    }

    /// The handle to its shutdown.
    pub fn stop(&self) -> Stop {
        self.assembly.wiring.house.stop.clone()
    }

    /// Calls something when a shutdown is asked for, by whomever; not when the PE ends by itself.
    pub fn on_shutdown(&self, told: impl FnOnce() + Send + 'static) {
        let house = Arc::downgrade(&self.assembly.wiring.house);
        self.stop().wake(move || {
            if house.upgrade().is_some_and(|house| !house.is_over()) {
                told();
            }
        });
    }

    /// Starts its threads.
    ///
    /// # Errors
    /// The system has not so many threads.
    pub fn start(self) -> Result<Running, Report> {
        let Assembly {
            wiring,
            own,
            runners,
            timers,
            held,
            thread_count,
            cores,
        } = self.assembly;
        let wanted = wanted_threads(thread_count, &runners, &wiring, &cores);
        let flusher = Flusher::start(held).map_err(not_started)?;
        let mut threads = launch::threads(wanted).map_err(not_started)?;
        let wiring = Arc::new(wiring);
        for (operator, voice) in (0..).zip(&wiring.voices) {
            let ports = Arc::downgrade(&wiring);
            let count = move |name: &str| ports.upgrade()?.port_metric(operator, name);
            voice.set_counts(Box::new(count));
        }
        interrupt_after_shutdown(&wiring, &runners);
        let (mut homes, idle) = by_thread(own, thread_count);
        let region = |thread: ThreadId, nodes| Region::new(wiring.clone(), thread, nodes);
        let timers = threads.pop_if(|_| !timers.is_empty()).map(|thread| {
            let nodes = homes.pop().unwrap_or_default();
            Timers::new(timers).start(thread, region(thread_count - 1, nodes))
        });
        let threads = threads.into_iter().zip(runners).zip(homes);
        let threads = (0..)
            .zip(threads)
            .map(|(number, ((thread, runner), nodes))| {
                let run = |region: &Region| runner::run(region, runner);
                thread.run(region(number, nodes), run)
            });
        Ok(Running {
            threads: threads.collect(),
            timers,
            flusher,
            idle: region(thread_count, idle),
            wiring,
        })
    }
}

/// How long after a shutdown sources may go on submitting. One that looks for it takes no time.
const GRACE: Duration = Duration::from_secs(1);

/// A source that never looks for a shutdown is made to end, and so is a thread in a loop.
fn interrupt_after_shutdown(wiring: &Arc<Wiring>, runners: &[Runner]) {
    let sources = runners.iter().filter(|runner| !runner.drains);
    let sources = sources.map(|runner| (runner.node, runner.interrupt.clone()));
    let sources: Vec<_> = sources.collect();
    let running = Arc::downgrade(wiring);
    let interrupt = move || {
        std::thread::sleep(GRACE);
        if let Some(wiring) = running.upgrade() {
            for (source, stop) in sources {
                wiring.interrupt(source);
                stop.request();
            }
        }
    };
    let house = Arc::downgrade(&wiring.house);
    wiring.house.stop.wake(move || {
        if house.upgrade().is_some_and(|house| !house.is_over()) {
            // Without a thread to spare the source goes on until it is killed.
            let _ = std::thread::Builder::new().spawn(interrupt);
        }
    });
}

/// The threads of a PE, by number: each is named by the operator that it begins with, and runs on a
/// core of its own or on the PE's. The one that has no such operator is that of the timers.
fn wanted_threads(count: u32, runners: &[Runner], wiring: &Wiring, cores: &[u32]) -> Vec<Wanted> {
    let runner = |thread: u32| runners.get(thread as usize);
    let wanted = |thread| Wanted {
        name: runner(thread).map_or("timers".to_owned(), |runner| {
            wiring.voices[runner.node as usize].name().to_string()
        }),
        cores: match runner(thread).and_then(|runner| runner.core) {
            Some(core) => vec![core],
            None => cores.to_vec(),
        },
    };
    (0..count).map(wanted).collect()
}

fn not_started(fault: Fault) -> Report {
    Report {
        failures: vec![Failure::of_program("threads", fault, false)],
        is_quiet: false,
    }
}

impl Running {
    /// The handle to its shutdown.
    pub fn stop(&self) -> Stop {
        self.wiring.house.stop.clone()
    }

    /// What every operator has done so far; cheap, and does not disturb them.
    pub fn tallies(&self) -> Vec<Tally> {
        self.wiring.tallies()
    }

    /// The same, for a thread that watches while another one joins.
    pub fn tally_handle(&self) -> Box<dyn Fn() -> Vec<Tally> + Send> {
        let wiring = self.wiring.clone();
        Box::new(move || wiring.tallies())
    }

    /// What has passed on its links, and who waits: counters that go on counting.
    pub fn flows(&self) -> Vec<Arc<Flow>> {
        self.wiring.flows.clone()
    }

    /// The counters of its queues.
    pub fn queues(&self) -> Vec<Arc<Queued>> {
        self.wiring.queues.clone()
    }

    /// What windows held when their input ended; to be asked when the PE has been joined.
    pub fn leftovers(&self) -> Box<dyn FnOnce() -> Vec<Leftover> + Send> {
        let house = self.wiring.house.clone();
        Box::new(move || house.take_leftovers())
    }

    /// Waits until all sources have returned, then ends everything.
    ///
    /// # Errors
    /// What failed, the first failure first.
    pub fn join(self) -> Result<Vec<Tally>, Report> {
        let house = self.wiring.house.clone();
        let join = |thread: Thread| match thread.join() {
            Ok(region) => region,
            Err(_) => {
                let fault = Fault::new(FaultKind::Limit, "a thread panicked outside of operators");
                house.fail(Failure::of_program("thread", fault, true));
                None
            }
        };
        let mut regions: Vec<Region> = self.threads.into_iter().filter_map(join).collect();
        if let Some((stop, thread)) = self.timers {
            stop.request();
            regions.extend(join(thread));
        }
        regions.iter().for_each(runner::close_own);
        runner::close_own(&self.idle);
        runner::close_shared(&self.idle);
        drop(self.flusher);
        linger(&house);
        if let Err(fault) = house.flush() {
            house.fail(Failure::of_program("standard output", fault, false));
        }
        house.end();
        let failures = house.take_failures();
        if failures.is_empty() {
            return Ok(self.wiring.tallies());
        }
        let is_quiet = house.is_quiet();
        Err(Report { failures, is_quiet })
    }
}

/// After a failure nobody waits for a slow receiver any longer than this: the failure is to be
/// known.
const LINGER_AFTER_FAILURE: Duration = Duration::from_millis(500);

/// Waits until everything that was sent to other PEs is taken.
fn linger(house: &House) {
    let has_failed = house.failed.is_requested();
    for lost in house
        .linger
        .wait(has_failed.then_some(LINGER_AFTER_FAILURE))
    {
        let (operator, kind) = lost.operator;
        house.fail(Failure {
            operator,
            kind,
            fault: lost.fault,
            is_bug: false,
        });
    }
}

impl Wiring {
    pub(crate) fn tallies(&self) -> Vec<Tally> {
        let inputs = self.processed.iter().zip(&self.marks);
        let all = self.voices.iter().zip(inputs).zip(&self.outs);
        let all = all.map(|((voice, (processed, marks)), outs)| Tally {
            operator: voice.name().clone(),
            processed: processed.iter().map(|counter| counter.get()).collect(),
            submitted: outs.iter().map(|out| out.submitted.get()).collect(),
            marks_in: marks.iter().map(MarkCounters::get).collect(),
            marks_out: outs.iter().map(|out| out.marks.get()).collect(),
            metrics: voice.metrics(),
        });
        all.collect()
    }
}

type Nodes = Vec<Option<Node>>;

/// Deals the operators out to their threads; what no thread enters comes last.
fn by_thread(own: Vec<Option<(Node, Option<ThreadId>)>>, thread_count: u32) -> (Vec<Nodes>, Nodes) {
    let empty = || own.iter().map(|_| None).collect::<Nodes>();
    let mut homes: Vec<Nodes> = (0..thread_count).map(|_| empty()).collect();
    let mut idle = empty();
    for (at, node) in own.into_iter().enumerate() {
        if let Some((node, thread)) = node {
            let home = thread.map_or(&mut idle, |thread| &mut homes[thread as usize]);
            home[at] = Some(node);
        }
    }
    (homes, idle)
}
