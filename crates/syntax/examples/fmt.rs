fn main() {
    let t = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let a = thalweg_syntax::format(&t).unwrap();
    print!("{a}");
    let b = thalweg_syntax::format(&a).unwrap();
    assert_eq!(a, b);
}
