//! Types, constants and sites that compiled code refers to by address. They live as long as the
//! code.

use std::collections::HashMap;
use std::sync::Arc;

use graph::{EventTimeUnits, NumberedPanes, Pos};
use tuple::{Layout, Type, Value};

use super::fallback_site::FallbackSite;

/// The things themselves; each stays where it is.
#[derive(Debug, Default)]
#[expect(
    clippy::vec_box,
    reason = "compiled code knows the addresses: a vector may move its elements"
)]
pub struct ConstantPool {
    types: HashMap<Type, Box<Type>>,
    defaults: HashMap<Type, Box<Value>>,
    type_lists: Vec<Box<[Type]>>,
    constants: Vec<Box<Value>>,
    sites: Vec<Box<FallbackSite>>,
    layouts: Vec<Arc<Layout>>,
    positions: Vec<Box<Pos>>,
    units: Vec<Box<EventTimeUnits>>,
    panes: Vec<Box<NumberedPanes>>,
}

/// Address of something in the pool, for an immediate operand.
fn address<T>(thing: &T) -> i64 {
    std::ptr::from_ref(thing).expose_provenance() as i64
}

impl ConstantPool {
    /// Address of a copy of `ty`; equal types share one.
    pub fn ty(&mut self, ty: &Type) -> i64 {
        if let Some(known) = self.types.get(ty) {
            return address(&**known);
        }
        let boxed = Box::new(ty.clone());
        let at = address(&*boxed);
        self.types.insert(ty.clone(), boxed);
        at
    }

    /// Address of the default value of a type.
    pub fn default_of(&mut self, ty: &Type) -> i64 {
        let make = || Box::new(Value::default_of(ty));
        address(&**self.defaults.entry(ty.clone()).or_insert_with(make))
    }

    /// Adds a list of types. Returns the address of the first one and their number.
    pub fn type_list(&mut self, types: Vec<Type>) -> (i64, i64) {
        let list = types.into_boxed_slice();
        let at = (list.as_ptr().expose_provenance() as i64, list.len() as i64);
        self.type_lists.push(list);
        at
    }

    /// Adds a copy of a constant, which stays at its address.
    pub fn constant(&mut self, value: &Value) -> &Value {
        self.constants.push(Box::new(value.clone()));
        &self.constants[self.constants.len() - 1]
    }

    /// Address of a new copy of a constant.
    pub fn constant_address(&mut self, value: &Value) -> i64 {
        address(self.constant(value))
    }

    /// Adds a site, whose id is set here. Returns its address.
    pub fn site(&mut self, mut site: FallbackSite) -> i64 {
        site.id = self.sites.len() as u32;
        let boxed = Box::new(site);
        let at = address(&*boxed);
        self.sites.push(boxed);
        at
    }

    /// Address of a copy of units of event time.
    pub fn units(&mut self, units: EventTimeUnits) -> i64 {
        self.units.push(Box::new(units));
        self.units.last().map_or(0, |last| address(&**last))
    }

    /// Address of a copy of the panes of a window.
    pub fn panes(&mut self, panes: NumberedPanes) -> i64 {
        self.panes.push(Box::new(panes));
        self.panes.last().map_or(0, |last| address(&**last))
    }

    /// Address of a copy of a position.
    pub fn pos(&mut self, pos: Pos) -> i64 {
        if self.positions.last().is_none_or(|last| **last != pos) {
            self.positions.push(Box::new(pos));
        }
        self.positions.last().map_or(0, |last| address(&**last))
    }

    /// Address of a layout, which the pool keeps alive.
    pub fn layout(&mut self, layout: &Arc<Layout>) -> i64 {
        if !self
            .layouts
            .iter()
            .rev()
            .take(8)
            .any(|known| Arc::ptr_eq(known, layout))
        {
            self.layouts.push(Arc::clone(layout));
        }
        address(&**layout)
    }
}
