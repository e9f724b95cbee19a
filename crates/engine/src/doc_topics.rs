//! Pages of the documentation that `thalweg doc` prints: topics of the language and of the tools.

/// A page of the documentation.
struct DocTopic {
    /// Name for which `thalweg doc` is asked.
    name: &'static str,
    text: &'static str,
}

/// Declares topics: name, page in the folder of the documentation.
macro_rules! topics {
    ($($name:literal: $page:literal;)+) => {
        &[$(DocTopic {
            name: $name,
            text: include_str!(concat!("../../../docs", $page, ".md")),
        }),+]
    };
}

/// All topics, in the order in which they are learnt.
const TOPICS: &[DocTopic] = topics! {
    "tutorial": "/tutorial";
    "types": "/language/types";
    "expressions": "/language/expressions";
    "streams": "/language/streams";
    "windows": "/language/windows";
    "punctuation": "/language/punctuation";
    "logic": "/language/logic-and-state";
    "composites": "/language/composites";
    "parallel": "/language/parallel";
    "faults": "/language/faults";
    "placement": "/language/plans";
    "formats": "/language/formats";
    "functions": "/language/functions";
    "json": "/json";
    "cookbook": "/cookbook";
    "testing": "/testing";
    "plans": "/plans";
    "media": "/media";
    "profiles": "/profiles";
    "optimiser": "/optimiser";
    "top": "/top";
    "mixed": "/mixed";
    "troubleshooting": "/troubleshooting";
    "migration": "/coming-from";
    "commands": "/commands";
};

/// The topic that describes the types of the language.
const TYPES: &str = "types";

/// The page of a topic, or the one about types for the name of a type; `None` if there is none.
pub(crate) fn topic_text(name: &str) -> Option<&'static str> {
    let topic = match syntax::SyntaxKind::is_type_word(name) {
        true => TYPES,
        false => name,
    };
    let found = TOPICS.iter().find(|one| one.name == topic);
    found.map(|one| one.text)
}

/// The names of all topics with their titles.
pub(crate) fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOPICS.iter().map(|one| (one.name, title(one.text)))
}

/// The topics whose pages have all of these words, with their titles. `plain` makes texts
/// comparable.
pub(crate) fn topics_with(
    words: &[String],
    plain: impl Fn(&str) -> String,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has_all = move |one: &&DocTopic| {
        let text = plain(one.text);
        words.iter().all(|word| text.contains(&**word))
    };
    let found = TOPICS.iter().filter(has_all);
    found.map(|one| (one.name, title(one.text)))
}

/// The first heading of a page.
fn title(text: &'static str) -> &'static str {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('#').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_title_and_a_name_of_its_own() {
        let names: Vec<_> = topics().map(|(name, _)| name).collect();
        assert!(topics().all(|(_, title)| !title.is_empty()));
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
            assert!(topic_text(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_type_is_described_among_the_types() {
        assert_eq!(topic_text("rstring"), topic_text("types"));
        assert_eq!(topic_text("list"), topic_text("types"));
        assert_eq!(topic_text("rope"), None);
    }
}
