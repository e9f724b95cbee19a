//! Output functions: what the output clause of an operator's invocation may call beside functions.

use std::collections::HashMap;
use std::rc::Rc;

use graph::OperatorModel;

use crate::Session;
use crate::names::name_in_prototype;
use crate::tables::{FunctionOwner, OutputFunctions, Signature};

impl Session<'_> {
    /// The output functions of a model, parsed once; `None` if it has none.
    pub fn output_functions(&self, model: &'static OperatorModel) -> Option<Rc<OutputFunctions>> {
        let key = std::ptr::from_ref(model);
        if let Some(known) = self.functions.outputs.borrow().get(&key) {
            return known.clone();
        }
        let functions = self.read_output_functions(model).map(Rc::new);
        self.functions
            .outputs
            .borrow_mut()
            .insert(key, functions.clone());
        functions
    }

    fn read_output_functions(&self, model: &OperatorModel) -> Option<OutputFunctions> {
        if model.output_functions.is_empty() {
            return None;
        }
        let mut by_name: HashMap<Rc<str>, Vec<Rc<Signature>>> = HashMap::new();
        for text in model.output_functions {
            let stepwise = model.stepwise_output_functions;
            let is_stepwise = name_in_prototype(text).is_some_and(|name| stepwise.contains(&name));
            if let Some(signature) = self.prototype(text, FunctionOwner::Output { is_stepwise }) {
                let list = by_name.entry(Rc::from(&*signature.name)).or_default();
                list.push(Rc::new(signature));
            }
        }
        Some(OutputFunctions {
            nested: model.nested_output_functions,
            by_name,
        })
    }
}
