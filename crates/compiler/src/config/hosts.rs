//! Config `hostPool`: named sets of hosts, which the main composite defines.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Composite, Config, Expr, ExprKind};
use tuple::{Type, Value};

use super::clause::ConfigCheck;
use super::text::{bare_word, call, quote};
use crate::names::did_you_mean;

impl<'w> ConfigCheck<'_, 'w> {
    /// The definitions of pools: `Name = ["a", "b"]`, `Name = createPool(...)`.
    pub fn host_pools(&self, config: &'w Config) -> Option<Vec<Arc<str>>> {
        let mut values: Vec<Arc<str>> = Vec::with_capacity(config.values.len());
        let mut names: Vec<&str> = Vec::new();
        for expr in &config.values {
            let ExprKind::Assign(None, _, name, pool) = &expr.kind else {
                return self.fail(expr.span, "a host pool is defined as `Name = [\"host\"]`");
            };
            let Some(name) = bare_word(name) else {
                return self.fail(name.span, "the name of a host pool is a word");
            };
            if names.contains(&name) {
                return self.fail(expr.span, format!("host pool `{name}` is defined twice"));
            }
            names.push(name);
            values.push(format!("{name} = {}", self.definition(pool)?).into());
        }
        Some(values)
    }

    fn definition(&self, pool: &'w Expr) -> Option<String> {
        match call(pool) {
            Some(("createPool", [properties, sharing])) => {
                let properties = self.properties(properties)?;
                Some(format!(
                    "createPool({properties}, {})",
                    self.sharing(sharing)?
                ))
            }
            Some(("createPool", [sharing])) => {
                Some(format!("createPool({})", self.sharing(sharing)?))
            }
            Some(("createPool", _)) => self.fail(
                pool.span,
                "`createPool` takes `{size = n, tags = [...]}` and a sharing mode",
            ),
            _ => {
                let ExprKind::List(hosts) = &pool.kind else {
                    let message = "a host pool is a list of host names or a `createPool(...)`";
                    return self.fail(pool.span, message);
                };
                let hosts: Option<Vec<_>> = hosts.iter().map(|h| self.quoted(h)).collect();
                Some(format!("[{}]", hosts?.join(", ")))
            }
        }
    }

    fn sharing(&self, expr: &'w Expr) -> Option<&'static str> {
        let message = "the sharing mode is `Sys.Shared` or `Sys.Exclusive`";
        match self.enumerator(expr, &["Shared", "Exclusive"], message)? {
            "Shared" => Some("Sys.Shared"),
            _ => Some("Sys.Exclusive"),
        }
    }

    fn properties(&self, expr: &'w Expr) -> Option<String> {
        let ExprKind::Tuple(attributes) = &expr.kind else {
            return self.fail(
                expr.span,
                "the properties of a pool are `{size = n, tags = [...]}`",
            );
        };
        let mut parts = Vec::new();
        for (name, value) in attributes {
            match &*name.text {
                "size" => {
                    parts.push(format!(
                        "size = {}",
                        self.whole_number(value, "the size of a pool", 1)?
                    ));
                }
                "tags" => {
                    let list = Type::List(Arc::new(Type::RString), None);
                    let Value::List(_) = self.constant(value, &list)? else {
                        return None;
                    };
                    let ExprKind::List(tags) = &value.kind else {
                        return self.fail(value.span, "tags are written as a list");
                    };
                    let tags: Option<Vec<_>> = tags
                        .iter()
                        .map(|tag| Some(quote(&self.text(tag)?)))
                        .collect();
                    parts.push(format!("tags = [{}]", tags?.join(", ")));
                }
                _ => return self.fail(name.span, "a pool has the properties `size` and `tags`"),
            }
        }
        Some(format!("{{{}}}", parts.join(", ")))
    }

    /// The name of a pool that the main composite defines.
    pub fn pool(&self, expr: &'w Expr) -> Option<&'w str> {
        let Some(name) = bare_word(expr) else {
            return self.fail(expr.span, "the name of a host pool is needed here");
        };
        let Some(main) = self.main() else {
            return Some(name);
        };
        let pools = main.config.iter().filter(|c| &*c.name.text == "hostPool");
        let names = pools
            .flat_map(|c| &c.values)
            .filter_map(|value| match &value.kind {
                ExprKind::Assign(None, _, name, _) => bare_word(name),
                _ => None,
            });
        if names.clone().any(|other| other == name) {
            return Some(name);
        }
        let message = format!("the main composite has no host pool `{name}`");
        let finding = Diagnostic::error("unknown-pool", expr.span, message);
        self.session.report(did_you_mean(finding, name, names));
        None
    }

    /// The main composite, if there is one.
    fn main(&self) -> Option<&'w Composite> {
        crate::main_composite::find(self.session.symbols, &self.session.main)
            .map(|(_, composite)| composite)
    }
}
