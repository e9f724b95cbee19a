//! The extent of a JSON value: where it ends, found by brackets and quotes alone.

/// A search for the end of a value that begins at the start of some bytes; it goes on where it
/// stopped when there are more of them.
///
/// ```text
///   {"a": [1, "}"]}  rest
///   |<-- extent -->|
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct ValueExtent {
    /// Bytes that were searched.
    at: usize,
    /// Brackets that are open.
    depth: usize,
    in_string: bool,
    /// The next byte of a string stands for itself.
    is_escaped: bool,
}

impl ValueExtent {
    /// The number of bytes of the value; `None` if it goes on. A value without brackets or quotes
    /// ends before a blank, a comma or a bracket.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(&byte) = bytes.get(self.at) {
            if self.is_escaped {
                self.is_escaped = false;
            } else if self.in_string {
                let Some(end) = memchr::memchr2(b'"', b'\\', &bytes[self.at..]) else {
                    self.at = bytes.len();
                    return None;
                };
                self.at += end;
                self.is_escaped = bytes[self.at] == b'\\';
                self.in_string = self.is_escaped;
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                        return Some(self.at);
                    }
                    b'}' | b']' => self.depth -= 1,
                    _ => {}
                }
            }
            self.at += 1;
            let may_end = matches!(bytes[self.at - 1], b'"' | b'}' | b']');
            if may_end && self.depth == 0 && !self.in_string {
                return Some(self.at);
            }
        }
        None
    }

    /// Whether a text ends within a string.
    pub(super) fn ends_in_string(text: &[u8]) -> bool {
        let mut extent = ValueExtent::default();
        let found = extent.find(text.trim_ascii_start());
        found.is_none() && extent.in_string
    }

    /// The innermost bracket that a text leaves open.
    pub(super) fn open_bracket(text: &[u8]) -> Option<u8> {
        let mut open = Vec::new();
        each_bracket(text, |byte| match byte {
            b'{' | b'[' => open.push(byte),
            _ => drop(open.pop()),
        });
        open.pop()
    }

    /// Most brackets of a text that are open at one place.
    pub(super) fn depth(text: &[u8]) -> usize {
        let (mut depth, mut most) = (0_usize, 0);
        each_bracket(text, |byte| match byte {
            b'{' | b'[' => {
                depth += 1;
                most = most.max(depth);
            }
            _ => depth = depth.saturating_sub(1),
        });
        most
    }
}

/// Hands out the brackets of a text that stand outside of its strings.
fn each_bracket(text: &[u8], mut sink: impl FnMut(u8)) {
    let (mut in_string, mut is_escaped) = (false, false);
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' | b'}' | b']' if !in_string => sink(byte),
            _ => {}
        }
    }
}
