//! Generated programs: sources, operators of skewed costs, filters, sinks that print what came.

use std::fmt::Write;

use ::nexmark::Random;

/// A program with what a plan of it has to know.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedProgram {
    /// The program's text. It takes one submission-time value, `n`: tuples of each source.
    pub text: String,
    /// Names of the operators, upstream first.
    pub operators: Vec<String>,
    /// Number of operators without inputs.
    pub sources: u32,
    /// Pairs of operators, by index, that config `placement` keeps in one process.
    pub together: Vec<(usize, usize)>,
    /// Pairs of operators, by index, that config `placement` keeps in different processes.
    pub apart: Vec<(usize, usize)>,
}

/// The head of each program. A step of `work` is a product that waits for the one before it.
const HEAD: &str = "uint64 work(uint64 seed, uint32 steps) {
    mutable uint64 mixed = seed;
    mutable uint32 step = 0u;
    while (step < steps) {
        mixed = mixed * 6364136223846793005ul + 1442695040888963407ul;
        step++;
    }
    return mixed;
}

stateful int64 now() {
    timestamp time = getTimestamp();
    return getSeconds(time) * 1000000000l + (int64) getNanoseconds(time);
}

composite Generated {
    param
        expression<uint32> $n : (uint32) getSubmissionTimeValue(\"n\");
    graph
";

/// First word of the line in which a sink tells when its first tuple and its end have come, in
/// nanoseconds.
pub const TIME: &str = "time";

/// Steps of an operator are `2^0` to `2^MAGNITUDE` times a few.
const MAGNITUDE: u64 = 9;

/// A stream that further operators can take.
struct OpenStream {
    name: String,
    is_consumed: bool,
}

/// The parts of a program while it grows.
struct Generation {
    random: Random,
    program: GeneratedProgram,
    streams: Vec<OpenStream>,
}

/// The program of a seed, with about so many operators and sinks for the streams that are left.
pub fn generate(seed: u64, operators: u32) -> GeneratedProgram {
    let mut generation = Generation {
        random: Random::of(seed, u64::from(operators)),
        program: GeneratedProgram {
            text: HEAD.to_owned(),
            operators: Vec::new(),
            sources: 1,
            together: Vec::new(),
            apart: Vec::new(),
        },
        streams: Vec::new(),
    };
    generation.program.sources += u32::from(generation.random.below(4) == 0);
    for _ in 0..generation.program.sources {
        generation.add_source();
    }
    for _ in 0..operators {
        generation.add_operator();
    }
    generation.place_operators();
    generation.add_sinks();
    generation.program.text.push_str("}\n");
    generation.program
}

impl Generation {
    /// Steps of one tuple in an operator: few for most, many for some.
    fn steps(&mut self) -> u64 {
        let magnitude = self.random.below(MAGNITUDE + 1);
        (1 << magnitude) + self.random.below(1 << magnitude)
    }

    fn add(&mut self, prefix: &str, text: impl FnOnce(&str) -> String) {
        let name = format!("{prefix}{}", self.program.operators.len());
        let text = text(&name);
        self.program.text.push_str(&text);
        self.program.operators.push(name.clone());
        self.streams.push(OpenStream {
            name,
            is_consumed: false,
        });
    }

    fn add_source(&mut self) {
        self.add("Source", |name| {
            format!(
                "        stream<uint64 key, uint64 value> {name} = Beacon() {{
            param
                iterations : $n;
            output
                {name} : key = IterationCount(), value = work(IterationCount(), 4u);
        }}
"
            )
        });
    }

    /// The name of a stream to take: one that nobody takes yet, or for a fan-out any.
    fn take(&mut self) -> String {
        let is_fan_out = self.random.below(6) == 0;
        let free = self.streams.iter_mut();
        let mut free: Vec<_> = free
            .filter(|stream| is_fan_out || !stream.is_consumed)
            .collect();
        let at = match free.is_empty() {
            true => return self.streams[0].name.clone(),
            false => self.random.below(free.len() as u64) as usize,
        };
        free[at].is_consumed = true;
        free[at].name.clone()
    }

    fn add_operator(&mut self) {
        let mut inputs = self.take();
        if self.random.below(12) == 0 {
            let second = self.take();
            if second != inputs {
                let _ = write!(inputs, ", {second}");
            }
        }
        let steps = self.steps();
        if self.random.below(5) == 0 {
            let sixteenths = 4 + self.random.below(11);
            self.add("Filter", |name| {
                format!(
                    "        stream<uint64 key, uint64 value> {name} = Filter({inputs} as In) {{
            param
                filter : (work(In.value, {steps}u) >> 60ul) < {sixteenths}ul;
        }}
"
                )
            });
        } else {
            self.add("Functor", |name| {
                format!(
                    "        stream<uint64 key, uint64 value> {name} = Functor({inputs} as In) {{
            output
                {name} : value = work(In.value + In.key, {steps}u);
        }}
"
                )
            });
        }
    }

    /// Gives a few pairs of operators a placement in some programs.
    fn place_operators(&mut self) {
        let count = self.program.operators.len() as u64;
        if self.random.below(3) != 0 {
            return;
        }
        for (placement, is_apart) in [
            ("partitionColocation", false),
            ("partitionExlocation", true),
        ] {
            let one = self.random.below(count) as usize;
            let other = self.random.below(count) as usize;
            let taken = [&self.program.together[..], &self.program.apart].concat();
            let is_taken = |at: usize| taken.iter().any(|&(a, b)| a == at || b == at);
            if one == other || is_taken(one) || is_taken(other) {
                continue;
            }
            for at in [one, other] {
                self.set_placement(at, &format!("{placement}(\"pair\")"));
            }
            let pairs = match is_apart {
                true => &mut self.program.apart,
                false => &mut self.program.together,
            };
            pairs.push((one, other));
        }
    }

    /// Adds a config to the operator of that index.
    fn set_placement(&mut self, at: usize, placement: &str) {
        let name = &self.program.operators[at];
        let begin = self.program.text.find(&format!("> {name} = "));
        let end = begin.and_then(|begin| {
            let length = self.program.text[begin..].find("\n        }\n")?;
            Some(begin + length)
        });
        let end = end.expect("each operator has a line that ends it");
        let config = format!("\n            config\n                placement : {placement};");
        self.program.text.insert_str(end, &config);
    }

    fn add_sinks(&mut self) {
        let free = self.streams.iter().filter(|stream| !stream.is_consumed);
        let free: Vec<String> = free.map(|stream| stream.name.clone()).collect();
        for stream in free {
            let name = format!("Sink{}", self.program.operators.len());
            let _ = write!(
                self.program.text,
                "        () as {name} = Custom({stream} as In) {{
            logic
                state : {{
                    mutable uint64 count = 0ul;
                    mutable uint64 sum = 0ul;
                    mutable int64 first = 0l;
                }}
                onTuple In : {{
                    if (count == 0ul) {{
                        first = now();
                    }}
                    count++;
                    sum += In.key ^ In.value;
                }}
                onPunct In : {{
                    if (currentPunct() == Sys.FinalMarker) {{
                        printStringLn(\"{name} \" + (rstring) count + \" \" + (rstring) sum);
                        if (count > 0ul) {{
                            printStringLn(\"{TIME} \" + (rstring) first + \" \" + (rstring) now());
                        }}
                    }}
                }}
        }}
"
            );
            self.program.operators.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_program_and_another_one_another() {
        let program = generate(7, 20);
        assert_eq!(program, generate(7, 20));
        assert_ne!(program.text, generate(8, 20).text);
        assert!(program.operators.len() > 20);
        for name in &program.operators {
            assert!(program.text.contains(name.as_str()), "{name}");
        }
    }

    #[test]
    fn placements_are_in_the_text_of_their_operators() {
        let placed = (0..100).map(|seed| generate(seed, 12));
        let placed: Vec<_> = placed.filter(|one| !one.together.is_empty()).collect();
        assert!(!placed.is_empty());
        for program in placed {
            let colocations = program.text.matches("partitionColocation").count();
            assert_eq!(colocations, 2 * program.together.len());
        }
    }
}
