//! Names in the head of an invocation: `(stream<T> Out as O) as N = Operator(A, B as I; C)`.

use std::ops::Range;

use syntax::SyntaxKind;

use super::cursor_place::{CursorContext, WrittenPort};
use super::cursor_scan::CursorScan;

/// Reads the names of a head, as far as it is written.
pub fn read(scan: &CursorScan<'_>, head: Range<usize>, context: &mut CursorContext) {
    let equals = depths(scan, head.clone())
        .find(|&(at, depth)| depth == 0 && scan.kind(at) == SyntaxKind::Eq);
    let Some((equals, _)) = equals else {
        return;
    };
    context.outputs = output_ports(scan, head.start..equals);
    let open = (equals..head.end).find(|&at| scan.kind(at) == SyntaxKind::LParen);
    let name_end = open.unwrap_or(head.end);
    if name_end > equals + 1 {
        context.operator = Some(scan.word(name_end - 1).to_owned());
    }
    if let Some(open) = open {
        context.inputs = input_ports(scan, open + 1..head.end);
    }
}

/// The tokens of a range with the number of brackets that are open around each, `<` included.
pub fn depths<'s>(
    scan: &'s CursorScan<'_>,
    range: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> + 's {
    use SyntaxKind::*;
    let mut depth = 0usize;
    range.map(move |at| {
        let kind = scan.kind(at);
        if matches!(kind, RParen | RBracket | RBrace | Gt) {
            depth = depth.saturating_sub(1);
        }
        let found = (at, depth);
        if matches!(kind, LParen | LBracket | LBrace | Lt) {
            depth += 1;
        }
        found
    })
}

/// Ports before the `=`: a name behind `>`, and another one behind `as`.
fn output_ports(scan: &CursorScan<'_>, range: Range<usize>) -> Vec<WrittenPort> {
    let mut ports: Vec<WrittenPort> = Vec::new();
    let mut is_outside = true;
    for (at, depth) in depths(scan, range.clone()) {
        // The alias behind the parentheses is the name of the operator.
        is_outside &= scan.kind(at) != SyntaxKind::RParen || depth > 0;
        let before = scan.kind(at.wrapping_sub(1));
        if scan.kind(at) != SyntaxKind::Ident || !range.contains(&at.wrapping_sub(1)) {
            continue;
        }
        let name = scan.word(at).to_owned();
        match before {
            SyntaxKind::Gt => ports.push(WrittenPort {
                streams: vec![name],
                alias: None,
            }),
            SyntaxKind::AsKw if is_outside => {
                if let Some(last) = ports.last_mut() {
                    last.alias = Some(name);
                }
            }
            _ => {}
        }
    }
    ports
}

/// Ports behind the operator's name: names with commas between, then `as` and an alias.
fn input_ports(scan: &CursorScan<'_>, range: Range<usize>) -> Vec<WrittenPort> {
    let mut ports = vec![WrittenPort::default()];
    for (at, depth) in depths(scan, range) {
        let last = ports.len() - 1;
        match scan.kind(at) {
            SyntaxKind::RParen if depth == 0 => break,
            SyntaxKind::Semi => ports.push(WrittenPort::default()),
            SyntaxKind::Ident if depth == 0 => {
                let name = scan.word(at).to_owned();
                match scan.kind(at - 1) {
                    SyntaxKind::AsKw => ports[last].alias = Some(name),
                    _ => ports[last].streams.push(name),
                }
            }
            _ => {}
        }
    }
    ports.retain(|port| !port.streams.is_empty());
    ports
}
