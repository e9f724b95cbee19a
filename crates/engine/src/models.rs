//! The toolkit as the compiler sees it: models without behaviours.

use std::sync::LazyLock;

use graph::OperatorModel;

/// The models of all operators.
pub fn models() -> &'static [&'static OperatorModel] {
    static MODELS: LazyLock<Vec<&'static OperatorModel>> = LazyLock::new(|| {
        toolkit::operators()
            .iter()
            .map(|entry| entry.model)
            .collect()
    });
    &MODELS
}
