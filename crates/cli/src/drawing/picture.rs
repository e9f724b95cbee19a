//! The boxes and arrows of a picture, before they are laid out: hosts, processes and operators with
//! their lines of text, and the streams with their labels.
//!
//! ```text
//!   host near
//!     pe 0, 1 thread
//!     composite Parse
//!       +--------+ Ticks by shm, 1.2 M tuples/s
//!       | Lines  |-------------------------------->     an outlet: the label and the beginning
//!       +--------+                                      of the arrows of a stream
//! ```
//! The outlets of a box stand in a strip at its right side, which belongs to the room of the box:
//! no label lies on another box.

use std::collections::{BTreeSet, HashMap};

use engine::ProgramThread;
use graph::{OperatorId, OutPortId, PeId, PortIndex, Program};

use super::common_name::common_name;
use super::composite_levels::{CompositeLevel, composite_levels};
use super::drawn_plan::DrawnPlan;
use super::nested_layout::LayoutBox;
use super::operator_groups::OperatorGroups;
use super::profile_costs::{CostShade, DrawnCost, ProfileCosts, rate_text, share_text};
use super::{DrawnEdge, DrawnProgram, StreamWay, drawn_edges, unqualified_name};

/// Estimated pixels of one character of a name; sizes the boxes.
const LETTER_WIDTH: u32 = 8;

/// Estimated pixels of one character of small text.
const SMALL_LETTER_WIDTH: u32 = 7;

/// Pixels from one line of text in a box to the next.
pub(super) const LINE_HEIGHT: u32 = 15;

/// Pixels from one outlet of a box to the next.
const OUTLET_HEIGHT: u32 = 18;

/// Pixels at the left and right of text in a box.
pub(super) const TEXT_MARGIN: u32 = 8;

/// Characters of a line that are shown at most; the title of the box has them all.
const LETTERS_MAX: usize = 44;

/// Threads of a process that are listed at most.
const THREADS_LISTED: usize = 6;

/// Names that the title of a box has at most.
const NAMES_MAX: usize = 60;

/// The kinds of box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoxKind {
    /// A host with its processes.
    Host,
    /// A process with its operators.
    Process,
    /// A composite with its operators, or copies of one that are alike.
    Composite,
    /// One operator, several that are alike, or a composite that is not shown from within.
    Operator,
}

/// A box of a picture with its text.
pub(super) struct PictureBox {
    /// The kind of the box.
    pub kind: BoxKind,
    /// Container and least size of the box.
    pub layout: LayoutBox,
    /// Pixels at the right of an operator's box that its outlets take.
    pub outlet_width: u32,
    /// Lines of text in the box, or above its children; the first is its name.
    pub lines: Vec<String>,
    /// Lines of text below the children of a process.
    pub notes: Vec<String>,
    /// Full text of the box, which browsers show when a pointer stands on it.
    pub title: String,
    /// Shade of an operator, if a profile is drawn.
    pub shade: Option<CostShade>,
}

/// A stream, or several that are alike, where it leaves a box.
pub(super) struct StreamOutlet {
    /// Index of the box.
    pub from: usize,
    /// Pixels below the upper end of the box.
    pub y: u32,
    /// Names of the streams, the way and the rate.
    pub label: String,
    /// Tuples a second of all streams of the outlet, if they are known.
    pub rate: Option<f64>,
}

/// An arrow from an outlet to a box.
pub(super) struct PictureArrow {
    /// Index of the outlet.
    pub outlet: usize,
    /// Index of the box at which the arrow ends.
    pub to: usize,
    /// Whether the arrow ends in a control port.
    pub is_control: bool,
    /// Whether the arrow leads to another process.
    pub is_crossing: bool,
}

/// All boxes and arrows of a picture.
pub(super) struct Picture {
    /// Boxes; containers stand before their children.
    pub boxes: Vec<PictureBox>,
    /// Beginnings of the streams, in order of the boxes.
    pub outlets: Vec<StreamOutlet>,
    /// Arrows from outlets to boxes.
    pub arrows: Vec<PictureArrow>,
    /// Tuples a second of the fastest outlet; 0 without a profile.
    pub fastest_rate: f64,
    /// Whether any box stands for several operators.
    pub is_collapsed: bool,
}

/// Estimated width of small text in pixels. Letters beyond ASCII may be twice as wide.
pub(super) fn small_text_width(text: &str) -> u32 {
    letters(text) * SMALL_LETTER_WIDTH
}

fn letters(text: &str) -> u32 {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// A line as far as it is shown.
fn shortened(line: String) -> String {
    match line.chars().count() > LETTERS_MAX {
        true => line.chars().take(LETTERS_MAX - 1).chain(['…']).collect(),
        false => line,
    }
}

impl Picture {
    /// The picture of a program.
    pub fn new(drawn: DrawnProgram<'_>) -> Picture {
        let plan = DrawnPlan::new(drawn.program, drawn.plan);
        let edges = drawn_edges(drawn.program, &plan);
        let mut groups = OperatorGroups::new(drawn.program, &plan, &edges);
        if let Some(depth) = drawn.depth {
            groups = groups.folded(drawn.program, depth);
        }
        let threads = drawn.plan.and_then(|plan| {
            // A plan that is not complete has no threads yet.
            engine::program_threads(drawn.program, plan).ok()
        });
        let builder = PictureBuilder {
            program: drawn.program,
            plan,
            edges,
            groups,
            threads: threads.unwrap_or_default(),
            costs: drawn.profile.map(ProfileCosts::new),
            picture: Picture {
                boxes: Vec::new(),
                outlets: Vec::new(),
                arrows: Vec::new(),
                fastest_rate: 0.0,
                is_collapsed: false,
            },
        };
        builder.build()
    }
}

struct PictureBuilder<'a> {
    program: &'a Program,
    plan: DrawnPlan<'a>,
    edges: Vec<DrawnEdge>,
    groups: OperatorGroups,
    /// The threads of each PE; empty without a complete plan.
    threads: Vec<Vec<ProgramThread>>,
    costs: Option<ProfileCosts<'a>>,
    picture: Picture,
}

/// The groups that a stream goes to, each with the kind of port and the way there.
type OutletTargets = BTreeSet<(usize, bool, StreamWay)>;

impl PictureBuilder<'_> {
    fn build(mut self) -> Picture {
        let process_boxes = self.add_hosts_and_processes();
        let parents = self.add_composites(&process_boxes);
        let first = self.picture.boxes.len();
        for (group, parent) in parents.into_iter().enumerate() {
            self.add_operator(group, parent);
        }
        self.add_outlets(first);
        let mut boxes = self.groups.operators.iter().zip(&self.groups.folded);
        self.picture.is_collapsed = self.groups.are_collapsed
            && boxes.any(|(alike, folded)| match folded {
                Some(composite) => composite.len() > 1,
                None => alike.len() > 1,
            });
        self.picture
    }

    /// Adds the boxes around operators, and returns the box of each group of PEs.
    fn add_hosts_and_processes(&mut self) -> Vec<usize> {
        let pes: Vec<_> = self.plan.pes().collect();
        let host_of = |alike: &[PeId]| {
            let first = alike.first().and_then(|id| pes.get(id.0 as usize));
            first.and_then(|(_, pe)| pe.host.clone())
        };
        let mut hosts = Vec::new();
        for alike in &self.groups.pes {
            let host = host_of(alike);
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        for host in &hosts {
            let name = match host {
                Some(host) => format!("host {host}"),
                None => "host of the command".to_owned(),
            };
            self.add_container(BoxKind::Host, None, vec![name], Vec::new());
        }
        let mut boxes = Vec::new();
        for alike in self.groups.pes.clone() {
            let host = host_of(&alike);
            let parent = hosts.iter().position(|other| *other == host);
            let (lines, notes) = (self.process_lines(&alike), self.thread_notes(&alike));
            boxes.push(self.add_container(BoxKind::Process, parent, lines, notes));
        }
        boxes
    }

    /// Adds the boxes of composites, and returns the innermost box around each group.
    fn add_composites(&mut self, process_boxes: &[usize]) -> Vec<Option<usize>> {
        let mut known: HashMap<(Option<usize>, CompositeLevel), usize> = HashMap::new();
        let mut parents = Vec::new();
        for group in 0..self.groups.operators.len() {
            let mut levels = composite_levels(self.program, &self.groups.operators[group]);
            if let Some(folded) = &self.groups.folded[group] {
                // The box of the group is that of the composite.
                let own = levels.iter().position(|level| level == folded);
                levels.truncate(own.unwrap_or(levels.len()));
            }
            let mut parent = self.groups.pe_group_of[group].map(|pes| process_boxes[pes]);
            for level in levels {
                let key = (parent, level);
                let found = known.get(&key).copied();
                parent = Some(found.unwrap_or_else(|| {
                    let names: Vec<&str> = key.1.iter().map(|name| &**name).collect();
                    let name = format!("composite {}", common_name(&names));
                    let lines = vec![name];
                    let added = self.add_container(BoxKind::Composite, key.0, lines, Vec::new());
                    known.insert(key, added);
                    added
                }));
            }
            parents.push(parent);
        }
        parents
    }

    fn add_container(
        &mut self,
        kind: BoxKind,
        parent: Option<usize>,
        lines: Vec<String>,
        notes: Vec<String>,
    ) -> usize {
        let title = [&lines[..], &notes].concat().join("\n");
        let lines: Vec<String> = lines.into_iter().map(shortened).collect();
        let notes: Vec<String> = notes.into_iter().map(shortened).collect();
        let first = lines.first().map_or(0, |line| letters(line) * LETTER_WIDTH);
        let others = lines
            .iter()
            .skip(1)
            .chain(&notes)
            .map(|line| small_text_width(line));
        self.picture.boxes.push(PictureBox {
            kind,
            layout: LayoutBox {
                parent,
                width: others.fold(first, u32::max),
                height: 0,
                head: lines.len() as u32 * LINE_HEIGHT,
                foot: notes.len() as u32 * LINE_HEIGHT,
            },
            outlet_width: 0,
            lines,
            notes,
            title,
            shade: None,
        });
        self.picture.boxes.len() - 1
    }

    /// The name of a box for processes, and what they have: `pe 1 to 41 × 41`.
    fn process_lines(&self, alike: &[PeId]) -> Vec<String> {
        let [first, .., last] = alike else {
            let name = alike
                .first()
                .map_or_else(String::new, |id| format!("pe {id}"));
            return vec![name, self.process_facts(alike)];
        };
        let count = alike.len();
        let name = match (last.0 - first.0) as usize == count - 1 {
            true => format!("pe {first} to {last} × {count}"),
            false => format!("pe {first} and {} more × {count}", count - 1),
        };
        vec![name, self.process_facts(alike)]
    }

    fn process_facts(&self, alike: &[PeId]) -> String {
        let Some((id, pe)) = alike
            .first()
            .and_then(|id| self.plan.pes().nth(id.0 as usize))
        else {
            return String::new();
        };
        let many = |count: usize, word: &str| match count {
            1 => format!("1 {word}"),
            count => format!("{count} {word}s"),
        };
        let each = if alike.len() > 1 { " each" } else { "" };
        let mut facts = vec![format!("{}{each}", many(pe.operators.len(), "operator"))];
        if let Some(threads) = self.threads.get(id.0 as usize) {
            facts.push(format!("{}{each}", many(threads.len(), "thread")));
        }
        if !pe.cores.is_empty() && alike.len() == 1 {
            let cores: Vec<String> = pe.cores.iter().map(u32::to_string).collect();
            facts.push(format!("cores {}", cores.join(" ")));
        }
        let inside = self.groups.group_of.iter().enumerate();
        let inside = inside.filter_map(|(at, _)| {
            let pe = self.plan.pe_of(OperatorId(at as u32))?;
            alike.contains(&pe).then_some(OperatorId(at as u32))
        });
        if let Some(cost) = self.cost(inside) {
            facts.push(share_text(cost.share));
        }
        facts.join(", ")
    }

    /// A line for each of the first threads of a process.
    fn thread_notes(&self, alike: &[PeId]) -> Vec<String> {
        let threads = alike.first().and_then(|id| self.threads.get(id.0 as usize));
        let threads = threads.map_or(&[][..], |threads| threads);
        let line = |(at, thread): (usize, &ProgramThread)| {
            let core = thread
                .core
                .map_or_else(String::new, |core| format!(" core {core}"));
            let pooled = if thread.is_pooled { " pooled" } else { "" };
            format!("thread {at}: {}{core}{pooled}", thread.name)
        };
        let listed = threads.iter().enumerate().take(THREADS_LISTED).map(line);
        let mut notes: Vec<String> = listed.collect();
        match threads.len().saturating_sub(THREADS_LISTED) {
            0 => {}
            1 => notes.push("and 1 more thread".to_owned()),
            more => notes.push(format!("and {more} more threads")),
        }
        notes
    }

    fn add_operator(&mut self, group: usize, parent: Option<usize>) {
        let ids = &self.groups.operators[group];
        let nodes: Vec<_> = ids
            .iter()
            .map(|id| &self.program.operators[id.0 as usize])
            .collect();
        let names: Vec<&str> = nodes.iter().map(|node| &*node.name).collect();
        let kind = nodes
            .first()
            .map_or("", |node| unqualified_name(&node.kind));
        let mut lines = match &self.groups.folded[group] {
            None => vec![common_name(&names), kind.to_owned()],
            Some(composite) => {
                let invocations: Vec<&str> = composite.iter().map(|name| &**name).collect();
                let count = match names.len() {
                    1 => "composite, 1 operator".to_owned(),
                    count => format!("composite, {count} operators"),
                };
                vec![common_name(&invocations), count]
            }
        };
        lines.extend(self.thread_line(ids));
        let mut shade = None;
        if self.costs.is_some() {
            let cost = self.cost(ids.iter().copied());
            shade = Some(CostShade::of(cost.as_ref()));
            lines.extend(cost.map(|cost| cost.text()));
        }
        let shown = names.iter().take(NAMES_MAX).copied();
        let more = (names.len() > NAMES_MAX).then_some("...");
        let shown: Vec<&str> = shown.chain(more).collect();
        let title = [shown.join(" ")]
            .iter()
            .chain(&lines[1..])
            .cloned()
            .collect::<Vec<_>>();
        let lines: Vec<String> = lines.into_iter().map(shortened).collect();
        let others = lines.iter().skip(1).map(|line| small_text_width(line));
        let width = others.fold(letters(&lines[0]) * LETTER_WIDTH, u32::max) + 2 * TEXT_MARGIN;
        self.picture.boxes.push(PictureBox {
            kind: BoxKind::Operator,
            layout: LayoutBox {
                parent,
                width,
                height: lines.len() as u32 * LINE_HEIGHT + 8,
                head: 0,
                foot: 0,
            },
            outlet_width: 0,
            lines,
            notes: Vec::new(),
            title: title.join("\n"),
            shade,
        });
    }

    /// The threads that enter operators of one group, in the first of their PEs.
    fn thread_line(&self, ids: &[OperatorId]) -> Option<String> {
        let pe = self.plan.pe_of(*ids.first()?)?;
        let threads = self.threads.get(pe.0 as usize)?;
        let entering = threads.iter().enumerate().filter(|(_, thread)| {
            let mut operators = thread.operators.iter();
            operators.any(|operator| ids.contains(operator))
        });
        let numbers: Vec<String> = entering.map(|(at, _)| at.to_string()).collect();
        Some(match &numbers[..] {
            [] => return None,
            [one] => format!("thread {one}"),
            few if few.len() <= 4 => format!("threads {}", few.join(" ")),
            many => format!("{} threads", many.len()),
        })
    }

    /// The cost of operators together, of those that the profile has.
    fn cost(&self, ids: impl Iterator<Item = OperatorId>) -> Option<DrawnCost> {
        let costs = self.costs.as_ref()?;
        let known = ids.filter_map(|id| costs.operator(&self.program.operators[id.0 as usize]));
        known.reduce(DrawnCost::plus)
    }

    /// Adds the outlets of all operators, whose boxes begin at `first`, and the arrows.
    fn add_outlets(&mut self, first: usize) {
        let mut targets: Vec<Vec<OutletTargets>> = self
            .program
            .operators
            .iter()
            .map(|operator| vec![OutletTargets::new(); operator.outputs.len()])
            .collect();
        for edge in &self.edges {
            let to = self.groups.group_of[edge.to.0 as usize];
            let is_within = self.groups.group_of[edge.from.0 as usize] == to;
            if is_within && self.groups.folded[to].is_some() {
                continue;
            }
            let of_port = &mut targets[edge.from.0 as usize][edge.from_port.index()];
            of_port.insert((to, edge.is_control, edge.way.clone()));
        }
        for group in 0..self.groups.operators.len() {
            let mut outlets: Vec<(OutletTargets, Vec<OutPortId>)> = Vec::new();
            for &operator in &self.groups.operators[group] {
                let ports = targets[operator.0 as usize].iter();
                for (port, found) in (0..).map(PortIndex).zip(ports) {
                    let stream = OutPortId { operator, port };
                    if found.is_empty() {
                        continue;
                    }
                    let is_alike =
                        |other: &OutletTargets| self.groups.are_collapsed && other == found;
                    match outlets.iter_mut().find(|(other, _)| is_alike(other)) {
                        Some((_, streams)) => streams.push(stream),
                        None => outlets.push((found.clone(), vec![stream])),
                    }
                }
            }
            self.add_outlets_of(first + group, first, outlets);
        }
    }

    fn add_outlets_of(
        &mut self,
        from: usize,
        first: usize,
        outlets: Vec<(OutletTargets, Vec<OutPortId>)>,
    ) {
        let count = outlets.len() as u32;
        for (at, (targets, streams)) in (0..).zip(outlets) {
            let rates = self.costs.as_ref().map(|costs| {
                let rates = streams
                    .iter()
                    .filter_map(|&one| costs.rate(self.program, one));
                rates.collect::<Vec<f64>>()
            });
            let rate = rates
                .filter(|rates| !rates.is_empty())
                .map(|rates| rates.iter().sum());
            let label = shortened(self.outlet_label(&targets, &streams, rate));
            let picture = &mut self.picture;
            let one = &mut picture.boxes[from];
            one.outlet_width = one.outlet_width.max(small_text_width(&label) + TEXT_MARGIN);
            one.layout.height = one.layout.height.max(count * OUTLET_HEIGHT + 8);
            picture.fastest_rate = picture.fastest_rate.max(rate.unwrap_or_default());
            picture.outlets.push(StreamOutlet {
                from,
                y: 16 + at * OUTLET_HEIGHT,
                label,
                rate,
            });
            let outlet = picture.outlets.len() - 1;
            let arrows = targets.iter().map(|(to, is_control, way)| PictureArrow {
                outlet,
                to: first + to,
                is_control: *is_control,
                is_crossing: matches!(way, StreamWay::Medium(_)),
            });
            picture.arrows.extend(arrows);
        }
        let one = &mut self.picture.boxes[from];
        one.layout.width += one.outlet_width;
    }

    fn outlet_label(
        &self,
        targets: &OutletTargets,
        streams: &[OutPortId],
        rate: Option<f64>,
    ) -> String {
        let names = streams.iter().map(|stream| {
            let operator = &self.program.operators[stream.operator.0 as usize];
            &*operator.outputs[stream.port.index()].name
        });
        let names: Vec<&str> = names.collect();
        let ways: BTreeSet<String> = targets
            .iter()
            .filter_map(|(.., way)| match way {
                StreamWay::Call => None,
                StreamWay::Queue => Some("queue".to_owned()),
                StreamWay::Merge => Some("merge".to_owned()),
                StreamWay::Medium(medium) => Some(medium.to_string()),
            })
            .collect();
        let mut label = common_name(&names);
        if !ways.is_empty() {
            let ways: Vec<String> = ways.into_iter().collect();
            label += &format!(" by {}", ways.join(" and "));
        }
        if let Some(rate) = rate {
            label += &format!(", {}", rate_text(rate));
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_lines_end_with_an_ellipsis() {
        let line = shortened("ä".repeat(100));
        assert_eq!(line.chars().count(), 44);
        assert!(line.ends_with('…'));
        assert_eq!(shortened("short".to_owned()), "short");
    }
}
