//! Operands of library functions as values, kept from call to call so that their memory is reused.

use tuple::Value;

/// Kept operands, by site. A function has few sites, so they are searched one after the other.
#[derive(Debug, Default)]
pub struct OperandScratch {
    operands: Vec<(u32, Vec<Value>)>,
}

impl OperandScratch {
    /// Takes out the operands that a site kept last time; none the first time.
    pub fn take(&mut self, site: u32) -> Vec<Value> {
        let found = self.operands.iter_mut().find(|(id, _)| *id == site);
        found
            .map(|(_, operands)| std::mem::take(operands))
            .unwrap_or_default()
    }

    /// Puts a site's operands back for the next time.
    pub fn put(&mut self, site: u32, operands: Vec<Value>) {
        match self.operands.iter_mut().find(|(id, _)| *id == site) {
            Some((_, place)) => *place = operands,
            None => self.operands.push((site, operands)),
        }
    }
}
