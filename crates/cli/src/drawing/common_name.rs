//! One name for the operators, streams or composites that share a box.

/// A name for all: `B*.Trades × 41` if they differ in numbers alone, else the first and a count.
pub(super) fn common_name(names: &[&str]) -> String {
    let Some((first, others)) = names.split_first() else {
        return String::new();
    };
    if others.is_empty() {
        return (*first).to_owned();
    }
    let count = names.len();
    if others.iter().all(|other| other == first) {
        return format!("{first} × {count}");
    }
    let parts: Vec<Vec<&str>> = names.iter().map(|name| number_parts(name)).collect();
    let is_alike = |part: usize| parts.iter().all(|one| one[part] == parts[0][part]);
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let are_numbered = parts.iter().all(|one| {
        let pairs = || one.iter().zip(&parts[0]);
        one.len() == parts[0].len()
            && pairs().all(|(a, b)| a == b || (is_number(a) && is_number(b)))
    });
    if !are_numbered {
        return format!("{first} and {} more", others.len());
    }
    let shown = (0..parts[0].len()).map(|part| match is_alike(part) {
        true => parts[0][part],
        false => "*",
    });
    format!("{} × {count}", shown.collect::<String>())
}

/// A name as its numbers and the texts between them.
fn number_parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number);
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::common_name;

    #[test]
    fn names_that_differ_in_numbers_share_a_pattern() {
        assert_eq!(common_name(&["Sink"]), "Sink");
        assert_eq!(common_name(&["Out", "Out"]), "Out × 2");
        assert_eq!(
            common_name(&["B0.Trades2", "B1.Trades2", "B10.Trades2"]),
            "B*.Trades2 × 3"
        );
        assert_eq!(common_name(&["A", "B", "C"]), "A and 2 more");
        assert_eq!(common_name(&["A1", "A1x"]), "A1 and 1 more");
    }
}
