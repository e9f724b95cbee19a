//! Rings beside a bare one and a peer: rates one to one, one to two, and the latency of a
//! ping-pong.
//!
//! `cargo bench -p thalweg-ring [-- one_to_one|fan_out|ping_pong]`. Two processors; figures are
//! medians, and only ratios to the control of the same turn say something about the code.

mod fan_out;
mod measure;
mod one_to_one;
mod ping_pong;

fn main() {
    measure::print_machine();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let names = ["one_to_one", "fan_out", "ping_pong"];
    let is_any = wanted.iter().any(|name| names.contains(&name.as_str()));
    let is_wanted = |name: &str| !is_any || wanted.iter().any(|wanted| wanted == name);
    let parts: [fn(); 3] = [one_to_one::run, fan_out::run, ping_pong::run];
    for (name, part) in names.into_iter().zip(parts) {
        if is_wanted(name) {
            println!("\n{name}");
            part();
        }
    }
}
