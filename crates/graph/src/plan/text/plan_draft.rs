//! The reader of a plan's text: from lines to a draft that knows the position of each part.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::line::{PlanTextLine, PlanTextWord};
use super::operator_lookup::OperatorLookup;
use super::operator_patterns::{self, OperatorPattern};
use super::pe_draft::PeDraft;
use super::plan_text_error::{PlanTextError, PlanTextPos};
use crate::plan::{
    AUTO_MEDIUM, CongestionPolicy, Crossing, CrossingCodec, CrossingRails, PeId, Pin, PinnedThread,
    Plan, PlanComment, PlanPart, ThreadPool, ThreadedPort,
};
use crate::{OperatorId, OutPortId, Program};

/// Tuples that a queue holds unless the text says otherwise: the default of SPL.
const QUEUE_TUPLES_DEFAULT: u32 = 1000;

/// Sizes of a crossing's ring in bytes. A smaller ring would split most tuples into pieces; a
/// larger one cannot be mapped.
const RING_BYTES_RANGE: RangeInclusive<u64> = 4096..=1 << 31;

/// A plan as its text has it, with the position of each part: every operator has a PE, but nothing
/// is checked or derived yet.
pub struct PlanDraft<'t> {
    pes: Vec<PeDraft<'t>>,
    crossings: Vec<(PlanTextPos, Crossing)>,
    /// By operator: the name that puts it into a PE.
    operator_patterns: Vec<OperatorPattern<'t>>,
}

/// The words that a line may begin with.
const LINE_KEYWORDS: &[&str] = &[
    "pe",
    "operators",
    "cores",
    "host",
    "pool",
    "queue",
    "source",
    "receiver",
    "crossing",
    "plan",
];

/// The words of a crossing, behind the PEs that it goes to.
const CROSSING_KEYWORDS: &[&str] = &["on", "codec", "ring", "batch", "rails"];

impl<'t> PlanDraft<'t> {
    /// Reads the text of a program's plan. `check_medium` gets the name of each medium but
    /// [`AUTO_MEDIUM`], with its settings, and returns the reason if there is no such medium or it
    /// has no such settings.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(
        text: &'t str,
        program: &Program,
        check_medium: &dyn Fn(&str, &str) -> Result<(), String>,
    ) -> Result<PlanDraft<'t>, PlanTextError> {
        let mut reader = PlanTextParser {
            program,
            check_medium,
            operators: OperatorLookup::new(program),
            draft: PlanDraft {
                pes: Vec::new(),
                crossings: Vec::new(),
                operator_patterns: Vec::new(),
            },
        };
        for (number, line) in (1..).zip(text.lines()) {
            reader.parse_line(PlanTextLine::new(line, number))?;
        }
        // Every plan has its parts in order of the program.
        let mut draft = reader.draft;
        draft
            .crossings
            .sort_by_key(|(_, crossing)| crossing.sort_key());
        for pe in &mut draft.pes {
            pe.queues
                .sort_by_key(|(_, queue)| (queue.operator, queue.port));
            pe.pins.sort_by_key(|(_, pin)| pin.thread);
        }
        draft.operator_patterns = operator_patterns::resolve(&draft.pes, &reader.operators)?;
        Ok(draft)
    }

    /// The plan that the text describes. Streams that the text leaves out have no crossing.
    pub fn plan(&self) -> Plan {
        let crossings = self.crossings.iter();
        let mut plan = Plan {
            pes: self.pes.iter().map(PeDraft::pe_plan).collect(),
            crossings: crossings.map(|(_, crossing)| crossing.clone()).collect(),
        };
        for (id, pattern) in (0..).map(OperatorId).zip(&self.operator_patterns) {
            plan.pes[pattern.pe].operators.push(id);
        }
        plan
    }

    /// A mistake at the position of a part of the plan; at the text's beginning, if the text has no
    /// line for that part.
    pub fn error_at(&self, part: PlanPart, message: impl Into<String>) -> PlanTextError {
        self.pos_of(part).error(message)
    }

    fn pos_of(&self, part: PlanPart) -> PlanTextPos {
        let first = PlanTextPos { line: 1, column: 1 };
        let pe = |id: PeId| self.pes.get(id.0 as usize);
        let found = match part {
            PlanPart::Plan => None,
            PlanPart::Pe(id) => pe(id).map(|pe| pe.pos),
            PlanPart::Operator(_, id) => {
                let pattern = self.operator_patterns.get(id.0 as usize);
                pattern.map(|pattern| pattern.word.pos)
            }
            PlanPart::Pool(id) => pe(id).and_then(|pe| Some(pe.pool?.0)),
            PlanPart::Queue(id, at) => {
                let queue = pe(id).and_then(|pe| pe.queues.get(at));
                queue.map(|(pos, _)| *pos)
            }
            PlanPart::Pin(id, at) => {
                let pin = pe(id).and_then(|pe| pe.pins.get(at));
                pin.map(|(pos, _)| *pos)
            }
            PlanPart::Crossing(id) => {
                let crossing = self.crossings.get(id.0 as usize);
                crossing.map(|(pos, _)| *pos)
            }
        };
        found.unwrap_or(first)
    }
}

struct PlanTextParser<'t, 'p> {
    program: &'p Program,
    check_medium: &'p dyn Fn(&str, &str) -> Result<(), String>,
    operators: OperatorLookup<'p>,
    draft: PlanDraft<'t>,
}

impl<'t> PlanTextParser<'t, '_> {
    fn parse_line(&mut self, mut line: PlanTextLine<'t>) -> Result<(), PlanTextError> {
        let Some(word) = line.next() else {
            return Ok(());
        };
        match word.text {
            "plan" => self.parse_title(&mut line)?,
            "pe" => self.parse_pe(word.pos, &mut line)?,
            "crossing" => self.parse_crossing(word.pos, &mut line)?,
            "operators" => {
                let pe = self.current_pe(word)?;
                while let Some(name) = line.next() {
                    pe.operators.push(name);
                }
            }
            "cores" => {
                let mut cores: Vec<u32> = vec![line.number("the number of a core")?];
                while let Some(core) = line.next() {
                    cores.push(core.number()?);
                }
                self.current_pe(word)?.cores.extend(cores);
            }
            "host" => {
                let name = line.require("the name of a host")?;
                let host = &mut self.current_pe(word)?.host;
                if host.replace(name.text.into()).is_some() {
                    return Err(word.error("a pe has one host"));
                }
            }
            "pool" => {
                let pool = parse_pool(&mut line)?;
                let before = &mut self.current_pe(word)?.pool;
                if before.replace((word.pos, pool)).is_some() {
                    return Err(word.error("a pe has one pool"));
                }
            }
            "queue" => {
                self.current_pe(word)?;
                let queue = self.parse_queue(&mut line)?;
                self.current_pe(word)?.queues.push((word.pos, queue));
            }
            "source" | "receiver" => {
                self.current_pe(word)?;
                let pin = self.parse_pin(word, &mut line)?;
                self.current_pe(word)?.pins.push((word.pos, pin));
            }
            _ => return Err(word.unknown("word of a plan", LINE_KEYWORDS)),
        }
        line.expect_end()
    }

    /// The PE that the line beginning with `word` belongs to.
    fn current_pe(&mut self, word: PlanTextWord<'_>) -> Result<&mut PeDraft<'t>, PlanTextError> {
        let pe = self.draft.pes.last_mut();
        pe.ok_or_else(|| word.error(format!("`{}` belongs below a line `pe 0`", word.text)))
    }

    fn parse_title(&self, line: &mut PlanTextLine<'_>) -> Result<(), PlanTextError> {
        let name = line.require("the name of the program")?;
        if *name.text == *self.program.name {
            return Ok(());
        }
        let (found, wanted) = (name.text, &self.program.name);
        Err(name.error(format!("this is a plan of `{found}`, not of `{wanted}`")))
    }

    fn parse_pe(
        &mut self,
        pos: PlanTextPos,
        line: &mut PlanTextLine<'_>,
    ) -> Result<(), PlanTextError> {
        let word = line.require("the number of the pe")?;
        let (number, next) = (word.number::<usize>()?, self.draft.pes.len());
        if number != next {
            return Err(word.error(format!("pe {next} comes next, not pe {number}")));
        }
        self.draft.pes.push(PeDraft::new(pos));
        Ok(())
    }

    /// A source, or the stream of a receiver, and its core.
    fn parse_pin(
        &self,
        word: PlanTextWord<'_>,
        line: &mut PlanTextLine<'_>,
    ) -> Result<Pin, PlanTextError> {
        let thread = if word.text == "source" {
            PinnedThread::Source(self.operators.operator(line.require("a source")?)?)
        } else {
            let (operator, port) = self.operators.output(line.require("an output port")?)?;
            PinnedThread::Receiver(OutPortId { operator, port })
        };
        line.expect("core")?;
        let core = line.number("the number of a core")?;
        Ok(Pin { thread, core })
    }

    fn parse_queue(&self, line: &mut PlanTextLine<'_>) -> Result<ThreadedPort, PlanTextError> {
        let (operator, port) = self.operators.input(line.require("an input port")?)?;
        let mut queue = ThreadedPort {
            operator,
            port,
            congestion: CongestionPolicy::Wait,
            tuples_max: QUEUE_TUPLES_DEFAULT,
            core: None,
            is_pooled: false,
        };
        loop {
            if let Some(tuples) = line.optional_number()? {
                queue.tuples_max = tuples;
                continue;
            }
            let Some(word) = line.next() else {
                return Ok(queue);
            };
            match word.text {
                "wait" => queue.congestion = CongestionPolicy::Wait,
                "dropFirst" => queue.congestion = CongestionPolicy::DropFirst,
                "dropLast" => queue.congestion = CongestionPolicy::DropLast,
                "core" => queue.core = Some(line.number("the number of a core")?),
                "pooled" => queue.is_pooled = true,
                _ => {
                    let words = ["wait", "dropFirst", "dropLast", "core", "pooled"];
                    return Err(word.unknown("word of a queue", &words));
                }
            }
        }
    }

    fn parse_crossing(
        &mut self,
        pos: PlanTextPos,
        line: &mut PlanTextLine<'_>,
    ) -> Result<(), PlanTextError> {
        let (operator, port) = self.operators.output(line.require("an output port")?)?;
        line.expect("->")?;
        line.expect("pe")?;
        let mut to = vec![PeId(line.number("the number of a pe")?)];
        while let Some(pe) = line.optional_number()? {
            to.push(PeId(pe));
        }
        to.sort_unstable();
        let mut crossing = Crossing {
            from: OutPortId { operator, port },
            to,
            medium: AUTO_MEDIUM.into(),
            medium_settings: "".into(),
            medium_reason: PlanComment::default(),
            codec: CrossingCodec::default(),
            ring_bytes: None,
            batch: None,
            rails: CrossingRails::None,
        };
        while let Some(word) = line.next() {
            match word.text {
                "on" => {
                    let medium = line.require("a medium")?;
                    crossing.medium_settings = self.parse_medium(medium, line)?;
                    crossing.medium = medium.text.into();
                }
                "codec" => crossing.codec = parse_codec(line.require("a codec")?)?,
                "ring" => {
                    crossing.ring_bytes = Some(parse_ring(line.require("the size in bytes")?)?)
                }
                "batch" => {
                    crossing.batch = Some((
                        line.number("the shortest batching time in microseconds")?,
                        line.number("the longest batching time in microseconds")?,
                        line.number("the size of a batch in bytes")?,
                    ));
                }
                "rails" => crossing.rails = parse_rails(word, line)?,
                _ => return Err(word.unknown("word of a crossing", CROSSING_KEYWORDS)),
            }
        }
        self.draft.crossings.push((pos, crossing));
        Ok(())
    }

    /// The settings behind the name of a medium: words with an equals sign.
    fn parse_medium(
        &self,
        word: PlanTextWord<'_>,
        line: &mut PlanTextLine<'_>,
    ) -> Result<Arc<str>, PlanTextError> {
        let mut settings: Vec<&str> = Vec::new();
        while let Some(setting) = line.next_if(|text| text.contains('=')) {
            if word.text == AUTO_MEDIUM {
                return Err(setting.error("settings belong behind the name of a medium"));
            }
            settings.push(setting.text);
        }
        let settings = settings.join(" ");
        if word.text != AUTO_MEDIUM {
            let checked = (self.check_medium)(word.text, &settings);
            checked.map_err(|message| word.error(message))?;
        }
        Ok(settings.into())
    }
}

/// The threads of a pool, which follow the word `pool`.
fn parse_pool(line: &mut PlanTextLine<'_>) -> Result<ThreadPool, PlanTextError> {
    let threads = line.number("the number of threads")?;
    let elastic_max = match line.next_if(|word| word == "elastic") {
        Some(_) => Some(line.number("the greatest number of threads")?),
        None => None,
    };
    Ok(ThreadPool {
        threads,
        elastic_max,
    })
}

fn parse_ring(word: PlanTextWord<'_>) -> Result<u64, PlanTextError> {
    let bytes = word.number()?;
    if RING_BYTES_RANGE.contains(&bytes) {
        return Ok(bytes);
    }
    let (least, most) = (RING_BYTES_RANGE.start(), RING_BYTES_RANGE.end());
    Err(word.error(format!("a ring has {least} to {most} bytes, not {bytes}")))
}

/// The rails of a crossing, which follow the word `rails`: addresses, or `mptcp`.
fn parse_rails(
    rails: PlanTextWord<'_>,
    line: &mut PlanTextLine<'_>,
) -> Result<CrossingRails, PlanTextError> {
    if line.next_if(|word| word == "mptcp").is_some() {
        return Ok(CrossingRails::Mptcp);
    }
    let mut addresses = Vec::new();
    let is_rail = |word: &str| !CROSSING_KEYWORDS.contains(&word);
    while let Some(word) = line.next_if(is_rail) {
        let address = parse_rail(word)?;
        if address.is_unspecified() || address.is_multicast() {
            return Err(word.error(format!("{address} is not the address of a single path")));
        }
        if addresses.contains(&address) {
            return Err(word.error(format!(
                "{address} is a rail already: each path has its own"
            )));
        }
        addresses.push(address);
    }
    match addresses.len() {
        0 | 1 => Err(rails.error(
            "`rails` needs two addresses or more, one for each path, or the word `mptcp`; a stream \
             with one path has no `rails`",
        )),
        count if count > Crossing::RAILS_MAX => {
            let most = Crossing::RAILS_MAX;
            Err(rails.error(format!("a crossing has at most {most} rails, not {count}")))
        }
        _ => Ok(CrossingRails::Striped(addresses)),
    }
}

/// The address of a rail.
fn parse_rail(word: PlanTextWord<'_>) -> Result<IpAddr, PlanTextError> {
    let text = word.text;
    text.parse().map_err(|_| {
        let is_slip = syntax::nearest(text, CROSSING_KEYWORDS.iter().copied()).is_some();
        if text == "mptcp" {
            word.error("rails are addresses or the word `mptcp`, not both")
        } else if is_slip && !text.contains(['.', ':']) {
            word.unknown("word of a crossing", CROSSING_KEYWORDS)
        } else {
            word.error(format!(
                "`{text}` is no IP address: a rail is an address of the sender's host, and names \
                 are not looked up"
            ))
        }
    })
}

fn parse_codec(word: PlanTextWord<'_>) -> Result<CrossingCodec, PlanTextError> {
    match word.text {
        "facade" => Ok(CrossingCodec::Facade),
        "normal" => Ok(CrossingCodec::Normal),
        _ => Err(word.unknown("codec", &["facade", "normal"])),
    }
}
