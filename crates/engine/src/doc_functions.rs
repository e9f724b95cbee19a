//! Pages of the functions of each namespace, with examples that `thalweg doc` prints, too.

/// Declares pages: the namespaces, whose names are those of their pages.
macro_rules! pages {
    ($($namespace:literal)+) => {
        &[$((
            $namespace,
            include_str!(concat!("../../../docs/functions/", $namespace, ".md")),
        )),+]
    };
}

/// Namespaces with their pages.
const PAGES: &[(&str, &str)] = pages! {
    "spl.string" "spl.math" "spl.collection" "spl.time" "spl.utility" "spl.file" "spl.XML"
    "spl.eventtime" "thalweg.text" "com.ibm.streamsx.json"
};

/// Names of the namespaces that have a page.
pub(crate) fn namespaces() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(namespace, _)| *namespace)
}

/// The page of a namespace; `None` if there is none.
pub(crate) fn namespace_page(namespace: &str) -> Option<&'static str> {
    let page = PAGES.iter().find(|(known, _)| *known == namespace);
    page.map(|(_, text)| *text)
}

/// Examples of a function: lines of SPL, each with its value.
pub(crate) fn examples(namespace: &str, function: &str) -> Option<&'static str> {
    let heading = format!("\n## {function}\n");
    let (_, section) = namespace_page(namespace)?.split_once(&heading)?;
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let (_, examples) = section.split_once("\n```spl\n")?;
    examples.split("```").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_those_of_the_function() {
        let found = examples("spl.string", "upper").expect("examples");
        assert!(found.starts_with("upper("), "{found}");
        assert!(!found.contains("```"), "{found}");
        assert_eq!(examples("spl.string", "no"), None);
        assert_eq!(examples("spl.no", "upper"), None);
    }
}
