//! Operator invocations.

use std::collections::HashSet;

use super::AstLowering;
use crate::SyntaxKind::*;
use crate::ast::{Expr, Ident, InPort, Invocation, Logic, OutPort, Param, PortClause};
use crate::node_view::{SyntaxElementView, SyntaxNodeView};

impl<'a> AstLowering<'a> {
    pub(super) fn invocation(&mut self, node: SyntaxNodeView<'a>) -> Option<Invocation> {
        let head = node.first_of_kind(Head)?;
        let inputs = node.first_of_kind(InputList)?;
        let mut invocation = Invocation {
            annotations: self.annotations(node),
            outputs: head
                .nodes_of_kind(OutPort)
                .filter_map(|port| self.out_port(port))
                .collect(),
            alias: self.alias(head),
            operator: self.qualified_name(node.first_of_kind(QName)?),
            inputs: inputs
                .nodes_of_kind(InPort)
                .map(|port| self.in_port(port))
                .collect(),
            logic: Vec::new(),
            windows: Vec::new(),
            params: Vec::new(),
            output: Vec::new(),
            config: Vec::new(),
            span: self.span(head).to(self.span(node)),
            head: self.span(head).to(self.span(inputs)),
        };
        for body in node.nodes_of_kind(InvocationBody) {
            let mut seen = HashSet::new();
            for clause in body.nodes() {
                let before = EntryCounts::of(&invocation);
                for entry in clause.nodes() {
                    self.entry(&mut invocation, entry);
                }
                if !seen.insert(clause.kind()) {
                    before.leave_out_repeated(&mut invocation);
                }
            }
        }
        Some(invocation)
    }

    fn entry(&mut self, invocation: &mut Invocation, node: SyntaxNodeView<'a>) {
        match node.kind() {
            StateEntry | OnTuple | OnPunct | OnProcess => {
                invocation.logic.extend(self.logic(node));
            }
            WindowEntry => {
                let values = self.values(node);
                invocation.windows.extend(self.port_clause(node, values));
            }
            Argument => invocation.params.extend(self.argument(node)),
            OutputEntry => {
                let assignments = self.assignments(node);
                invocation
                    .output
                    .extend(self.port_clause(node, assignments));
            }
            ConfigEntry => invocation.config.extend(self.config(node)),
            _ => {}
        }
    }

    fn out_port(&mut self, node: SyntaxNodeView<'a>) -> Option<OutPort> {
        let is_named = node
            .nodes()
            .nth(1)
            .is_some_and(|child| child.kind() == Name);
        Some(OutPort {
            ty: self.stream_type(node)?,
            name: is_named.then(|| self.name(node))??,
            alias: self.alias(node),
            span: self.span(node),
        })
    }

    fn in_port(&mut self, node: SyntaxNodeView<'a>) -> InPort {
        let alias = self.alias(node);
        let mut streams = self.all_names(node);
        if alias.is_some() {
            streams.pop();
        }
        InPort {
            ty: self.stream_type(node),
            streams,
            alias,
            span: self.span(node),
        }
    }

    fn port_clause<T>(&mut self, node: SyntaxNodeView<'a>, body: T) -> Option<PortClause<T>> {
        Some(PortClause {
            port: self.name(node)?,
            body,
            span: self.span(node),
        })
    }

    /// The expressions of an entry, after its name.
    pub(super) fn values(&mut self, node: SyntaxNodeView<'a>) -> Vec<Expr> {
        node.nodes()
            .filter(|child| child.kind() != Name)
            .map(|child| self.expr(child))
            .collect()
    }

    fn argument(&mut self, node: SyntaxNodeView<'a>) -> Option<Param> {
        let mut values = node.nodes().filter(|child| child.kind() != Name);
        Some(Param {
            name: self.name(node)?,
            actual: self.actual(&mut values)?,
            span: self.span(node),
        })
    }

    fn assignments(&mut self, node: SyntaxNodeView<'a>) -> Vec<(Ident, Expr)> {
        node.nodes_of_kind(OutputAssign)
            .filter_map(|assign| {
                let value = assign.nodes().find(|child| child.kind() != Name)?;
                Some((self.name(assign)?, self.expr(value)))
            })
            .collect()
    }

    fn logic(&mut self, node: SyntaxNodeView<'a>) -> Option<Logic> {
        if node.kind() == StateEntry {
            let variables = node.nodes_of_kind(LocalDecl);
            return Some(Logic::State(
                variables.filter_map(|v| self.local(v)).collect(),
            ));
        }
        let body = node.nodes().find(|child| child.kind() != Name)?;
        let stmt = self.stmt(body);
        Some(match node.kind() {
            OnTuple => Logic::OnTuple(self.name(node)?, stmt),
            OnPunct => Logic::OnPunct(self.name(node)?, stmt),
            _ => {
                let word = node.elements().find_map(|element| match element {
                    SyntaxElementView::Token(leaf) => Some(leaf.span(self.file)),
                    SyntaxElementView::Node(_) => None,
                });
                Logic::OnProcess(word?, stmt)
            }
        })
    }
}

/// How many entries an invocation had before its second clause of one kind.
struct EntryCounts {
    logic: usize,
    windows: usize,
    params: usize,
    output: usize,
    config: usize,
}

impl EntryCounts {
    fn of(invocation: &Invocation) -> EntryCounts {
        EntryCounts {
            logic: invocation.logic.len(),
            windows: invocation.windows.len(),
            params: invocation.params.len(),
            output: invocation.output.len(),
            config: invocation.config.len(),
        }
    }

    /// Leaves out entries that an earlier clause has for the same port or name: that there are two
    /// clauses was reported.
    fn leave_out_repeated(&self, invocation: &mut Invocation) {
        retain_new(&mut invocation.logic, self.logic, is_same_entry);
        retain_new(&mut invocation.windows, self.windows, |a, b| {
            a.port.text == b.port.text
        });
        retain_new(&mut invocation.params, self.params, |a, b| {
            a.name.text == b.name.text
        });
        retain_new(&mut invocation.config, self.config, |a, b| {
            a.name.text == b.name.text
        });
        // What is assigned in the later clause only is assigned.
        for later in invocation.output.split_off(self.output) {
            let mut earlier = invocation.output.iter_mut();
            match earlier.find(|clause| clause.port.text == later.port.text) {
                Some(clause) => {
                    let first = clause.body.len();
                    clause.body.extend(later.body);
                    retain_new(&mut clause.body, first, |a, b| a.0.text == b.0.text);
                }
                None => invocation.output.push(later),
            }
        }
    }
}

/// Keeps those entries from `first` on that are not the same as one before `first`.
fn retain_new<T>(entries: &mut Vec<T>, first: usize, is_same: impl Fn(&T, &T) -> bool) {
    let later = entries.split_off(first);
    let earlier = entries.len();
    for entry in later {
        if !entries[..earlier].iter().any(|one| is_same(one, &entry)) {
            entries.push(entry);
        }
    }
}

fn is_same_entry(a: &Logic, b: &Logic) -> bool {
    match (a, b) {
        (Logic::OnTuple(a, _), Logic::OnTuple(b, _))
        | (Logic::OnPunct(a, _), Logic::OnPunct(b, _)) => a.text == b.text,
        (Logic::OnProcess(..), Logic::OnProcess(..)) => true,
        _ => false,
    }
}
