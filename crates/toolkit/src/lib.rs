//! The standard operators and functions of SPL, one file each, in folders named after their
//! namespaces.
//!
//! [`operators`] is the registry of operators: the compiler is given its models, the run time its
//! constructors. To add an operator, add a file with `pub const ENTRY: OperatorEntry` and a line in
//! the registry. [`functions`] is the library of native functions.
//!
//! # Example
//! ```
//! let operators = thalweg_toolkit::operators();
//! assert!(operators.iter().any(|entry| entry.model.name == "Filter"));
//!
//! let functions = thalweg_toolkit::functions();
//! assert!(functions.iter().any(|function| function.prototype.contains(" xquery(")));
//! ```

mod adapter;
mod charset;
mod control;
mod function;
mod json_convert;
mod kept_tuple;
mod key_evaluator;
mod lower;
mod output_calls;
mod relational;
mod stateful_lowering;
mod unsupported;
mod utility;
mod verify_params;
mod xml_parse;

pub use charset::encodings;
pub use function::functions;
use runtime::OperatorEntry;

/// The entries of all operators, in the order of namespaces and names.
pub fn operators() -> &'static [OperatorEntry] {
    const OPERATORS: &[OperatorEntry] = &[
        json_convert::json_to_tuple::ENTRY,
        json_convert::tuple_to_json::ENTRY,
        xml_parse::ENTRY,
        adapter::directory_scan::ENTRY,
        adapter::export::ENTRY,
        adapter::file_sink::ENTRY,
        adapter::file_source::ENTRY,
        adapter::import::ENTRY,
        adapter::metrics_sink::ENTRY,
        adapter::net::tcp_sink::ENTRY,
        adapter::net::tcp_source::ENTRY,
        adapter::net::udp_sink::ENTRY,
        adapter::net::udp_source::ENTRY,
        unsupported::V1_TCP_SINK,
        unsupported::V1_TCP_SOURCE,
        unsupported::DEMUX,
        unsupported::KEYED_AGGREGATE,
        unsupported::KEYED_DELAY,
        unsupported::KEYED_JOIN,
        unsupported::NORMALIZE,
        unsupported::PUNCT_MERGER,
        control::job_control_plane::ENTRY,
        relational::aggregate::ENTRY,
        relational::filter::ENTRY,
        relational::functor::ENTRY,
        relational::join::ENTRY,
        relational::punctor::ENTRY,
        relational::sort::ENTRY,
        utility::barrier::ENTRY,
        utility::beacon::ENTRY,
        utility::character_transform::ENTRY,
        utility::compress::ENTRY,
        utility::custom::ENTRY,
        utility::deduplicate::ENTRY,
        utility::decompress::ENTRY,
        utility::delay::ENTRY,
        utility::dynamic_filter::ENTRY,
        utility::format::ENTRY,
        utility::gate::ENTRY,
        unsupported::JAVA_OP,
        utility::pair::ENTRY,
        utility::parse::ENTRY,
        utility::replayable_start::ENTRY,
        utility::split::ENTRY,
        utility::switch::ENTRY,
        utility::threaded_split::ENTRY,
        utility::throttle::ENTRY,
        utility::union::ENTRY,
        unsupported::BUFFER,
        unsupported::MARKER,
        utility::parallel_splitter::ENTRY,
        unsupported::SELECTOR,
    ];
    OPERATORS
}

#[cfg(test)]
mod tests {
    use super::operators;

    #[test]
    fn every_operator_is_documented_and_listed_once() {
        let mut names = Vec::new();
        for entry in operators() {
            let model = entry.model;
            assert!(model.doc.ends_with('.'), "{} has no sentence", model.name);
            for param in model.params {
                assert!(param.doc.ends_with('.'), "{}.{}", model.name, param.name);
            }
            names.push((model.namespace, model.name));
        }
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted, "in order of namespace and name, each once");
    }

    #[test]
    fn custom_literals_name_enums_of_their_model() {
        use graph::ParamMode;
        for entry in operators() {
            let model = entry.model;
            for param in model.params.iter().filter(|p| p.mode == ParamMode::Literal) {
                let known = model.enums.iter().any(|(name, _)| *name == param.ty);
                assert!(known, "{}.{}: no enum {}", model.name, param.name, param.ty);
            }
        }
    }

    #[test]
    fn preserving_ports_and_parameters_name_ports_that_exist() {
        use graph::{Cardinality, PunctuationOutputMode};
        for entry in operators() {
            let model = entry.model;
            let at_most: u32 = model.inputs.iter().fold(0, |sum, set| match set.count {
                Cardinality::Exactly(n) => sum + n,
                Cardinality::Optional => sum + 1,
                Cardinality::Any => u32::MAX / 2,
            });
            let preserved = model.outputs.iter().filter_map(|o| match o.punctuation {
                PunctuationOutputMode::Preserving(port) => Some(port),
                _ => None,
            });
            let ports = model.params.iter().filter_map(|p| p.port);
            let same = model.outputs.iter().filter_map(|o| o.same_schema_as);
            for port in preserved.chain(ports).chain(same) {
                assert!(port.0 < at_most, "{}: no input port {port}", model.name);
            }
        }
    }
}
