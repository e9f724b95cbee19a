//! The operator instance of XMLParse: text in, tuples out.

use std::sync::Arc;

use eval::{Fault, FaultKind, TraceLevel};
use graph::PortIndex;
use runtime::abi::Projection;
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet};
use tuple::{Layout, Punctuation, RString, TupleBuf, TupleRef, Type, Value};
use xml::{
    NameMatching, OpenElements, Scanner, ScannerLimits, TriggerElement, XmlNodeRef, XmlToken,
};

use super::document_attribute::document_attribute;
use super::extraction::XmlExtraction;
use super::plan::{self, XmlParsePlan};
use super::value_extractor::{ExtractionFailure, ValueExtractor};

/// Limits of a document, against input that would use up the memory; those of libxml2 without and
/// with its option "huge".
const LIMITS: ScannerLimits = ScannerLimits {
    depth: 256,
    item_bytes: 10_000_000,
};
const HUGE_LIMITS: ScannerLimits = ScannerLimits {
    depth: 2048,
    item_bytes: 1_000_000_000,
};

/// Metric that counts the tuples and documents that `parsing : permissive` skips.
const INVALID_TUPLES_METRIC: &str = "nInvalidTuples";

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let refused = |misuse: graph::InvocationError| Fault::new(FaultKind::Limit, misuse.message);
    let XmlParsePlan { names, ports } = plan::plan(build.operator).map_err(refused)?;
    let input = document_attribute(build.operator).map_err(refused)?;
    let triggers = ports.iter().map(|port| port.trigger.clone()).collect();
    let tree = OpenElements::new(
        names,
        triggers,
        ports.iter().flat_map(plan::PortPlan::element_names),
    );
    let limits = if build.flag("xmlParseHuge", false)? {
        HUGE_LIMITS
    } else {
        LIMITS
    };
    let keeps = !build.flag("nullify", true)?;
    build.services.add_to_metric(INVALID_TUPLES_METRIC, 0);
    let ports = ports.into_iter().enumerate();
    let ports = ports.map(|(at, port)| XmlOutputPort::new(build, at, port, keeps));
    let ports = ports.collect::<Result<_, _>>()?;
    Ok(Box::new(XmlParse {
        input: DocumentAttribute::new(build, input),
        scanner: Scanner::for_several_documents(limits),
        tree,
        ports,
        names,
        is_strict: build.literal("parsing") != Some("permissive"),
    }))
}

struct XmlParse {
    input: DocumentAttribute,
    scanner: Scanner,
    tree: OpenElements,
    ports: Vec<XmlOutputPort>,
    names: NameMatching,
    is_strict: bool,
}

/// The input attribute with the XML text.
struct DocumentAttribute {
    layout: Arc<Layout>,
    index: usize,
    /// Whether each tuple is a whole document.
    has_whole_document: bool,
    /// Whether the attribute has bytes in the encoding that the document declares. Other types have
    /// characters, whatever a document declares that was converted before.
    is_encoded: bool,
}

impl DocumentAttribute {
    fn new(build: &BuildContext<'_>, index: usize) -> DocumentAttribute {
        let layout = build.inputs[0].clone();
        let (_, ty) = layout.attribute(index);
        DocumentAttribute {
            index,
            has_whole_document: ty.is_xml(),
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

/// Evaluation of the tuples of one output port.
struct XmlOutputPort {
    extractions: Vec<Option<XmlExtraction>>,
    layout: Arc<Layout>,
    element_projections: Vec<Projection>,
    output: Projection,
    /// Slots that the attributes use.
    used_extractions: Vec<usize>,
    /// Attributes that keep their value if the document has nothing for any of these slots.
    retained_attributes: Vec<(usize, Vec<usize>)>,
    tuple_buf: TupleBuf,
    /// The tuple submitted last, if attributes may keep their value.
    previous_tuple: Option<TupleBuf>,
}

impl XmlOutputPort {
    fn new(
        build: &mut BuildContext<'_>,
        at: usize,
        plan: plan::PortPlan,
        keeps: bool,
    ) -> Result<XmlOutputPort, Fault> {
        let layout = BuildContext::layout_of_types(plan.types.iter())?;
        let inner = plan.element_exprs.iter().map(|expr| {
            let result = BuildContext::layout_of_types(std::iter::once(&expr.ty))?;
            build.results_projection(&layout, &[Some(expr)], &result)
        });
        let inner = inner.collect::<Result<_, _>>()?;
        let whole = build.outputs[at].clone();
        let assign: Vec<_> = plan.assign.iter().map(Option::as_ref).collect();
        let output = build.results_projection(&layout, &assign, &whole)?;
        let used = plan.used_extractions.concat();
        let attributes = plan.used_extractions.into_iter().enumerate();
        let kept = attributes.filter(|(at, slots)| {
            let is_collection = matches!(
                whole.attribute(*at).1,
                Type::List(..) | Type::Set(..) | Type::Map(..)
            );
            keeps && !slots.is_empty() && !is_collection
        });
        Ok(XmlOutputPort {
            retained_attributes: kept.collect(),
            extractions: plan.extractions,
            layout,
            element_projections: inner,
            output,
            used_extractions: used,
            tuple_buf: TupleBuf::default(),
            previous_tuple: None,
        })
    }

    /// Evaluates the output tuple for an element.
    fn write(
        &mut self,
        at: XmlNodeRef<'_>,
        names: NameMatching,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), ExtractionFailure> {
        let mut reader = ValueExtractor {
            names,
            extractions: &self.extractions,
            layout: &self.layout,
            element_projections: &mut self.element_projections,
            tuple,
        };
        let mut found = Vec::new();
        let values = reader.values(&self.used_extractions, at, out, &mut |slot| {
            found.push(slot)
        })?;
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs).with_results(values.as_ref());
        self.output.write(&inputs, out, &mut self.tuple_buf)?;
        if let Some(last) = &self.previous_tuple {
            let layout = &self.output.layout;
            let kept = self.retained_attributes.iter();
            for (attribute, _) in kept.filter(|(_, slots)| !slots.iter().any(|s| found.contains(s)))
            {
                self.tuple_buf.copy_attribute(
                    layout,
                    *attribute,
                    last.as_ref(),
                    layout,
                    *attribute,
                );
            }
        }
        if !self.retained_attributes.is_empty() {
            self.previous_tuple = Some(self.tuple_buf.clone());
        }
        Ok(())
    }
}

impl XmlParse {
    /// Processes the tokens that the scanner has.
    fn read(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        while !out.services().is_shutdown() {
            match self.scanner.token() {
                Ok(Some(token)) => self.process_token(token, tuple, out)?,
                Ok(None) => break,
                Err(why) => return self.fail_document(&why, out),
            }
        }
        if self.input.has_whole_document
            && let Err(why) = self.scanner.end()
        {
            self.fail_document(&why, out)?;
        }
        Ok(())
    }

    fn process_token(
        &mut self,
        token: XmlToken,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        match token {
            XmlToken::Declaration { encoding } => self.check_encoding(encoding, out)?,
            XmlToken::Comment { .. } | XmlToken::Instruction { .. } => {}
            XmlToken::Start { name, attributes } => self.tree.start(&name, attributes),
            XmlToken::Text {
                text,
                is_cdata: is_literal,
            } => self.tree.add_text(&text, is_literal),
            XmlToken::End { is_root, .. } => {
                self.end_element(tuple, out)?;
                if is_root {
                    for port in 0..self.ports.len() {
                        out.submit_punctuation(PortIndex(port as u32), Punctuation::Window)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the innermost element: each port whose trigger leads to it submits a tuple.
    fn end_element(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let result = match self.tree.end_element() {
            Some(TriggerElement { index, ports }) => {
                let mut ports = ports.into_iter();
                ports.try_for_each(|port| self.submit(port, index, tuple, out))
            }
            None => Ok(()),
        };
        // The element is closed after a fault too: the program may catch it and go on.
        self.tree.close();
        result
    }

    fn submit(
        &mut self,
        at: usize,
        element: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let port = &mut self.ports[at];
        match port.write(self.tree.node(element), self.names, tuple, out) {
            Ok(()) => out.submit(PortIndex(at as u32), port.tuple_buf.as_ref()),
            Err(ExtractionFailure::Fault(fault)) => Err(fault),
            Err(ExtractionFailure::Text(why)) => self.reject(&why, out),
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
                self.fail_document(&why, out)
            }
            _ => Ok(()),
        }
    }

    /// Rejects a document that is not well-formed; the next tuple begins another one.
    fn fail_document(&mut self, why: &str, out: &mut dyn Outlet) -> Result<(), Fault> {
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
        out.services().add_to_metric(INVALID_TUPLES_METRIC, 1);
        out.services().log(TraceLevel::Warn, &message, "XMLParse");
        Ok(())
    }
}

impl Operator for XmlParse {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
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
            Err(why) => self.fail_document(&why, out),
        }
    }
}
