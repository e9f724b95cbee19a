//! The kinds of tokens and of tree nodes.
//!
//! One flat list, because the lossless tree stores a kind as a number. Tokens come first, then
//! nodes; each has the text that messages and dumps show for it.

macro_rules! kinds {
    (
        tokens { $($token:ident = $token_text:literal,)* }
        keywords { $($keyword:ident = $keyword_text:literal,)* }
        nodes { $($node:ident,)* }
    ) => {
        /// Kind of a token or of a tree node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[expect(missing_docs, reason = "each is what its name says")]
        pub enum SyntaxKind {
            $($token,)*
            $($keyword,)*
            $($node,)*
            /// The end of the text; also an event that was given up.
            Eof,
        }

        impl SyntaxKind {
            /// Every kind, at the index of its number.
            pub(crate) const ALL: &[SyntaxKind] = &[
                $(SyntaxKind::$token,)*
                $(SyntaxKind::$keyword,)*
                $(SyntaxKind::$node,)*
                SyntaxKind::Eof,
            ];

            /// The keyword that a word is.
            pub(crate) fn keyword(word: &str) -> Option<SyntaxKind> {
                match word {
                    $($keyword_text => Some(SyntaxKind::$keyword),)*
                    _ => None,
                }
            }

            /// The kind as messages name it: its text, or what it is.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(SyntaxKind::$token => $token_text,)*
                    $(SyntaxKind::$keyword => $keyword_text,)*
                    $(SyntaxKind::$node => stringify!($node),)*
                    SyntaxKind::Eof => "the end of the file",
                }
            }

            /// Every reserved word, in alphabetical order.
            pub fn keywords() -> impl Iterator<Item = &'static str> {
                [$($keyword_text,)*].into_iter()
            }

            /// Whether this is a reserved word.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(SyntaxKind::$keyword)|*)
            }
        }
    };
}

kinds! {
    tokens {
        Whitespace = "white space",
        LineComment = "a comment",
        BlockComment = "a comment",
        Unknown = "an unknown character",
        Ident = "a name",
        Number = "a number",
        StringToken = "a string",
        LParen = "(",
        RParen = ")",
        LBrace = "{",
        RBrace = "}",
        LBracket = "[",
        RBracket = "]",
        Comma = ",",
        Semi = ";",
        Colon = ":",
        ColonColon = "::",
        Dot = ".",
        At = "@",
        Question = "?",
        QuestionColon = "?:",
        QuestionQuestion = "??",
        Bang = "!",
        Tilde = "~",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Amp = "&",
        Pipe = "|",
        Caret = "^",
        Lt = "<",
        Gt = ">",
        Eq = "=",
        PlusPlus = "++",
        MinusMinus = "--",
        AmpAmp = "&&",
        PipePipe = "||",
        LtEq = "<=",
        GtEq = ">=",
        EqEq = "==",
        BangEq = "!=",
        Shl = "<<",
        Shr = ">>",
        PlusEq = "+=",
        MinusEq = "-=",
        StarEq = "*=",
        SlashEq = "/=",
        PercentEq = "%=",
        ShlEq = "<<=",
        ShrEq = ">>=",
        AmpEq = "&=",
        CaretEq = "^=",
        PipeEq = "|=",
        DotPlus = ".+",
        DotMinus = ".-",
        DotStar = ".*",
        DotSlash = "./",
        DotPercent = ".%",
        DotShl = ".<<",
        DotShr = ".>>",
        DotLt = ".<",
        DotLtEq = ".<=",
        DotGt = ".>",
        DotGtEq = ".>=",
        DotEqEq = ".==",
        DotBangEq = ".!=",
        DotAmp = ".&",
        DotPipe = ".|",
        DotCaret = ".^",
    }
    keywords {
        AsKw = "as",
        AttributeKw = "attribute",
        BlobKw = "blob",
        BooleanKw = "boolean",
        BreakKw = "break",
        Complex128Kw = "complex128",
        Complex32Kw = "complex32",
        Complex64Kw = "complex64",
        CompositeKw = "composite",
        ConfigKw = "config",
        ContinueKw = "continue",
        Decimal128Kw = "decimal128",
        Decimal32Kw = "decimal32",
        Decimal64Kw = "decimal64",
        ElseKw = "else",
        EnumKw = "enum",
        ExpressionKw = "expression",
        FalseKw = "false",
        Float128Kw = "float128",
        Float32Kw = "float32",
        Float64Kw = "float64",
        ForKw = "for",
        FunctionKw = "function",
        GraphKw = "graph",
        IfKw = "if",
        InKw = "in",
        InputKw = "input",
        Int16Kw = "int16",
        Int32Kw = "int32",
        Int64Kw = "int64",
        Int8Kw = "int8",
        ListKw = "list",
        LogicKw = "logic",
        MapKw = "map",
        MatrixKw = "matrix",
        MutableKw = "mutable",
        NamespaceKw = "namespace",
        NullKw = "null",
        OnPunctKw = "onPunct",
        OnTupleKw = "onTuple",
        OperatorKw = "operator",
        OptionalKw = "optional",
        OutputKw = "output",
        ParamKw = "param",
        PublicKw = "public",
        ReturnKw = "return",
        RstringKw = "rstring",
        SetKw = "set",
        StatefulKw = "stateful",
        StaticKw = "static",
        StreamKw = "stream",
        TimestampKw = "timestamp",
        TrueKw = "true",
        TupleKw = "tuple",
        TypeKw = "type",
        Uint16Kw = "uint16",
        Uint32Kw = "uint32",
        Uint64Kw = "uint64",
        Uint8Kw = "uint8",
        UseKw = "use",
        UstringKw = "ustring",
        VarKw = "var",
        VoidKw = "void",
        WhileKw = "while",
        WindowKw = "window",
        XmlKw = "xml",
    }
    nodes {
        Unit,
        NamespaceDecl,
        NamespaceName,
        UseDecl,
        UseStar,
        TypeItem,
        TypeDef,
        QName,
        Name,
        Composite,
        PortList,
        OutputPorts,
        InputPorts,
        CompositePort,
        Annotation,
        AnnotationArgs,
        AnnotationArg,
        ParamClause,
        Formal,
        Mode,
        TypeClause,
        GraphClause,
        ConfigClause,
        ConfigEntry,
        Invocation,
        Head,
        OutPort,
        StreamType,
        InputList,
        InPort,
        InvocationBody,
        CompositeBody,
        LogicClause,
        StateEntry,
        OnTuple,
        OnPunct,
        OnProcess,
        WindowClause,
        WindowEntry,
        ArgumentClause,
        Argument,
        OutputClause,
        OutputEntry,
        OutputAssign,
        PrimitiveType,
        NamedType,
        EnumType,
        StringType,
        XmlType,
        TupleType,
        ListType,
        SetType,
        MapType,
        OptionalType,
        Dim,
        TupleBody,
        TupleAttr,
        Function,
        FormalList,
        FunctionParam,
        Block,
        LocalDecl,
        LocalVar,
        LocalStmt,
        TypeStmt,
        ExprStmt,
        IfStmt,
        WhileStmt,
        ForStmt,
        BreakStmt,
        ContinueStmt,
        ReturnStmt,
        EmptyStmt,
        Literal,
        ListExpr,
        SetExpr,
        MapExpr,
        MapEntry,
        TupleExpr,
        TupleEntry,
        CallExpr,
        ArgList,
        FieldExpr,
        IndexExpr,
        SliceExpr,
        PrefixExpr,
        PostfixExpr,
        BinaryExpr,
        AssignExpr,
        ConditionalExpr,
        CastExpr,
        ParenExpr,
        Prototype,
        TypeFormals,
        TypeFormal,
        BoundFormals,
        Error,
    }
}

impl SyntaxKind {
    /// White space, a comment, or a character that no token begins with (reported by the lexer).
    pub fn is_trivia(self) -> bool {
        use SyntaxKind::*;
        matches!(self, Whitespace | LineComment | BlockComment | Unknown)
    }

    /// Whether a word is the name of a type of the language, or begins one.
    pub fn is_type_word(word: &str) -> bool {
        SyntaxKind::keyword(word).is_some_and(SyntaxKind::is_type_keyword)
    }

    /// A word that begins a type and nothing else.
    pub(crate) fn is_type_keyword(self) -> bool {
        use SyntaxKind::*;
        self.is_primitive_keyword()
            || matches!(
                self,
                EnumKw | RstringKw | XmlKw | TupleKw | ListKw | SetKw | MapKw | OptionalKw
            )
    }

    /// A word that is a whole type by itself, and never takes arguments.
    pub(crate) fn is_primitive_keyword(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            BlobKw
                | BooleanKw
                | Complex32Kw
                | Complex64Kw
                | Decimal32Kw
                | Decimal64Kw
                | Decimal128Kw
                | Float32Kw
                | Float64Kw
                | Int8Kw
                | Int16Kw
                | Int32Kw
                | Int64Kw
                | TimestampKw
                | Uint8Kw
                | Uint16Kw
                | Uint32Kw
                | Uint64Kw
                | UstringKw
        )
    }

    /// How a message names what was found: punctuation and keywords in back quotes.
    pub(crate) fn describe(self) -> String {
        use SyntaxKind::*;
        match self {
            Ident | Number | StringToken | Eof => self.text().to_owned(),
            _ if self.is_keyword() => format!("the reserved word `{}`", self.text()),
            _ => format!("`{}`", self.text()),
        }
    }
}
