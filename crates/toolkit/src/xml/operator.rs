//! The running operator: text in, tuples out.

use std::sync::Arc;

use graph::xml::{Limits, Scanner, Token};
use graph::{Fault, FaultKind, TraceLevel};
use runtime::abi::Projection;
use runtime::{Build, Operator, Outlet, Row};
use tuple::{Layout, Punctuation, RString, TupleBuf, TupleRef, Type, Value};

use super::element::Element;
use super::names::Names;
use super::plan::{self, Plan, Source};
use super::tree::{Closed, Tree};
use super::value::{Reader, Wrong};
use super::xml_parse;

/// What a document may have, and with `xmlParseHuge`.
const LIMITS: Limits = Limits {
    depth: 256,
    item_bytes: 10_000_000,
};
const HUGE_LIMITS: Limits = Limits {
    depth: 2048,
    item_bytes: 1_000_000_000,
};

/// The metric of what `parsing : permissive` leaves out.
const INVALID: &str = "nInvalidTuples";

/// Makes an XMLParse.
pub fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let refused = |misuse: graph::Misuse| Fault::new(FaultKind::Limit, misuse.message);
    let Plan { names, ports } = plan::plan(build.operator).map_err(refused)?;
    let input = xml_parse::input(build.operator).map_err(refused)?;
    let triggers = ports.iter().map(|port| port.trigger.clone()).collect();
    let tree = Tree::new(names, triggers, ports.iter().flat_map(plan::Port::steps));
    let limits = if build.flag("xmlParseHuge", false)? {
        HUGE_LIMITS
    } else {
        LIMITS
    };
    let keeps = !build.flag("nullify", true)?;
    build.services.count(INVALID, 0);
    let ports = ports.into_iter().enumerate();
    let ports = ports.map(|(at, port)| Port::new(build, at, port, keeps));
    let ports = ports.collect::<Result<_, _>>()?;
    Ok(Box::new(XmlParse {
        input: Input::new(build, input),
        scanner: Scanner::of_several(limits),
        tree,
        ports,
        names,
        is_strict: build.literal("parsing") != Some("permissive"),
    }))
}

struct XmlParse {
    input: Input,
    scanner: Scanner,
    tree: Tree,
    ports: Vec<Port>,
    names: Names,
    is_strict: bool,
}

/// The attribute that holds text.
struct Input {
    layout: Arc<Layout>,
    index: usize,
    /// Each tuple is a document.
    is_whole: bool,
    /// It is bytes, in the encoding that the document says. Other types hold characters, whatever a
    /// document says that was converted on its way.
    is_encoded: bool,
}

impl Input {
    fn new(build: &Build<'_>, index: usize) -> Input {
        let layout = build.inputs[0].clone();
        let (_, ty) = layout.attribute(index);
        Input {
            index,
            is_whole: ty.is_xml(),
            is_encoded: *ty == Type::Blob,
            layout: layout.clone(),
        }
    }

    fn bytes(&self, tuple: TupleRef<'_>) -> Vec<u8> {
        match tuple.get(&self.layout, self.index) {
            Value::RString(text) | Value::Xml(text) => text.0,
            Value::UString(text) => RString::from(&text).0,
            Value::Blob(bytes) => bytes,
            _ => Vec::new(),
        }
    }
}

/// An output port.
struct Port {
    slots: Vec<Option<Source>>,
    layout: Arc<Layout>,
    inner: Vec<Projection>,
    output: Projection,
    /// The slots that attributes are made of.
    used: Vec<usize>,
    /// The attributes that keep their value if the document says nothing of any of these slots.
    kept: Vec<(usize, Vec<usize>)>,
    whole: TupleBuf,
    /// The tuple before.
    last: Option<TupleBuf>,
}

impl Port {
    fn new(build: &mut Build<'_>, at: usize, plan: plan::Port, keeps: bool) -> Result<Port, Fault> {
        let layout = Build::layout_of(plan.types.iter());
        let inner = plan.inner.iter().map(|expr| {
            let result = Build::layout_of(std::iter::once(&expr.ty));
            build.projection_over(&layout, &[Some(expr)], &result)
        });
        let inner = inner.collect::<Result<_, _>>()?;
        let whole = build.outputs[at].clone();
        let assign: Vec<_> = plan.assign.iter().map(Option::as_ref).collect();
        let output = build.projection_over(&layout, &assign, &whole)?;
        let used = plan.used.concat();
        let attributes = plan.used.into_iter().enumerate();
        let kept = attributes.filter(|(at, slots)| {
            let is_collection = matches!(
                whole.attribute(*at).1,
                Type::List(..) | Type::Set(..) | Type::Map(..)
            );
            keeps && !slots.is_empty() && !is_collection
        });
        Ok(Port {
            kept: kept.collect(),
            slots: plan.slots,
            layout,
            inner,
            output,
            used,
            whole: TupleBuf::default(),
            last: None,
        })
    }

    /// Works the tuple of an element out.
    fn write(
        &mut self,
        at: &Element,
        names: Names,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Wrong> {
        let mut reader = Reader {
            names,
            slots: &self.slots,
            layout: &self.layout,
            inner: &mut self.inner,
            tuple,
        };
        let mut found = Vec::new();
        let values = reader.values(&self.used, at, out, &mut |slot| found.push(slot))?;
        let row = [Some(tuple)];
        let row = Row::new(&row).with(values.as_ref());
        self.output.write(&row, out, &mut self.whole)?;
        if let Some(last) = &self.last {
            let layout = &self.output.layout;
            let kept = self.kept.iter();
            for (attribute, _) in kept.filter(|(_, slots)| !slots.iter().any(|s| found.contains(s)))
            {
                self.whole
                    .copy_attribute(layout, *attribute, last.as_ref(), layout, *attribute);
            }
        }
        if !self.kept.is_empty() {
            self.last = Some(self.whole.clone());
        }
        Ok(())
    }
}

impl XmlParse {
    /// Takes what the scanner has, token by token.
    fn read(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        while !out.services().is_shutdown() {
            match self.scanner.token() {
                Ok(Some(token)) => self.take(token, tuple, out)?,
                Ok(None) => break,
                Err(why) => return self.break_off(&why, out),
            }
        }
        if self.input.is_whole
            && let Err(why) = self.scanner.end()
        {
            self.break_off(&why, out)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        token: Token,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        match token {
            Token::Declaration { encoding } => self.check_encoding(encoding, out)?,
            Token::Comment { .. } | Token::Instruction { .. } => {}
            Token::Start { name, attributes } => self.tree.start(&name, attributes),
            Token::Text { text, is_literal } => self.tree.text(&text, is_literal),
            Token::End { is_root, .. } => {
                self.end(tuple, out)?;
                if is_root {
                    for port in 0..self.ports.len() {
                        out.punctuate(port as u32, Punctuation::Window)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The innermost element ends: it makes a tuple for each port whose trigger it is.
    fn end(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(Closed { element, ports }) = self.tree.end() else {
            self.tree.close(None);
            return Ok(());
        };
        let mut ports = ports.into_iter();
        let result = ports.try_for_each(|port| self.submit(port, &element, tuple, out));
        // Also after a fault: somebody may catch it and go on.
        self.tree.close(Some(element));
        result
    }

    fn submit(
        &mut self,
        at: usize,
        element: &Element,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let port = &mut self.ports[at];
        match port.write(element, self.names, tuple, out) {
            Ok(()) => out.submit(at as u32, port.whole.as_ref()),
            Err(Wrong::Fault(fault)) => Err(fault),
            Err(Wrong::Text(why)) => self.reject(&why, out),
        }
    }

    fn check_encoding(
        &mut self,
        encoding: Option<String>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let known = |name: &str| ["utf-8", "us-ascii"].contains(&&*name.to_lowercase());
        match encoding {
            Some(name) if self.input.is_encoded && !known(&name) => {
                let why = format!(
                    "it is in {name}, and only UTF-8 is read from a blob: make it an rstring before, \
                     with convertToUtf8"
                );
                self.break_off(&why, out)
            }
            _ => Ok(()),
        }
    }

    /// The document is not well-formed: the next tuple begins another one.
    fn break_off(&mut self, why: &str, out: &mut dyn Outlet) -> Result<(), Fault> {
        let result = self.reject(&format!("not well-formed XML: {why}"), out);
        self.scanner.restart();
        self.tree.restart();
        result
    }

    fn reject(&mut self, why: &str, out: &mut dyn Outlet) -> Result<(), Fault> {
        let place = match &*self.tree.path() {
            "" => String::new(),
            path => format!(", {path}"),
        };
        let message = format!("line {}{place}: {why}", self.scanner.line());
        if self.is_strict {
            return Err(Fault::value(message));
        }
        out.services().count(INVALID, 1);
        out.services().log(TraceLevel::Warn, &message, "XMLParse");
        Ok(())
    }
}

impl Operator for XmlParse {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let bytes = self.input.bytes(tuple);
        if bytes.is_empty() {
            return Ok(());
        }
        self.scanner.push(&bytes);
        self.read(tuple, out)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if out.services().is_shutdown() {
            return Ok(());
        }
        match self.scanner.end() {
            Ok(()) => Ok(()),
            Err(why) => self.break_off(&why, out),
        }
    }
}
