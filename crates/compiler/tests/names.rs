//! The index of names: what each name of a program means, as editors ask it.

use std::rc::Rc;

use syntax::{FileId, Span};
use thalweg_compiler::{
    CompileInput, CompileOptions, EmptyLoader, NameIndex, NameMeaning, NameRecorder, check,
};

/// The names of a program, which need not be right.
fn names(text: &str) -> NameIndex {
    let models: Vec<_> = toolkit::operators()
        .iter()
        .map(|entry| entry.model)
        .collect();
    let recorder = Rc::new(NameRecorder::default());
    check(CompileInput {
        files: vec![("Main.spl".into(), text.into())],
        main: None,
        loader: &EmptyLoader,
        toolkits: Vec::new(),
        natives: toolkit::functions(),
        models: models.leak(),
        options: CompileOptions {
            names: Some(Rc::clone(&recorder)),
            ..CompileOptions::default()
        },
    });
    recorder.take()
}

/// The texts of the uses of the name that is declared where `«` stands, with what stands before.
fn uses(marked: &str) -> Vec<String> {
    let at = marked.find('«').expect("a mark");
    let text = marked.replace('«', "");
    let names = names(&text);
    let declared = names.declaration_at(FileId(0), at as u32);
    let declared = declared.unwrap_or_else(|| panic!("no declaration in {marked}"));
    let around = |span: Span| {
        let start = (span.start as usize).saturating_sub(3);
        text[start..span.end as usize].to_owned()
    };
    names
        .uses_of(declared.span)
        .map(|use_| around(use_.span))
        .collect()
}

#[test]
fn declarations_have_their_uses() {
    let program = "type Id = int32 id; composite Main { graph stream<Id> A = Beacon() { output A : \
                   id = 1; } stream<Id, tuple<rstring s>> B = Functor(A as In) { param filter : \
                   In.id > id; output B : s = (rstring) id; } () as C = Custom(B) { logic state : \
                   mutable Id last = { id = 0 }; onTuple B : last.id = B.id; } }";
    let uses_of = |name: &str| uses(&program.replacen(name, &format!("«{name}"), 1));
    assert_eq!(uses_of("Id = "), ["am<Id", "am<Id", "le Id"]);
    let all = [": id", "In.id", " > id", "g) id", "{ id", "st.id", " B.id"];
    let found = uses_of("id; ");
    let same = |a: &String, b: &&str| a.ends_with(b.trim_start());
    assert_eq!(found.len(), all.len(), "{found:?}");
    assert!(found.iter().zip(&all).all(|(a, b)| same(a, b)), "{found:?}");
    assert_eq!(uses_of("A = Beacon"), ["ut A", "or(A"]);
    assert_eq!(uses_of("In) {"), [" : In"]);
    assert_eq!(uses_of("last = "), [" : last"]);
}

#[test]
fn attributes_of_several_types_are_ambiguous() {
    let text = "composite Twice(output O; input I) { graph stream<I> O = Filter(I) { param filter : \
                I.n > 1; } } composite Main { graph stream<int32 n> A = Beacon() {} stream<int64 n> \
                B = Beacon() {} stream<A> X = Twice(A) {} stream<B> Y = Twice(B) {} }";
    let names = names(text);
    let at = text.find("n > 1").expect("a use") as u32;
    let attribute = names.use_at(FileId(0), at).expect("a use");
    assert!(attribute.is_ambiguous, "{attribute:?}");
    let stream = names.use_at(FileId(0), at - 2).expect("a use");
    assert!(!stream.is_ambiguous, "{stream:?}");
}

#[test]
fn library_names_and_broken_programs_are_recorded() {
    let text = "composite Main { graph stream<rstring s> A = Beacon() { param iterations : 1; \
                output A : s = upper(\"x\"); } () as B = Custom(A) { logic onTuple A : printString(s";
    let names = names(text);
    let meaning = |word: &str| {
        let at = text.find(word).expect("a word") as u32;
        names.use_at(FileId(0), at).map(|use_| use_.meaning)
    };
    let beacon = NameMeaning::Operator {
        namespace: "spl.utility",
        name: "Beacon",
    };
    assert_eq!(meaning("Beacon"), Some(beacon));
    assert!(matches!(meaning("upper"), Some(NameMeaning::Native(_))));
    assert!(matches!(
        meaning("iterations"),
        Some(NameMeaning::Parameter {
            operator: "Beacon",
            ..
        })
    ));
    let declared = text.find("A = ").expect("a stream") as u32;
    let declared = Span::new(FileId(0), declared, declared + 1);
    assert_eq!(meaning("A : s"), Some(NameMeaning::Declared(declared)));
}
