//! Which PEs are blocked, on which others, and for how long.

use std::collections::BTreeSet;

use engine::{CrossingSample, JobSample, LibraryCallSample, PeSample};

/// Nanoseconds without new counters after which a process is reported as not running: it has missed
/// four writes.
const SILENT_NS_MAX: u64 = 2_000_000_000;

/// Lines for each silent process, for each call of a library that does not return, for each full
/// stream and queue that a PE waits for, and for the PEs that hold others up.
pub fn wait_lines(job: &JobSample) -> String {
    let mut text: String = job.pes.iter().filter_map(silence_line).collect();
    text.extend(job.pes.iter().map(library_lines));
    for pe in &job.pes {
        for crossing in pe.links.iter().filter(|crossing| crossing.is_sender) {
            if let Some(waiting) = crossing.waiting_ns {
                let (to, seconds) = (names(&awaited(crossing)), seconds(waiting));
                text += &format!(
                    "pe {} waits for {to}: {} is full for {seconds:.1} s\n",
                    pe.pe, crossing.stream
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

/// The line for a process whose counters are old: it is stopped, or gets no core.
fn silence_line(pe: &PeSample) -> Option<String> {
    let (number, pid, seconds) = (pe.pe, pe.pid, seconds(pe.silent_ns));
    (pe.silent_ns > SILENT_NS_MAX).then(|| {
        format!("pe {number} (process {pid}) does not run: its numbers are {seconds:.1} s old\n")
    })
}

/// Lines for the calls in which a PE's threads are held up by a library.
fn library_lines(pe: &PeSample) -> String {
    let line = |call: &LibraryCallSample| {
        let (number, seconds) = (pe.pe, seconds(call.inside_ns));
        let (function, library, stream) = (&call.function, &call.library, &call.stream);
        format!("pe {number} is in `{function}` of {library} for {seconds:.1} s: {stream}\n")
    };
    pe.library_calls.iter().map(line).collect()
}

/// Lines for the PEs that others wait for and that do not wait themselves.
fn blocker_lines(job: &JobSample) -> String {
    let mut text = String::new();
    for pe in job.pes.iter().filter(|pe| awaited_by(pe).is_empty()) {
        let blocked: Vec<u32> = blocked_by(job, pe.pe).into_iter().collect();
        if !blocked.is_empty() {
            text += &format!("pe {} holds up {}\n", pe.pe, names(&blocked));
        }
    }
    text
}

/// The PEs that wait for a PE, directly or through others.
fn blocked_by(job: &JobSample, blocker: u32) -> BTreeSet<u32> {
    let mut blocked = BTreeSet::new();
    let mut todo = vec![blocker];
    while let Some(awaited) = todo.pop() {
        let waiting = job
            .pes
            .iter()
            .filter(|pe| awaited_by(pe).contains(&awaited));
        for pe in waiting {
            if pe.pe != blocker && blocked.insert(pe.pe) {
                todo.push(pe.pe);
            }
        }
    }
    blocked
}

/// The PEs that a PE waits for.
fn awaited_by(pe: &PeSample) -> BTreeSet<u32> {
    let full = pe
        .links
        .iter()
        .filter(|crossing| crossing.is_sender && crossing.waiting_ns.is_some());
    // A ring within the PE can be full, too.
    full.flat_map(awaited)
        .filter(|&other| other != pe.pe)
        .collect()
}

/// The PEs that the sender of a full stream waits for: the slowest receiver, if it is known, else
/// all.
fn awaited(crossing: &CrossingSample) -> Vec<u32> {
    match &crossing.end {
        Some(end) => vec![end.slowest],
        None => crossing.to.clone(),
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

    /// A PE that sends to the PEs `to`, and waits for `slowest`.
    fn pe(number: u32, to: &[u32], slowest: Option<u32>) -> PeSample {
        let crossing = CrossingSample {
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
                rails: Vec::new(),
            }),
            latency: None,
        };
        PeSample {
            pe: number,
            pid: 1,
            sampled_ns: 1,
            silent_ns: 400_000_000,
            operators: Vec::new(),
            links: vec![crossing],
            queues: Vec::new(),
            taps: None,
            plan_words: None,
            library_calls: Vec::new(),
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
    fn a_library_that_does_not_return_is_named() {
        let mut job = job(vec![pe(0, &[1], None), pe(1, &[], None)]);
        job.pes[1].library_calls = vec![LibraryCallSample {
            library: "/media/libthalweg_medium_x.so".to_owned(),
            function: "poll".to_owned(),
            stream: "A.0".to_owned(),
            inside_ns: 3_210_000_000,
        }];
        let line = "pe 1 is in `poll` of /media/libthalweg_medium_x.so for 3.2 s: A.0\n";
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
