//! What a tumbling window has come to so far, group by group, in place of its tuples: however many
//! come, a group takes the memory of one.

use graph::{Fault, OutputCall};
use runtime::window::{Places, encode_first};
use tuple::{Layout, TupleBuf, Type};

use super::call::Call;
use super::operator::Kept;
use super::running::{Running, running};

/// How the tuples of a window are taken in.
pub struct Folding {
    functions: Vec<Function>,
    /// How many of the kept values are those of `groupBy`.
    group_by: usize,
    key: Vec<u8>,
}

/// A call of a function over columns.
struct Function {
    name: Box<str>,
    argument: Type,
    result: Type,
    columns: Vec<usize>,
}

/// The groups of a window in the order of their first tuples. Those beyond [`Tally::sizes`] are
/// memory for further ones.
#[derive(Default)]
pub struct Tally {
    places: Places,
    groups: Vec<Group>,
    sizes: Vec<usize>,
}

/// A group.
#[derive(Default)]
pub struct Group {
    /// The last tuple.
    pub last: TupleBuf,
    /// The functions over columns, in the order of the calls.
    pub running: Vec<Box<dyn Running>>,
}

impl Folding {
    /// For these calls, if none of them has to see a group's tuples all at once.
    pub fn of(calls: &[(Call, Type)], outputs: &[OutputCall], group_by: usize) -> Option<Folding> {
        let mut functions = Vec::new();
        for ((call, result), output) in calls.iter().zip(outputs) {
            match call {
                Call::Column(_, columns) => functions.push(Function {
                    name: output.function.as_ref().into(),
                    argument: output.args.first()?.ty.clone(),
                    result: result.clone(),
                    columns: columns.clone(),
                }),
                Call::Custom(_) => return None,
                _ => {}
            }
        }
        let is_possible = functions.iter().all(|function| function.start().is_some());
        is_possible.then_some(Folding {
            functions,
            group_by,
            key: Vec::new(),
        })
    }

    /// Takes a tuple into the tally of its window.
    pub fn add(
        &mut self,
        tally: &mut Tally,
        kept: &mut Kept,
        layout: &Layout,
    ) -> Result<(), Fault> {
        let values = kept.values.as_ref();
        self.key.clear();
        encode_first(values, layout, self.group_by, &mut self.key);
        let at = tally.place(&self.key);
        let group = &mut tally.groups[at];
        if group.running.len() < self.functions.len() {
            let functions = self.functions.iter();
            group.running = functions.filter_map(Function::start).collect();
        }
        tally.sizes[at] += 1;
        std::mem::swap(&mut group.last, &mut kept.tuple);
        for (function, running) in self.functions.iter().zip(&mut group.running) {
            let mut arguments = function.columns.iter().map(|&at| values.get(layout, at));
            if let Some(first) = arguments.next() {
                running.add(first, arguments.next())?;
            }
        }
        Ok(())
    }
}

impl Function {
    fn start(&self) -> Option<Box<dyn Running>> {
        running(&self.name, &self.argument, &self.result)
    }
}

impl Tally {
    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups[..self.sizes.len()]
    }

    /// Tuples of each group.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        let groups = &mut self.groups[..self.sizes.len()];
        let running = groups.iter_mut().flat_map(|group| &mut group.running);
        running.for_each(|running| running.clear());
        self.sizes.clear();
        self.places.clear();
    }

    /// Where the group of a key is; a further one, if it has none.
    fn place(&mut self, key: &[u8]) -> usize {
        if let Some(at) = self.places.find(key) {
            return at as usize;
        }
        let at = self.places.take(key) as usize;
        self.sizes.push(0);
        if at == self.groups.len() {
            self.groups.push(Group::default());
        }
        at
    }
}
