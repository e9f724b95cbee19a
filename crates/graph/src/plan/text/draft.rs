//! What the lines of a plan's text say, with their places.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::line::{Line, Word};
use super::members::{self, Claim};
use super::names::Names;
use super::{Place, PlanTextError, Subject};
use crate::plan::{AUTO, Codec, Congestion, Crossing, Pe, Pin, PinnedThread, Plan, ThreadedPort};
use crate::{Edge, OperatorId, Program};

/// Tuples that a queue holds unless the text says otherwise: the default of SPL.
const QUEUE_TUPLES: u32 = 1000;

/// The ring of a crossing: in a smaller one tuples would cross in crumbs, a larger one cannot be made.
const RING_BYTES: RangeInclusive<u64> = 4096..=1 << 31;

/// A plan whose operators may still be patterns.
pub(super) struct Draft<'t> {
    pub pes: Vec<DraftPe<'t>>,
    crossings: Vec<(Place, Crossing)>,
    /// By operator: the name that puts it into a PE.
    claims: Vec<Claim<'t>>,
}

/// The lines on a PE.
pub(super) struct DraftPe<'t> {
    pub place: Place,
    pub operators: Vec<Word<'t>>,
    cores: Vec<u32>,
    host: Option<Arc<str>>,
    queues: Vec<(Place, ThreadedPort)>,
    pins: Vec<(Place, Pin)>,
}

const LINES: &[&str] = &[
    "pe",
    "operators",
    "cores",
    "host",
    "queue",
    "source",
    "receiver",
    "crossing",
    "plan",
];

impl<'t> Draft<'t> {
    pub fn read(
        text: &'t str,
        program: &Program,
        known_medium: KnownMedium<'_>,
    ) -> Result<Draft<'t>, PlanTextError> {
        let mut reader = Reader {
            program,
            known_medium,
            names: Names::new(program),
            draft: Draft {
                pes: Vec::new(),
                crossings: Vec::new(),
                claims: Vec::new(),
            },
        };
        for (number, line) in (1..).zip(text.lines()) {
            reader.line(Line::new(line, number))?;
        }
        // In order of the program, as in every plan.
        let mut draft = reader.draft;
        draft
            .crossings
            .sort_by_key(|(_, crossing)| crossing.place());
        for pe in &mut draft.pes {
            pe.queues
                .sort_by_key(|(_, queue)| (queue.operator, queue.port));
            pe.pins.sort_by_key(|(_, pin)| pin.thread);
        }
        draft.claims = members::resolve(&draft.pes, &reader.names)?;
        Ok(draft)
    }

    /// The plan, not yet checked.
    pub fn plan(&self) -> Plan {
        let pes = self.pes.iter().map(|pe| Pe {
            cores: pe.cores.clone(),
            host: pe.host.clone(),
            threaded: pe.queues.iter().map(|(_, queue)| queue.clone()).collect(),
            pins: pe.pins.iter().map(|(_, pin)| *pin).collect(),
            ..Pe::default()
        });
        let crossings = self.crossings.iter();
        let mut plan = Plan {
            pes: pes.collect(),
            crossings: crossings.map(|(_, crossing)| crossing.clone()).collect(),
        };
        for (id, claim) in (0..).map(OperatorId).zip(&self.claims) {
            plan.pes[claim.pe].operators.push(id);
        }
        plan
    }

    /// Where something stands in the text.
    pub fn place(&self, subject: Subject) -> Place {
        let first = Place { line: 1, column: 1 };
        let pe = |number: u32| self.pes.get(number as usize);
        let found = match subject {
            Subject::Plan => None,
            Subject::Pe(number) => pe(number).map(|pe| pe.place),
            Subject::Operator(_, id) => {
                let claim = self.claims.get(id.0 as usize);
                claim.map(|claim| claim.word.place)
            }
            Subject::Queue(number, at) => {
                let queue = pe(number).and_then(|pe| pe.queues.get(at));
                queue.map(|(place, _)| *place)
            }
            Subject::Pin(number, at) => {
                let pin = pe(number).and_then(|pe| pe.pins.get(at));
                pin.map(|(place, _)| *place)
            }
            Subject::Crossing(link) => {
                let crossing = self.crossings.get(link as usize);
                crossing.map(|(place, _)| *place)
            }
        };
        found.unwrap_or(first)
    }
}

/// Says why there is no such medium, if there is none.
pub(super) type KnownMedium<'a> = &'a dyn Fn(&str) -> Result<(), String>;

struct Reader<'t, 'p> {
    program: &'p Program,
    known_medium: KnownMedium<'p>,
    names: Names<'p>,
    draft: Draft<'t>,
}

impl<'t> Reader<'t, '_> {
    fn line(&mut self, mut line: Line<'t>) -> Result<(), PlanTextError> {
        let Some(word) = line.next() else {
            return Ok(());
        };
        match word.text {
            "plan" => self.title(&mut line)?,
            "pe" => self.pe(word.place, &mut line)?,
            "crossing" => self.crossing(word.place, &mut line)?,
            "operators" => {
                let pe = self.current(word)?;
                while let Some(name) = line.next() {
                    pe.operators.push(name);
                }
            }
            "cores" => {
                let mut cores: Vec<u32> = vec![line.number("the number of a core")?];
                while let Some(core) = line.next() {
                    cores.push(core.number()?);
                }
                self.current(word)?.cores.extend(cores);
            }
            "host" => {
                let name = line.need("the name of a host")?;
                let host = &mut self.current(word)?.host;
                if host.replace(name.text.into()).is_some() {
                    return Err(word.error("a pe has one host"));
                }
            }
            "queue" => {
                self.current(word)?;
                let queue = self.queue(&mut line)?;
                self.current(word)?.queues.push((word.place, queue));
            }
            "source" | "receiver" => {
                self.current(word)?;
                let pin = self.pin(word, &mut line)?;
                self.current(word)?.pins.push((word.place, pin));
            }
            _ => return Err(word.unknown("word of a plan", LINES)),
        }
        line.end()
    }

    /// The PE that a line is about.
    fn current(&mut self, word: Word<'_>) -> Result<&mut DraftPe<'t>, PlanTextError> {
        let pe = self.draft.pes.last_mut();
        pe.ok_or_else(|| word.error(format!("`{}` belongs below a line `pe 0`", word.text)))
    }

    fn title(&self, line: &mut Line<'_>) -> Result<(), PlanTextError> {
        let name = line.need("the name of the program")?;
        if *name.text == *self.program.name {
            return Ok(());
        }
        let (found, wanted) = (name.text, &self.program.name);
        Err(name.error(format!("this is a plan of `{found}`, not of `{wanted}`")))
    }

    fn pe(&mut self, place: Place, line: &mut Line<'_>) -> Result<(), PlanTextError> {
        let word = line.need("the number of the pe")?;
        let (number, next) = (word.number::<usize>()?, self.draft.pes.len());
        if number != next {
            return Err(word.error(format!("pe {next} comes next, not pe {number}")));
        }
        self.draft.pes.push(DraftPe {
            place,
            operators: Vec::new(),
            cores: Vec::new(),
            host: None,
            queues: Vec::new(),
            pins: Vec::new(),
        });
        Ok(())
    }

    /// A source, or the stream of a receiver, and its core.
    fn pin(&self, word: Word<'_>, line: &mut Line<'_>) -> Result<Pin, PlanTextError> {
        let thread = if word.text == "source" {
            PinnedThread::Source(self.names.operator(line.need("a source")?)?)
        } else {
            let (operator, port) = self.names.output(line.need("an output port")?)?;
            PinnedThread::Receiver(Edge { operator, port })
        };
        line.expect("core")?;
        let core = line.number("the number of a core")?;
        Ok(Pin { thread, core })
    }

    fn queue(&self, line: &mut Line<'_>) -> Result<ThreadedPort, PlanTextError> {
        let (operator, port) = self.names.input(line.need("an input port")?)?;
        let mut queue = ThreadedPort {
            operator,
            port,
            congestion: Congestion::Wait,
            tuples: QUEUE_TUPLES,
            core: None,
        };
        loop {
            if let Some(tuples) = line.number_if_any()? {
                queue.tuples = tuples;
                continue;
            }
            let Some(word) = line.next() else {
                return Ok(queue);
            };
            match word.text {
                "wait" => queue.congestion = Congestion::Wait,
                "dropFirst" => queue.congestion = Congestion::DropFirst,
                "dropLast" => queue.congestion = Congestion::DropLast,
                "core" => queue.core = Some(line.number("the number of a core")?),
                _ => {
                    let words = ["wait", "dropFirst", "dropLast", "core"];
                    return Err(word.unknown("word of a queue", &words));
                }
            }
        }
    }

    fn crossing(&mut self, place: Place, line: &mut Line<'_>) -> Result<(), PlanTextError> {
        let (operator, port) = self.names.output(line.need("an output port")?)?;
        line.expect("->")?;
        line.expect("pe")?;
        let mut to: Vec<u32> = vec![line.number("the number of a pe")?];
        while let Some(pe) = line.number_if_any()? {
            to.push(pe);
        }
        to.sort_unstable();
        let mut crossing = Crossing {
            from: Edge { operator, port },
            to,
            medium: AUTO.into(),
            codec: Codec::default(),
            ring_bytes: None,
            batch: None,
        };
        while let Some(word) = line.next() {
            match word.text {
                "on" => crossing.medium = self.medium(line.need("a medium")?)?,
                "codec" => crossing.codec = codec(line.need("a codec")?)?,
                "ring" => crossing.ring_bytes = Some(ring(line.need("the size in bytes")?)?),
                "batch" => {
                    crossing.batch = Some((
                        line.number("the shortest batching time in microseconds")?,
                        line.number("the longest batching time in microseconds")?,
                        line.number("the size of a batch in bytes")?,
                    ));
                }
                _ => {
                    let words = ["on", "codec", "ring", "batch"];
                    return Err(word.unknown("word of a crossing", &words));
                }
            }
        }
        self.draft.crossings.push((place, crossing));
        Ok(())
    }

    fn medium(&self, word: Word<'_>) -> Result<Arc<str>, PlanTextError> {
        if word.text != AUTO {
            (self.known_medium)(word.text).map_err(|message| word.error(message))?;
        }
        Ok(word.text.into())
    }
}

fn ring(word: Word<'_>) -> Result<u64, PlanTextError> {
    let bytes = word.number()?;
    if RING_BYTES.contains(&bytes) {
        return Ok(bytes);
    }
    let (least, most) = (RING_BYTES.start(), RING_BYTES.end());
    Err(word.error(format!("a ring has {least} to {most} bytes, not {bytes}")))
}

fn codec(word: Word<'_>) -> Result<Codec, PlanTextError> {
    match word.text {
        "facade" => Ok(Codec::Facade),
        "normal" => Ok(Codec::Normal),
        _ => Err(word.unknown("codec", &["facade", "normal"])),
    }
}
