//! Interpreter of TextMate grammars, line by line as editors do it: rules with `match`, rules with
//! `begin` and `end`, captures, and `include` of the grammar's own repository.

use std::collections::BTreeMap;

use fancy_regex::{Captures, Regex};
use serde_json::Value;

/// A grammar whose expressions are compiled.
pub struct Grammar {
    root: Vec<Rule>,
    repository: BTreeMap<String, Vec<Rule>>,
}

/// A rule, or the name of a list of rules.
enum Rule {
    Include(String),
    Match {
        expression: Regex,
        scope: Option<String>,
        captures: BTreeMap<usize, String>,
    },
    Span {
        begin: Regex,
        end: Regex,
        scope: Option<String>,
        inner: Vec<Rule>,
    },
}

/// The scopes of each byte of a text, outermost first.
pub struct Scopes(Vec<Vec<String>>);

impl Scopes {
    pub fn at(&self, offset: usize) -> &[String] {
        &self.0[offset]
    }
}

impl Grammar {
    /// Reads a grammar from JSON.
    pub fn new(text: &str) -> Grammar {
        let json: Value = serde_json::from_str(text).expect("JSON");
        let repository = json["repository"].as_object().expect("a repository");
        let grammar = Grammar {
            root: rules(&json),
            repository: repository
                .iter()
                .map(|(name, value)| (name.clone(), rules(value)))
                .collect(),
        };
        let mut lists = vec![&grammar.root];
        lists.extend(grammar.repository.values());
        for rule in lists.into_iter().flatten() {
            if let Rule::Include(name) = rule {
                assert!(grammar.repository.contains_key(name), "{name}");
            }
        }
        grammar
    }

    /// The rules of a list, those that it includes in their places.
    fn flat<'g>(&'g self, rules: &'g [Rule], found: &mut Vec<&'g Rule>) {
        for rule in rules {
            match rule {
                Rule::Include(name) => self.flat(&self.repository[name], found),
                rule => found.push(rule),
            }
        }
    }

    /// Colours a text line by line.
    pub fn scopes(&self, text: &str) -> Scopes {
        let mut scopes = Scopes(vec![Vec::new(); text.len()]);
        let mut open: Vec<&Rule> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            self.line(content, start, &mut open, &mut scopes);
            start += line.len();
        }
        scopes
    }

    fn line<'g>(&'g self, line: &str, start: usize, open: &mut Vec<&'g Rule>, scopes: &mut Scopes) {
        let mut at = 0;
        loop {
            let mut candidates = Vec::new();
            let mut end_match = None;
            match open.last() {
                Some(Rule::Span { end, inner, .. }) => {
                    end_match = found(end, line, at);
                    self.flat(inner, &mut candidates);
                }
                _ => self.flat(&self.root, &mut candidates),
            }
            let next = candidates.into_iter().filter_map(|rule| {
                let expression = match rule {
                    Rule::Match { expression, .. } => expression,
                    Rule::Span { begin, .. } => begin,
                    Rule::Include(_) => return None,
                };
                Some((rule, found(expression, line, at)?))
            });
            // The first of those that begin first.
            let next = next.min_by_key(|(_, captures)| whole(captures).start);
            let next_start = next.as_ref().map_or(usize::MAX, |(_, c)| whole(c).start);
            let ends = end_match.filter(|captures| whole(captures).start <= next_start);
            let open_scopes = names(open);
            if let Some(captures) = ends {
                let range = whole(&captures);
                paint(scopes, start + at..start + range.end, &open_scopes);
                open.pop();
                at = range.end;
                continue;
            }
            let Some((rule, captures)) = next else {
                paint(scopes, start + at..start + line.len(), &open_scopes);
                return;
            };
            let range = whole(&captures);
            paint(scopes, start + at..start + range.start, &open_scopes);
            at = range.end.max(at);
            match rule {
                Rule::Match { .. } => {
                    paint_match(scopes, rule, &captures, start, &open_scopes);
                    if range.is_empty() {
                        // Nothing was taken: the next character has no rule.
                        let step = line[at..].chars().next().map_or(1, char::len_utf8);
                        at += step;
                    }
                }
                rule => {
                    open.push(rule);
                    let inside = names(open);
                    paint(scopes, start + range.start..start + range.end, &inside);
                }
            }
            if at > line.len() {
                return;
            }
        }
    }
}

/// Paints what a rule has matched on the line that begins at `start`, and the parts with captures.
fn paint_match(
    scopes: &mut Scopes,
    rule: &Rule,
    found: &Captures<'_, str>,
    start: usize,
    open: &[String],
) {
    let Rule::Match {
        scope, captures, ..
    } = rule
    else {
        return;
    };
    let range = whole(found);
    let inside: Vec<_> = open.iter().chain(scope).cloned().collect();
    paint(scopes, start + range.start..start + range.end, &inside);
    for (group, name) in captures {
        if let Some(part) = found.get(*group) {
            let inside: Vec<_> = inside.iter().chain([name]).cloned().collect();
            paint(scopes, start + part.start()..start + part.end(), &inside);
        }
    }
}

fn found<'t>(expression: &Regex, line: &'t str, at: usize) -> Option<Captures<'t, str>> {
    expression
        .captures_from_pos(line, at)
        .expect("a search that ends")
}

fn whole(captures: &Captures<'_, str>) -> std::ops::Range<usize> {
    captures.get(0).expect("the whole match").range()
}

fn names(open: &[&Rule]) -> Vec<String> {
    let scopes = open.iter().filter_map(|rule| match rule {
        Rule::Span { scope, .. } => scope.clone(),
        _ => None,
    });
    scopes.collect()
}

fn paint(scopes: &mut Scopes, range: std::ops::Range<usize>, names: &[String]) {
    for scope in &mut scopes.0[range] {
        *scope = names.to_vec();
    }
}

fn rules(value: &Value) -> Vec<Rule> {
    let patterns = value["patterns"].as_array();
    patterns.into_iter().flatten().map(rule).collect()
}

fn rule(value: &Value) -> Rule {
    let expression = |key: &str| {
        let text = value[key]
            .as_str()
            .unwrap_or_else(|| panic!("{key} in {value}"));
        Regex::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let known = [
        "name", "match", "begin", "end", "captures", "patterns", "include",
    ];
    for key in value.as_object().expect("a rule").keys() {
        assert!(
            known.contains(&&**key),
            "{key} is no key that the interpreter knows"
        );
    }
    if let Some(include) = value["include"].as_str() {
        return Rule::Include(include.trim_start_matches('#').to_owned());
    }
    let scope = value["name"].as_str().map(str::to_owned);
    if value["begin"].is_string() {
        return Rule::Span {
            begin: expression("begin"),
            end: expression("end"),
            scope,
            inner: rules(value),
        };
    }
    let captures = value["captures"].as_object().into_iter().flatten();
    let captures = captures.map(|(group, value)| {
        let name = value["name"].as_str().expect("a name");
        (group.parse().expect("a number"), name.to_owned())
    });
    Rule::Match {
        expression: expression("match"),
        scope,
        captures: captures.collect(),
    }
}
