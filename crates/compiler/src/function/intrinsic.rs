//! Functions that the compiler evaluates: places in the source, names of instances, values given
//! when compiling or submitting, numbers of ports and channels.
//!
//! Where the library declares one of them too, the library function is called when the value is not
//! known (inside a user function, whose operator is not known).

use std::path::Path;
use std::rc::Rc;

use graph::{Arg, ExprKind};
use syntax::ast::{self, QName};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{List, RString, Type, Value};

use crate::Session;
use crate::expr::Typer;
use crate::names::{LANGUAGE_FUNCTIONS, LoadedUnit};
use crate::stmt::punctuation_type;
use crate::tables::{FunctionOwner, Signature};

/// Namespace of the functions that the compiler evaluates.
pub(super) const NAMESPACE: &str = "spl.utility";

const INTRINSIC_PROTOTYPES: [&str; 22] = [
    "rstring getCompileTimeValue(rstring name)",
    "rstring getCompileTimeValue(rstring name, rstring defaultValue)",
    "list<rstring> getCompileTimeListValue(rstring name)",
    "rstring getThisFileName()",
    "rstring getThisFilePath()",
    "rstring getThisFileDir()",
    "rstring getThisToolkitDir()",
    "int32 getThisLine()",
    "rstring getApplicationDir()",
    "rstring getThisCompositeInstanceName()",
    "rstring getMainCompositeName()",
    "rstring getSubmissionTimeValue(rstring name)",
    "rstring getSubmissionTimeValue(rstring name, rstring defaultValue)",
    "list<rstring> getSubmissionTimeListValue(rstring name)",
    "list<rstring> getSubmissionTimeListValue(rstring name, list<rstring> defaultValue)",
    "int32 getChannel()",
    "int32 getLocalChannel()",
    "int32 getMaxChannels()",
    "rstring getThisOperatorName()",
    "rstring getToolkitDirectory(rstring toolkitName)",
    "rstring byChannel()",
    "rstring byReplica()",
];

impl Session<'_> {
    /// The prototypes of an intrinsic.
    pub(super) fn intrinsic_signatures(&self, name: &str) -> Vec<Rc<Signature>> {
        let mut all = self.functions.intrinsics.borrow_mut();
        if all.is_empty() {
            for text in INTRINSIC_PROTOTYPES {
                let Some(name) = crate::names::name_in_prototype(text) else {
                    continue;
                };
                let signature = self.prototype(text, FunctionOwner::Intrinsic).map(Rc::new);
                all.entry(name).or_default().extend(signature);
            }
        }
        all.get(name).cloned().unwrap_or_default()
    }
}

impl<'w> Typer<'_, 'w> {
    /// A call whose arguments are no ordinary expressions; `None` if it is no such call.
    pub(super) fn intrinsic_call(
        &mut self,
        name: &'w QName,
        args: &'w [ast::Expr],
        span: Span,
    ) -> Option<Option<graph::Expr>> {
        if !LANGUAGE_FUNCTIONS.contains(&&*name.name.text) || !self.is_intrinsic(name) {
            return None;
        }
        Some(match &*name.name.text {
            "currentPunct" => self.current_punct(args, span),
            "inputPort" => self.port_number(args, span, true),
            "outputPort" => self.port_number(args, span, false),
            word => {
                let message = format!("`{word}` has no value; it is a statement of its own");
                self.fail("void-value", span, message)
            }
        })
    }

    fn current_punct(&mut self, args: &[ast::Expr], span: Span) -> Option<graph::Expr> {
        if !args.is_empty() {
            let message = "`currentPunct` takes no arguments";
            return self.fail("wrong-argument-count", span, message);
        }
        if !self.context.punctuation {
            let message = "`currentPunct()` is known only in `onPunct`";
            return self.fail("punctuation-not-allowed", span, message);
        }
        Some(self.typed_expr(ExprKind::CurrentPunct, punctuation_type(), span))
    }

    /// Evaluates `inputPort(In)` and `outputPort(Out)`, the number of a port.
    fn port_number(
        &mut self,
        args: &'w [ast::Expr],
        span: Span,
        input: bool,
    ) -> Option<graph::Expr> {
        let word = if input { "inputPort" } else { "outputPort" };
        let [arg] = args else {
            let message = format!("`{word}` takes one stream, not {} arguments", args.len());
            return self.fail("wrong-argument-count", span, message);
        };
        let text = match &arg.kind {
            ast::ExprKind::Name(name) => &*name.name.text,
            _ => "",
        };
        let port = match (input, &self.ports_named(arg)[..]) {
            (false, _) => self.output_named(arg),
            (true, []) => None,
            (true, &[port]) => Some(port),
            (true, several) => return self.ambiguous_port(several, text, arg.span),
        };
        if let Some(port) = port {
            let kind = ExprKind::Const(Value::Int32(port as i32));
            return Some(self.typed_expr(kind, Type::Int32, span));
        }
        if self.session.note_poisoned(DeclarationKind::Stream, text) {
            return None;
        }
        let direction = if input { "an input" } else { "an output" };
        let message = format!("`{word}` takes {direction} stream of this operator");
        let finding = Diagnostic::error("unknown-port", arg.span, message);
        let Some(site) = &self.operator else {
            return self.report(finding);
        };
        let inputs = site.inputs.iter().filter(|_| input).map(|p| &p.names);
        let outputs = site.outputs.iter().filter(|_| !input).map(|p| &p.names);
        let names = || inputs.chain(outputs).flatten().map(|name| &**name);
        let suggestions = &self.session.symbols.suggestions;
        self.report(suggestions.did_you_mean(finding, text, names))
    }

    /// The value of a call that the compiler evaluates; `None` if it is to be called at run time.
    pub(super) fn folded_call(
        &self,
        signature: &Signature,
        args: &[Arg],
        ty: &Type,
        span: Span,
    ) -> Option<Option<graph::Expr>> {
        if signature.owner != FunctionOwner::Intrinsic && depends_on_channel(&signature.name) {
            let site = self.operator.as_ref()?;
            if site.channel.channels.is_empty() && self.session.is_outside_program.get() {
                // Whoever invokes this composite may do so in a parallel region.
                return Some(self.pending(ty.clone(), span));
            }
        }
        let value = match &*signature.name {
            "getThisFileName" => string_value(
                Path::new(&*self.unit(span)?.path)
                    .file_name()?
                    .to_string_lossy(),
            ),
            "getThisFilePath" => string_value(&*self.unit(span)?.path),
            "getThisFileDir" => string_value(
                Path::new(&*self.unit(span)?.path)
                    .parent()?
                    .to_string_lossy(),
            ),
            "getThisToolkitDir" => string_value(&*self.unit(span)?.toolkit_dir),
            "getThisLine" => Value::Int32(self.session.pos(span).line as i32),
            "getApplicationDir" => string_value(self.session.symbols.application_dir()),
            "getMainCompositeName" => string_value(&*self.session.main),
            "getThisCompositeInstanceName" => {
                let composite_scope = self.scope.composite_scope()?;
                match &*composite_scope.instance {
                    "" => string_value(&*self.session.main),
                    path => string_value(path),
                }
            }
            "getThisOperatorName" => string_value(&*self.operator.as_ref()?.name),
            "getThisOperatorLogicalName" => string_value(&*self.operator.as_ref()?.logical_name),
            "getChannel"
            | "getLocalChannel"
            | "getAllChannels"
            | "getMaxChannels"
            | "getLocalMaxChannels"
            | "getAllMaxChannels" => self.channel_value(&signature.name)?,
            // Placement ids that are to be different in each channel.
            "byChannel" | "byReplica" => match self.channel_value("getChannel") {
                Some(Value::Int32(channel @ 0..)) => string_value(channel.to_string()),
                _ => string_value(""),
            },
            "getCompileTimeValue"
            | "getCompileTimeListValue"
            | "getSubmissionTimeValue"
            | "getSubmissionTimeListValue"
            | "getToolkitDirectory" => {
                let Some(value) = self.external_value(&signature.name, args, span) else {
                    return Some(self.pending(ty.clone(), span));
                };
                value
            }
            _ => return None,
        };
        Some(Some(self.typed_expr(
            ExprKind::Const(value),
            ty.clone(),
            span,
        )))
    }

    /// The unit whose text a span is of.
    fn unit(&self, span: Span) -> Option<&LoadedUnit> {
        self.session.symbols.unit_of(span.file)
    }

    /// Numbers of the parallel region around the operator. The channel of nested regions counts
    /// through all of them, the outermost being the most significant.
    fn channel_value(&self, name: &str) -> Option<Value> {
        let channel = &self.operator.as_ref()?.channel;
        let (channels, widths) = (&channel.channels, &channel.widths);
        let list = |all: &[i32]| {
            let values = all.iter().rev().map(|v| Value::Int32(*v));
            Value::List(List::from_values(&Type::Int32, values))
        };
        Some(match name {
            "getChannel" if channels.is_empty() => Value::Int32(-1),
            "getChannel" => Value::Int32(channel.global_channel()),
            "getLocalChannel" => Value::Int32(channels.last().copied().unwrap_or(-1)),
            "getMaxChannels" if widths.is_empty() => Value::Int32(0),
            "getMaxChannels" => Value::Int32(widths.iter().product()),
            "getLocalMaxChannels" => Value::Int32(widths.last().copied().unwrap_or(0)),
            "getAllChannels" => list(channels),
            _ => list(widths),
        })
    }
}

/// Whether the value of a function depends on the channel of a parallel region. A function of the
/// program, which operators of several channels may call, asks for it at run time.
fn depends_on_channel(name: &str) -> bool {
    name.contains("Channel") || name == "getThisOperatorName"
}

/// Makes an rstring value of a text.
pub(super) fn string_value(text: impl AsRef<str>) -> Value {
    Value::RString(RString(text.as_ref().as_bytes().to_vec()))
}
