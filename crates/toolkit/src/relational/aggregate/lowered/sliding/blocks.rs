//! Aggregates of a window's parts, in statements: the structure that
//! [`super::super::super::sliding`] has in Rust, whose parts F, R, B and C have the same order.
//!
//! ```text
//!   items        . . x x | x x x x | x x x x | x x x x | x x         in blocks of 64
//!                    ^ oldest                ^ flip
//!                    | F | R                 | B       | C  |
//! ```
//! The aggregate from each item of F to its end lies in the item. Blocks behind that of the oldest
//! item are entries of a table, once they are full: linked, each with its aggregate, or that from
//! there to the flip. R is a copy of the first one's, if it stands before the flip.

use graph::{BinaryOp, Expr, LocalId, Stmt, TableId};
use tuple::{Type, Value};

use super::SlidingLowering;
use super::part_aggregates::PartAggregates;
use crate::relational::aggregate::sliding::BLOCK_ITEMS;
use crate::stateful_lowering::if_then;

/// Variables of the blocks of a window.
pub(super) struct BlockVariables {
    /// Number of items that have left, and of those before the flip.
    left: Expr,
    flip: Expr,
    /// Id of the last item of the oldest item's block, if that is full.
    front_last: Expr,
    /// Items, linked from the newest to the oldest.
    items: LinkedEntries,
    /// Full blocks behind that of the oldest item, if windows are long enough to have any.
    behind: Option<BlockList>,
}

/// Entries that name the one before them, and a local variable that goes from one to the other.
struct LinkedEntries {
    table: TableId,
    previous: Expr,
    at: (LocalId, Expr),
}

/// Full blocks behind that of the oldest item.
struct BlockList {
    links: LinkedEntries,
    first: Expr,
    last: Expr,
    /// Id of a block that is not in the list; 0 if there is none.
    spare: Expr,
    /// Id of the block behind the current one, 0 for the last; id of the current one's last item.
    next: Expr,
    last_item: Expr,
}

impl BlockVariables {
    /// The variables of a window's blocks, if a function needs them.
    pub(super) fn new(lowering: &mut SlidingLowering<'_>) -> Option<BlockVariables> {
        if lowering.aggregates.is_empty() {
            return None;
        }
        let (home, items) = (lowering.home, lowering.items);
        let has_list = lowering.size as usize > BLOCK_ITEMS;
        let behind = has_list.then(|| BlockList::new(lowering));
        let items = LinkedEntries::new(lowering, items);
        let code = &mut lowering.code;
        Some(BlockVariables {
            left: code.variable(home, "left", Type::Uint64),
            flip: code.variable(home, "flip", Type::Uint64),
            front_last: code.variable(home, "frontLast", Type::Uint32),
            items,
            behind,
        })
    }

    /// Id of the item before the current one.
    pub(super) fn previous_item(&self) -> &Expr {
        &self.items.previous
    }
}

impl LinkedEntries {
    fn new(lowering: &mut SlidingLowering<'_>, table: TableId) -> LinkedEntries {
        let code = &mut lowering.code;
        LinkedEntries {
            table,
            previous: code.variable(Some(table), "previous", Type::Uint32),
            at: code.local("at", Type::Uint32),
        }
    }
}

impl BlockList {
    fn new(lowering: &mut SlidingLowering<'_>) -> BlockList {
        let table = lowering.code.add_table("blocks", None);
        for at in 0..lowering.aggregates.len() {
            let filling = lowering.aggregates[at].filling.iter();
            let types: Vec<Type> = filling.map(|value| value.ty.clone()).collect();
            lowering.aggregates[at].block = lowering.variables(Some(table), "block", &types);
        }
        let (home, block) = (lowering.home, Some(table));
        let links = LinkedEntries::new(lowering, table);
        let mut id = |table, name| lowering.code.variable(table, name, Type::Uint32);
        BlockList {
            links,
            first: id(home, "firstBlock"),
            last: id(home, "lastBlock"),
            spare: id(home, "spareBlock"),
            next: id(block, "next"),
            last_item: id(block, "lastItem"),
        }
    }

    fn select(&self, id: &Expr) -> Stmt {
        Stmt::SelectEntry(self.links.table, id.clone())
    }
}

impl SlidingLowering<'_> {
    /// Takes memory for a block before the window changes, if the tuple may fill one.
    pub(super) fn reserve_block(&mut self, blocks: &BlockVariables) -> Vec<Stmt> {
        let Some(list) = &blocks.behind else {
            return Vec::new();
        };
        let table = list.links.table;
        let (id, added) = self.code.local("block", Type::Uint32);
        let add = vec![
            Stmt::AddEntry(table, self.code.pos),
            Stmt::EntryId(id, table),
            self.code.set(&list.spare, added),
        ];
        let items = self.code.constant(Value::Uint32(BLOCK_ITEMS as u32));
        let is_long = self.code.compare(BinaryOp::Ge, &self.count, &items);
        let has_none = self.code.equals(&list.spare, Value::Uint32(0));
        vec![if_then(is_long, vec![if_then(has_none, add)])]
    }

    /// Takes the oldest item, which leaves, out of the aggregates. The window is full.
    pub(super) fn remove_oldest(&self, blocks: &BlockVariables) -> Vec<Stmt> {
        if self.size == 1 {
            // The next item begins the window anew.
            return Vec::new();
        }
        let begins_block = {
            let place = self.binary_u64(BinaryOp::BitAnd, &blocks.left, BLOCK_ITEMS as u64 - 1);
            self.code.equals(&place, Value::Uint64(0))
        };
        let mut stmts = vec![self.code.increment(&blocks.left)];
        if let Some(list) = &blocks.behind {
            let leave = self.leave_block(blocks, list);
            stmts.push(if_then(begins_block.clone(), leave));
        }
        let fill = if_then(begins_block, self.fill_front(blocks, &blocks.front_last));
        let is_behind = self.code.compare(BinaryOp::Ge, &blocks.left, &blocks.flip);
        stmts.push(Stmt::If(is_behind, self.turn(blocks), vec![fill]));
        stmts
    }

    /// The oldest item is the first of the next block.
    fn leave_block(&self, blocks: &BlockVariables, list: &BlockList) -> Vec<Stmt> {
        let none = self.code.constant(Value::Uint32(0));
        let is_there = self.code.compare(BinaryOp::Ne, &list.first, &none);
        let is_none = self.code.compare(BinaryOp::Eq, &list.first, &none);
        let leave = vec![
            list.select(&list.first),
            self.code.set(&blocks.front_last, list.last_item.clone()),
            self.code.set(&list.first, list.next.clone()),
            Stmt::RemoveEntry(list.links.table),
            if_then(is_none, vec![self.code.set(&list.last, none)]),
        ];
        let mut stmts = vec![if_then(is_there.clone(), leave)];
        stmts.extend(self.set_parts_to_none(|aggregate| &aggregate.rest));
        let first = self.binary_u64(BinaryOp::Add, &blocks.left, BLOCK_ITEMS as u64);
        let is_before_flip = self.code.compare(BinaryOp::Lt, &first, &blocks.flip);
        let mut take = vec![list.select(&list.first)];
        for aggregate in &self.aggregates {
            take.extend(self.set_all(&aggregate.rest, &aggregate.block));
        }
        stmts.push(if_then(is_there, vec![if_then(is_before_flip, take)]));
        stmts
    }

    /// Makes F and R of what was B and C, as far as it is there.
    fn turn(&self, blocks: &BlockVariables) -> Vec<Stmt> {
        let mut stmts = self.set_parts_to_none(|aggregate| &aggregate.filled);
        stmts.extend(self.set_parts_to_none(|aggregate| &aggregate.rest));
        // The new item has not come yet.
        let end = self.binary_u64(BinaryOp::Add, &blocks.left, u64::from(self.size - 1));

        let mut of_all = self.set_parts_to_none(|aggregate| &aggregate.filling);
        of_all.push(self.code.set(&blocks.flip, end.clone()));
        of_all.extend(self.fill_front(blocks, &self.newest));

        let mut of_blocks = Vec::new();
        if let Some(list) = &blocks.behind {
            let none = self.code.constant(Value::Uint32(0));
            let is_there = self.code.compare(BinaryOp::Ne, &list.first, &none);
            of_blocks.push(if_then(is_there, self.make_suffixes(list)));
        }
        of_blocks.push(self.code.set(&blocks.flip, self.block_start(&end)));
        of_blocks.extend(self.fill_front(blocks, &blocks.front_last));

        let (first, last) = (self.block_start(&blocks.left), self.block_start(&end));
        let is_one_block = self.code.compare(BinaryOp::Eq, &first, &last);
        stmts.push(Stmt::If(is_one_block, of_all, of_blocks));
        stmts
    }

    /// Makes the aggregate of each block in the list that from there to the last, and R that of the
    /// first.
    fn make_suffixes(&self, list: &BlockList) -> Vec<Stmt> {
        let mut stmts = self.set_parts_to_none(|aggregate| &aggregate.part);
        let mut step = Vec::new();
        for aggregate in &self.aggregates {
            let (part, block) = (&aggregate.part, &aggregate.block);
            step.extend(self.merge(aggregate, block, part));
            step.extend(self.set_all(part, block));
        }
        stmts.extend(self.walk_back(&list.links, &list.last, &list.first, step));
        for aggregate in &self.aggregates {
            stmts.extend(self.set_all(&aggregate.rest, &aggregate.part));
        }
        stmts
    }

    /// Makes F of the items from the oldest to another one.
    fn fill_front(&self, blocks: &BlockVariables, last: &Expr) -> Vec<Stmt> {
        let mut stmts = self.set_parts_to_none(|aggregate| &aggregate.part);
        let mut step = Vec::new();
        for aggregate in &self.aggregates {
            let (part, suffix) = (&aggregate.part, &aggregate.suffix);
            step.extend(self.set_to_current(aggregate, suffix));
            step.extend(self.merge(aggregate, suffix, part));
            step.extend(self.set_all(part, suffix));
        }
        stmts.extend(self.walk_back(&blocks.items, last, &self.oldest, step));
        stmts
    }

    /// Adds the newest item, which is the current one, to the aggregates.
    pub(super) fn push_newest(&self, blocks: &BlockVariables) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for aggregate in &self.aggregates {
            stmts.extend(self.set_to_arriving(aggregate, &aggregate.result));
            stmts.extend(self.merge(aggregate, &aggregate.filling, &aggregate.result));
        }
        if self.size == 1 {
            return stmts;
        }
        let count = self.code.cast(&self.count, &Type::Uint64);
        let end = self.code.binary(BinaryOp::Add, &blocks.left, &count);
        let place = self.binary_u64(BinaryOp::BitAnd, &end, BLOCK_ITEMS as u64 - 1);
        let is_filled = self.code.equals(&place, Value::Uint64(0));
        stmts.push(if_then(is_filled, self.end_block(blocks, &end)));
        stmts
    }

    /// The newest item has filled a block, which ends before `end`.
    fn end_block(&self, blocks: &BlockVariables, end: &Expr) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        let is_front = {
            let behind = self.binary_u64(BinaryOp::Add, &blocks.left, BLOCK_ITEMS as u64);
            self.code.compare(BinaryOp::Ge, &behind, end)
        };
        let front = vec![self.code.set(&blocks.front_last, self.newest.clone())];
        let behind = blocks.behind.iter().flat_map(|list| self.append(list));
        stmts.push(Stmt::If(is_front, front, behind.collect()));
        for aggregate in &self.aggregates {
            stmts.extend(self.merge(aggregate, &aggregate.filled, &aggregate.filling));
        }
        stmts.extend(self.set_parts_to_none(|aggregate| &aggregate.filling));
        stmts
    }

    /// Makes the spare block, with what has filled it, the last of the list.
    fn append(&self, list: &BlockList) -> Vec<Stmt> {
        let none = self.code.constant(Value::Uint32(0));
        let is_only = self.code.equals(&list.first, Value::Uint32(0));
        let begin = vec![self.code.set(&list.first, list.spare.clone())];
        let link = vec![
            list.select(&list.last),
            self.code.set(&list.next, list.spare.clone()),
        ];
        let mut stmts = vec![
            Stmt::If(is_only, begin, link),
            list.select(&list.spare),
            self.code.set(&list.links.previous, list.last.clone()),
            self.code.set(&list.last_item, self.newest.clone()),
            self.code.set(&list.last, list.spare.clone()),
            self.code.set(&list.spare, none),
        ];
        for aggregate in &self.aggregates {
            stmts.extend(self.set_all(&aggregate.block, &aggregate.filling));
        }
        stmts
    }

    /// Runs statements for entries from one back to another, each as the current one.
    fn walk_back(
        &self,
        entries: &LinkedEntries,
        from: &Expr,
        to: &Expr,
        step: Vec<Stmt>,
    ) -> Vec<Stmt> {
        let (id, at) = &entries.at;
        let mut turn = vec![Stmt::SelectEntry(entries.table, at.clone())];
        turn.extend(step);
        let is_last = self.code.compare(BinaryOp::Eq, at, to);
        turn.push(if_then(is_last, vec![Stmt::Break]));
        turn.push(self.code.set(at, entries.previous.clone()));
        let forever = self.code.constant(Value::Boolean(true));
        vec![
            Stmt::Let(*id, Some(from.clone())),
            Stmt::While(forever, turn),
        ]
    }

    pub(super) fn set_parts_to_none(
        &self,
        part: impl Fn(&PartAggregates) -> &Vec<Expr>,
    ) -> Vec<Stmt> {
        let aggregates = self.aggregates.iter();
        let set = |aggregate| self.set_to_none(aggregate, part(aggregate));
        aggregates.flat_map(set).collect()
    }

    /// Number of items before the block that an item is in, or would be in.
    fn block_start(&self, item: &Expr) -> Expr {
        self.binary_u64(BinaryOp::BitAnd, item, !(BLOCK_ITEMS as u64 - 1))
    }

    fn binary_u64(&self, op: BinaryOp, a: &Expr, b: u64) -> Expr {
        let b = self.code.constant(Value::Uint64(b));
        self.code.binary(op, a, &b)
    }
}
