//! The connections of a node, by their numbers. The place of one that is gone serves another, whose
//! number is a different one: events and orders that are late must not reach it.

use crate::rdma_node::ConnectionId;

/// The open connections of a node.
pub(super) struct ConnectionSlots<C> {
    slots: Vec<Slot<C>>,
}

struct Slot<C> {
    connection: Option<C>,
    /// Number of connections that had the place before.
    generation: u32,
}

impl<C> ConnectionSlots<C> {
    /// The slots of a node without connections.
    pub(super) fn new() -> ConnectionSlots<C> {
        ConnectionSlots { slots: Vec::new() }
    }

    /// Takes a connection in, and gives it a number.
    pub(super) fn add(&mut self, connection: C) -> ConnectionId {
        let free = self.slots.iter().position(|slot| slot.connection.is_none());
        let at = free.unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(Slot {
                connection: None,
                generation: 0,
            });
        }
        let slot = &mut self.slots[at];
        slot.connection = Some(connection);
        ConnectionId::with_generation(at, slot.generation)
    }

    /// Takes a connection out for good.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<C> {
        let slot = self.slot_mut(id)?;
        slot.generation = slot.generation.wrapping_add(1);
        slot.connection.take()
    }

    /// The connection of a number, if it is still open.
    #[inline]
    pub(super) fn get(&self, id: ConnectionId) -> Option<&C> {
        let slot = self.slots.get(id.index())?;
        let connection = slot.connection.as_ref();
        connection.filter(|_| slot.generation == id.generation())
    }

    /// The place of a connection, which is to be filled again if it is emptied.
    pub(super) fn place(&mut self, id: ConnectionId) -> Option<&mut Option<C>> {
        self.slot_mut(id).map(|slot| &mut slot.connection)
    }

    /// All open connections with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &C)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| {
            let connection = slot.connection.as_ref()?;
            Some((
                ConnectionId::with_generation(at, slot.generation),
                connection,
            ))
        })
    }

    /// The number of the place at an index, whether or not there is a connection.
    pub(super) fn id_at(&self, at: usize) -> Option<ConnectionId> {
        let slot = self.slots.get(at)?;
        Some(ConnectionId::with_generation(at, slot.generation))
    }

    fn slot_mut(&mut self, id: ConnectionId) -> Option<&mut Slot<C>> {
        let slot = self.slots.get_mut(id.index())?;
        (slot.generation == id.generation()).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_serves_another_connection_under_another_number() {
        let mut slots = ConnectionSlots::new();
        let [first, second] = ["a", "b"].map(|name| slots.add(name));
        assert_eq!(slots.remove(first), Some("a"));
        assert_eq!(slots.get(first), None);
        assert_eq!(slots.remove(first), None);
        let third = slots.add("c");
        assert_eq!(third.index(), first.index());
        assert_ne!(third, first);
        assert_eq!(slots.get(first), None);
        assert_eq!(slots.place(first), None);
        let all: Vec<_> = slots.iter().map(|(id, name)| (id, *name)).collect();
        assert_eq!(all, [(third, "c"), (second, "b")]);
    }
}
