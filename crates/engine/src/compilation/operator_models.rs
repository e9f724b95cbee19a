//! The toolkit as the compiler sees it: the operators' models without their implementations.

use std::sync::LazyLock;

use graph::OperatorModel;

/// The models of all operators of the toolkit, in alphabetical order.
pub fn operator_models() -> &'static [&'static OperatorModel] {
    static MODELS: LazyLock<Vec<&'static OperatorModel>> = LazyLock::new(|| {
        toolkit::operators()
            .iter()
            .map(|entry| entry.model)
            .collect()
    });
    &MODELS
}

/// Whether an operator or a composite of the library has this name. A composite of the same name in
/// a program would hide it.
pub fn is_library_name(name: &str) -> bool {
    let is_composite = compiler::prelude::UNITS.iter().any(|unit| {
        let prelude = syntax::parse(syntax::FileId(0), unit.source);
        prelude.unit.items.iter().any(|item| match item {
            syntax::ast::Item::Composite(composite) => &*composite.name.text == name,
            _ => false,
        })
    });
    is_composite || operator_models().iter().any(|model| model.name == name)
}
