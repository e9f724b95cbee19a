//! Who is blocked, on whom, and for how long.

use std::collections::BTreeSet;

use engine::{CrossingSample, JobSample, PeSample};

/// A process that has not written its counters for so long does not run: some beats are missing.
const SILENT_NS_MAX: u64 = 2_000_000_000;

/// A line for each process that is silent, for each stream and each queue that somebody waits for,
/// then who holds the others up.
pub fn wait_lines(job: &JobSample) -> String {
    let mut text: String = job.pes.iter().filter_map(silence_line).collect();
    for pe in &job.pes {
        for link in pe.links.iter().filter(|link| link.is_sender) {
            if let Some(waiting) = link.waiting_ns {
                let (to, seconds) = (names(&awaited(link)), seconds(waiting));
                text += &format!(
                    "pe {} waits for {to}: {} is full for {seconds:.1} s\n",
                    pe.pe, link.stream
                );
            }
        }
        for queue in &pe.queues {
            if let Some(waiting) = queue.waiting_ns {
                let (name, seconds) = (&queue.operator, seconds(waiting));
                text += &format!("pe {} waits: {name} is full for {seconds:.1} s\n", pe.pe);
            }
        }
    }
    text + &blocker_lines(job)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// That a process is stopped, or gets no core: its numbers are old.
fn silence_line(pe: &PeSample) -> Option<String> {
    let (number, pid, seconds) = (pe.pe, pe.pid, seconds(pe.silent_ns));
    (pe.silent_ns > SILENT_NS_MAX).then(|| {
        format!("pe {number} (process {pid}) does not run: its numbers are {seconds:.1} s old\n")
    })
}

/// PEs that others wait for, and that wait for nobody.
fn blocker_lines(job: &JobSample) -> String {
    let mut text = String::new();
    for pe in job.pes.iter().filter(|pe| awaited_by(pe).is_empty()) {
        let held: Vec<u32> = blocked_by(job, pe.pe).into_iter().collect();
        if !held.is_empty() {
            text += &format!("pe {} holds up {}\n", pe.pe, names(&held));
        }
    }
    text
}

/// Those that wait for a PE, directly or not.
fn blocked_by(job: &JobSample, culprit: u32) -> BTreeSet<u32> {
    let mut held = BTreeSet::new();
    let mut todo = vec![culprit];
    while let Some(awaited) = todo.pop() {
        let waiting = job
            .pes
            .iter()
            .filter(|pe| awaited_by(pe).contains(&awaited));
        for pe in waiting {
            if pe.pe != culprit && held.insert(pe.pe) {
                todo.push(pe.pe);
            }
        }
    }
    held
}

/// Whom a PE waits for.
fn awaited_by(pe: &PeSample) -> BTreeSet<u32> {
    let full = pe
        .links
        .iter()
        .filter(|link| link.is_sender && link.waiting_ns.is_some());
    // A ring within the PE can be full too.
    full.flat_map(awaited)
        .filter(|&other| other != pe.pe)
        .collect()
}

/// Whom the sender of a full stream waits for: the slowest receiver, if that is known.
fn awaited(link: &CrossingSample) -> Vec<u32> {
    match &link.end {
        Some(end) => vec![end.slowest],
        None => link.to.clone(),
    }
}

fn names(pes: &[u32]) -> String {
    let names: Vec<_> = pes.iter().map(|pe| format!("pe {pe}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use engine::SenderSample;

    use super::*;

    /// A PE that sends to others, and waits for the one that is given.
    fn pe(number: u32, to: &[u32], slowest: Option<u32>) -> PeSample {
        let link = CrossingSample {
            link: number,
            stream: format!("S{number}"),
            from: number,
            to: to.to_vec(),
            is_sender: true,
            frames: 0,
            bytes: 0,
            waits: 1,
            wait_ns: 0,
            waiting_ns: slowest.map(|_| 1_500_000_000),
            end: slowest.map(|slowest| SenderSample {
                batches: 0,
                queued_bytes: 1,
                slowest,
                reconnects: 0,
                refusals: 0,
            }),
            latency: None,
        };
        PeSample {
            pe: number,
            pid: 1,
            sampled_ns: 1,
            silent_ns: 400_000_000,
            operators: Vec::new(),
            links: vec![link],
            queues: Vec::new(),
        }
    }

    fn job(pes: Vec<PeSample>) -> JobSample {
        JobSample {
            job: 1,
            name: "Main".to_owned(),
            began_ms: 0,
            pe_count: pes.len() as u32,
            pes,
        }
    }

    #[test]
    fn the_last_of_a_row_holds_up_all_before_it() {
        let job = job(vec![
            pe(0, &[1, 3], Some(1)),
            pe(1, &[2], Some(2)),
            pe(2, &[], None),
            pe(3, &[], None),
        ]);
        let lines = "pe 0 waits for pe 1: S0 is full for 1.5 s\n\
                     pe 1 waits for pe 2: S1 is full for 1.5 s\n\
                     pe 2 holds up pe 0, pe 1\n";
        assert_eq!(wait_lines(&job), lines);
    }

    #[test]
    fn a_process_that_is_silent_is_named() {
        let mut job = job(vec![pe(0, &[1], None), pe(1, &[], None)]);
        job.pes[1].pid = 4711;
        job.pes[1].silent_ns = 2_310_000_000;
        let line = "pe 1 (process 4711) does not run: its numbers are 2.3 s old\n";
        assert_eq!(wait_lines(&job), line);
    }

    #[test]
    fn nobody_who_waits_is_nothing_to_say() {
        assert_eq!(
            wait_lines(&job(vec![pe(0, &[1], None), pe(1, &[], None)])),
            ""
        );
    }
}
