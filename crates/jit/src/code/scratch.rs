//! Operands of library functions as values, kept from call to call so that their memory is reused.

use std::collections::HashMap;

use tuple::Value;

/// By site.
#[derive(Debug, Default)]
pub struct Scratch {
    operands: HashMap<u32, Vec<Value>>,
}

impl Scratch {
    /// Takes a site's operands of the last time out; none the first time.
    pub fn take(&mut self, site: u32) -> Vec<Value> {
        self.operands
            .get_mut(&site)
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Puts them back for the next time.
    pub fn put(&mut self, site: u32, operands: Vec<Value>) {
        self.operands.insert(site, operands);
    }
}
