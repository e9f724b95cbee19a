use thalweg_syntax as syntax;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut m = syntax::SourceMap::default();
    let f = m.add(std::path::Path::new(&path), text.as_str());
    let t = std::time::Instant::now();
    let p = syntax::parse(f, &text);
    let d = t.elapsed();
    assert_eq!(p.tree.text().to_string(), text);
    print!("{}", syntax::render(&p.diagnostics, &m, false));
    if std::env::args().nth(2).is_some() {
        print!("{}", syntax::dump_tree(&p.tree));
        println!("{:#?}", p.unit);
    }
    eprintln!("{d:?} {} diags", p.diagnostics.len());
}
