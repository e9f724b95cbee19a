//! Payloads of any size, as the attributes of a tuple.
//!
//! A payload is as many int64 as fit, then an int32, an int16 and an int8 for the remaining bytes.
//! In tuple number `n` each attribute is `n`, cut to its width; a sink adds all of them up.
//! [`control::Payload`] does the same with bytes.

/// The attributes of a payload.
pub struct PayloadSchema {
    attributes: Vec<(&'static str, String)>,
}

/// Terms of one sum at most: the compiler's recursion is as deep as a sum is long.
const SUM_TERMS_MAX: usize = 16;

impl PayloadSchema {
    /// The payload of `bytes` bytes.
    pub fn with_bytes(bytes: u64) -> PayloadSchema {
        let wholes = std::iter::repeat_n("int64", (bytes / 8) as usize);
        let rest = [("int32", 4), ("int16", 2), ("int8", 1)].into_iter();
        let rest = rest.filter(|(_, width)| bytes & width != 0);
        let types = wholes.chain(rest.map(|(ty, _)| ty)).enumerate();
        PayloadSchema {
            attributes: types.map(|(at, ty)| (ty, format!("a{at}"))).collect(),
        }
    }

    /// `int64 a0, int64 a1`
    pub fn types(&self) -> String {
        let types = self.attributes.iter();
        let types: Vec<_> = types.map(|(ty, name)| format!("{ty} {name}")).collect();
        types.join(", ")
    }

    /// The type of the first attribute.
    pub fn first_type(&self) -> &'static str {
        self.attributes.first().map_or("int64", |(ty, _)| ty)
    }

    /// `a0 = (int64) value, a1 = ...`
    pub fn values(&self, value: &str) -> String {
        let values = self.attributes.iter();
        let values: Vec<_> = values
            .map(|(ty, name)| format!("{name} = ({ty}) {value}"))
            .collect();
        values.join(", ")
    }

    /// Statements that add every attribute of a stream to a variable.
    pub fn sum(&self, stream: &str, into: &str) -> String {
        let groups = self.attributes.chunks(SUM_TERMS_MAX);
        let groups: Vec<_> = groups
            .map(|group| {
                let terms: Vec<_> = group.iter().map(|one| term(stream, one)).collect();
                format!("{into} += {};", terms.join(" + "))
            })
            .collect();
        groups.join("\n")
    }
}

fn term(stream: &str, (ty, name): &(&str, String)) -> String {
    match *ty {
        "int64" => format!("{stream}.{name}"),
        _ => format!("(int64) {stream}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_fill_the_size() {
        assert_eq!(PayloadSchema::with_bytes(4).types(), "int32 a0");
        assert_eq!(
            PayloadSchema::with_bytes(22).types(),
            "int64 a0, int64 a1, int32 a2, int16 a3"
        );
        assert_eq!(
            PayloadSchema::with_bytes(7).values("n"),
            "a0 = (int32) n, a1 = (int16) n, a2 = (int8) n"
        );
        assert_eq!(
            PayloadSchema::with_bytes(12).sum("In", "s"),
            "s += In.a0 + (int64) In.a1;"
        );
        assert_eq!(
            PayloadSchema::with_bytes(16384)
                .sum("In", "s")
                .lines()
                .count(),
            128
        );
    }
}
