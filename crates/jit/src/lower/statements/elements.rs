//! State variables that are lists or sets, to which statements of lowered operators add elements.

use graph::{Expr, StateId};
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;

impl FunctionLowering<'_, '_> {
    /// Lowers the statement that adds an element to a variable.
    pub fn insert_element(&mut self, variable: StateId, element: &Expr) {
        let ty = self.body.state_layout.ty(variable).clone();
        let value = self.expr(element);
        // What the value points to may be in the collection, whose elements move.
        let value = self.stable(value, &element.ty);
        let at = self.collection_address(variable);
        let words = self.parts_as_words(&value, &element.ty);
        let ty_address = self.type_address(&ty);
        let arguments = [at, ty_address, words];
        if let Type::List(..) = ty {
            let fits = self.call_for_word(ImportedFunction::ListAppend, &arguments);
            self.fault_if_zero(fits, FallbackOp::TooLong("list"), &[], element.pos);
        } else {
            self.call(ImportedFunction::SetInsert, &arguments);
        }
    }

    /// Lowers the statement that removes all elements of a variable.
    pub fn clear_elements(&mut self, variable: StateId) {
        let at = self.collection_address(variable);
        self.call(ImportedFunction::ClearElements, &[at]);
    }
}
