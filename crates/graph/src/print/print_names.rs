//! Names of variables, ports and functions in printed programs.

use std::borrow::Cow;

use tuple::Type;

use crate::{
    Callee, Function, InPort, LocalId, LocalVar, OperatorNode, OutPort, OutputCall, PlaceRoot,
    PortIndex, Program, StateId, StateVar,
};

/// Source of the names that are printed. Without a name, the number is printed.
#[derive(Clone, Copy, Default)]
pub struct PrintNames<'a> {
    /// Prototypes of the library functions, as SPL writes them.
    pub natives: &'a [&'a str],
    /// User functions of the program.
    pub functions: &'a [Function],
    /// The operators whose streams the ports refer to.
    pub operators: &'a [OperatorNode],
    /// Input ports of the operator.
    pub inputs: &'a [InPort],
    /// Output ports of the operator.
    pub outputs: &'a [OutPort],
    /// State variables of the operator.
    pub state: &'a [StateVar],
    /// The variables of the body.
    pub locals: &'a [LocalVar],
    /// The output function calls of the output port.
    pub calls: &'a [OutputCall],
}

impl<'a> PrintNames<'a> {
    /// The names of a program and of library functions.
    pub fn from_program(program: &'a Program, natives: &'a [&'a str]) -> PrintNames<'a> {
        PrintNames {
            natives,
            functions: &program.functions,
            operators: &program.operators,
            ..PrintNames::default()
        }
    }

    /// Names of an operator in addition.
    pub fn with_operator(self, operator: &'a OperatorNode) -> PrintNames<'a> {
        PrintNames {
            inputs: &operator.inputs,
            outputs: &operator.outputs,
            state: &operator.logic.state,
            ..self
        }
    }

    /// A local; one whose name another one had before it has its number too.
    pub(super) fn local(self, id: LocalId) -> Cow<'a, str> {
        let at = id.0 as usize;
        let Some(var) = self.locals.get(at) else {
            return Cow::Owned(format!("local{at}"));
        };
        if self.locals[..at].iter().any(|other| other.name == var.name) {
            return Cow::Owned(format!("{}_{at}", var.name));
        }
        Cow::Borrowed(&var.name)
    }

    pub(super) fn state(self, id: StateId) -> Cow<'a, str> {
        match self.state.get(id.0 as usize) {
            Some(var) => Cow::Borrowed(&var.name),
            None => Cow::Owned(format!("state{}", id.0)),
        }
    }

    /// The type of a variable, if it is known.
    pub(super) fn type_of(self, root: PlaceRoot) -> Option<&'a Type> {
        match root {
            PlaceRoot::Local(id) => self.locals.get(id.0 as usize).map(|var| &var.ty),
            PlaceRoot::State(id) => self.state.get(id.0 as usize).map(|var| &var.ty),
        }
    }

    /// A tuple of an input port.
    pub(super) fn input(self, port: PortIndex, history: u32) -> String {
        let name = match self.inputs.get(port.index()) {
            Some(input) => input.name.to_string(),
            None => format!("in{port}"),
        };
        if history == 0 {
            name
        } else {
            format!("{name}[{history}]")
        }
    }

    pub(super) fn attribute(self, port: PortIndex, index: u32) -> Cow<'a, str> {
        let schema = self
            .inputs
            .get(port.index())
            .map(|input| &input.schema.attributes);
        match schema.and_then(|attributes| attributes.get(index as usize)) {
            Some(attribute) => Cow::Borrowed(&attribute.name),
            None => Cow::Owned(index.to_string()),
        }
    }

    pub(super) fn callee(self, callee: Callee) -> Cow<'a, str> {
        match callee {
            Callee::User(id) => match self.functions.get(id.0 as usize) {
                Some(function) => Cow::Borrowed(&function.name),
                None => Cow::Owned(format!("function{}", id.0)),
            },
            Callee::Native(id) => match self.natives.get(id.0 as usize) {
                Some(native) => Cow::Borrowed(name_of_prototype(native)),
                None => Cow::Owned(format!("native{}", id.0)),
            },
        }
    }
}

/// `sqrt` of `<numeric T> T sqrt(T f)`.
fn name_of_prototype(prototype: &str) -> &str {
    let head = prototype.split('(').next().unwrap_or_default().trim_end();
    head.rsplit([' ', '>']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_have_names() {
        assert_eq!(name_of_prototype("<numeric T> T sqrt(T f)"), "sqrt");
        assert_eq!(
            name_of_prototype("list<rstring> tokenize (rstring s)"),
            "tokenize"
        );
        assert_eq!(name_of_prototype("float64 PI()"), "PI");
    }
}
