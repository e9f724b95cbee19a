//! Config `placement`: operators that share a process or a host, and operators that may not.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Config, Expr, ExprKind};

use super::clause::ConfigCheck;
use super::text::{bare_word, call, quote};

const PLACEMENT_WORDS: &str = "`host`, `hostColocation`, `hostExlocation`, `hostIsolation`, \
    `partitionColocation`, `partitionExlocation` or `partitionIsolation`";

/// Subject of a placement. An inner placement takes the place of outer ones of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlacementSubject {
    /// The host itself: `host`.
    Host,
    /// Processes on the same host: `hostColocation`, `hostExlocation`, `hostIsolation`.
    HostSharing,
    /// Operators in the same process: `partitionColocation` and the like.
    Partition,
}

/// Subject of the placement with this text.
pub(super) fn placement_subject(text: &str) -> PlacementSubject {
    match placement_kind(text) {
        "host" => PlacementSubject::Host,
        kind if kind.starts_with("host") => PlacementSubject::HostSharing,
        _ => PlacementSubject::Partition,
    }
}

/// The word of a placement's text: `host` of `host("a")`.
fn placement_kind(text: &str) -> &str {
    text.split('(').next().unwrap_or(text)
}

impl<'w> ConfigCheck<'_, 'w> {
    /// The values of a placement entry.
    pub fn placements(&self, config: &'w Config) -> Option<Vec<Arc<str>>> {
        let mut values: Vec<Arc<str>> = Vec::with_capacity(config.values.len());
        for expr in &config.values {
            let value = self.placement(expr)?;
            if values
                .iter()
                .any(|other| placement_kind(other) == placement_kind(&value))
            {
                return self.fail(
                    expr.span,
                    format!("`{}` is given twice", placement_kind(&value)),
                );
            }
            values.push(value.into());
        }
        self.colocated_alone(config, &values);
        Some(values)
    }

    /// Warns of a colocation beside an isolation that leaves nothing of it.
    fn colocated_alone(&self, config: &Config, values: &[Arc<str>]) {
        let of_partition = "no other operator can join this one: it has `partitionIsolation`";
        let of_host = "all operators with this `hostColocation` run in one process: by \
            `hostIsolation`, no other process may be on their host";
        for (all, alone, message) in [
            ("partitionColocation", "partitionIsolation", of_partition),
            ("hostColocation", "hostIsolation", of_host),
        ] {
            let has = |word: &str| values.iter().any(|value| placement_kind(value) == word);
            let [first, .., last] = &config.values[..] else {
                return;
            };
            if has(all) && has(alone) {
                let span = first.span.to(last.span);
                let finding = Diagnostic::warning("useless-colocation", span, message);
                let help = format!("leave out `{alone}`, or `{all}` if no other has its id");
                self.session.report(finding.help(help));
            }
        }
    }

    fn placement(&self, expr: &'w Expr) -> Option<String> {
        match (bare_word(expr), call(expr)) {
            (Some(word @ ("hostIsolation" | "partitionIsolation")), _) => Some(word.to_owned()),
            (_, Some(("host", [host]))) => self.host(host),
            (
                _,
                Some((
                    word @ ("hostColocation"
                    | "hostExlocation"
                    | "partitionColocation"
                    | "partitionExlocation"),
                    [id],
                )),
            ) => Some(format!("{word}({})", self.quoted(id)?)),
            (_, Some((word @ ("hostIsolation" | "partitionIsolation"), _))) => {
                self.fail(expr.span, format!("`{word}` takes no value"))
            }
            (Some(word), _) | (_, Some((word, _)))
                if PLACEMENT_WORDS.contains(&format!("`{word}`")) =>
            {
                self.fail(
                    expr.span,
                    format!("`{word}` takes one value in parentheses"),
                )
            }
            _ => self.fail(expr.span, format!("a placement is {PLACEMENT_WORDS}")),
        }
    }

    /// Text of a host placement: `host("name")`, `host(Pool)` or `host(Pool[1])`.
    fn host(&self, host: &'w Expr) -> Option<String> {
        match &host.kind {
            ExprKind::Name(name) if !name.name.text.starts_with('$') => {
                let pool = self.pool(host)?;
                Some(format!("host({pool})"))
            }
            ExprKind::Index(pool, at) => {
                let pool = self.pool(pool)?;
                let at = self.whole_number(at, "the index of a host in its pool", 0)?;
                Some(format!("host({pool}[{at}])"))
            }
            _ => Some(format!("host({})", quote(&self.text(host)?))),
        }
    }
}
