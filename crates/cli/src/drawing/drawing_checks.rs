//! Checks of drawings: they are well-formed, no two boxes overlap, and texts keep their places.

use std::collections::BTreeSet;

use engine::{Plan, Profile};
use graph::{
    InPort, OperatorId, OperatorNode, OutPort, OutPortId, PePlan, PortIndex, Pos, Program,
};
use testkit::arbitrary::graphs;
use tuple::TupleType;
use xml::{XmlNodeRef, XmlTree};

use super::{DrawnProgram, svg};

/// Left, upper, right and lower end of a rectangle.
type Corners = [u32; 4];

/// Boxes and texts of a drawing that was read back.
#[derive(Default)]
struct ReadDrawing {
    size: (u32, u32),
    /// Rectangles with their classes.
    boxes: Vec<(String, Corners)>,
    /// Texts by class, with the room that they take.
    texts: Vec<(String, String, Corners)>,
}

impl ReadDrawing {
    /// Reads a drawing, which has to be well-formed.
    fn parse(picture: &str) -> ReadDrawing {
        let tree = XmlTree::parse(picture.as_bytes()).expect("the drawing is well-formed");
        let root = tree.root_element().expect("a root");
        let mut drawing = ReadDrawing {
            size: (number(root, "width"), number(root, "height")),
            ..ReadDrawing::default()
        };
        for element in root.child_elements() {
            let class = element.attribute("class").unwrap_or_default().to_owned();
            let (x, y) = match element.name() {
                "rect" | "text" => (number(element, "x"), number(element, "y")),
                _ => continue,
            };
            if element.name() == "rect" {
                let ends = (x + number(element, "width"), y + number(element, "height"));
                drawing.boxes.push((class, [x, y, ends.0, ends.1]));
                continue;
            }
            // Letters of wide fonts take 0.6 of their height.
            let text = element.own_text().into_owned();
            let letters = text.chars().count() as u32;
            let size = if class == "name" { 12 } else { 11 };
            let width = (letters * size * 6).div_ceil(10);
            drawing
                .texts
                .push((class, text, [x, y - size + 2, x + width, y + 2]));
        }
        drawing
    }

    fn boxes_of(&self, class: &str) -> Vec<Corners> {
        let of_class = self.boxes.iter().filter(|(own, _)| own == class);
        of_class.map(|(_, corners)| *corners).collect()
    }

    /// Checks that nothing lies where it cannot be read.
    fn check(&self) {
        for class in ["operator", "process", "host", "sample"] {
            check_apart(&self.boxes_of(class));
        }
        let operators = self.boxes_of("operator");
        for (inner, outer) in [("operator", "process"), ("process", "host")] {
            let outer = self.boxes_of(outer);
            for one in self.boxes_of(inner) {
                let around = outer.iter().filter(|outer| contains(**outer, one)).count();
                assert!(outer.is_empty() || around == 1, "{inner} {one:?}");
            }
        }
        // Composites lie in each other, and around all of an operator or none of it.
        let composites = self.boxes_of("composite");
        for (at, one) in composites.iter().enumerate() {
            for other in composites[..at].iter().chain(&operators) {
                let is_apart = !overlap(*one, *other);
                assert!(is_apart || contains(*one, *other) || contains(*other, *one));
            }
            let mut inside = operators.iter().filter(|inner| contains(*one, **inner));
            assert!(inside.next().is_some(), "nothing is in {one:?}");
        }
        let labels = self.texts.iter().filter(|(class, ..)| class == "stream");
        let labels: Vec<Corners> = labels.map(|(.., room)| *room).collect();
        for label in &labels {
            let is_covered = operators.iter().any(|one| overlap(*one, *label));
            assert!(!is_covered, "a box covers the label {label:?}");
        }
        check_apart(&labels);
        let drawing = [0, 0, self.size.0, self.size.1];
        for (_, text, room) in &self.texts {
            assert!(contains(drawing, *room), "`{text}` lies beyond the drawing");
        }
        for (_, one) in &self.boxes {
            assert!(contains(drawing, *one), "{one:?} lies beyond the drawing");
        }
        // A text that begins in an operator's box ends there.
        for (_, text, room) in &self.texts {
            let start = [room[0], room[1], room[0] + 1, room[1] + 1];
            if let Some(one) = operators.iter().find(|one| overlap(**one, start)) {
                assert!(contains(*one, *room), "`{text}` does not fit its box");
            }
        }
    }
}

fn number(element: XmlNodeRef<'_>, name: &str) -> u32 {
    let text = element.attribute(name).unwrap_or_default();
    text.parse()
        .unwrap_or_else(|_| panic!("{name}=\"{text}\" is no number"))
}

fn overlap(one: Corners, other: Corners) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

fn contains(outer: Corners, inner: Corners) -> bool {
    outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

fn check_apart(all: &[Corners]) {
    for (at, one) in all.iter().enumerate() {
        let over = all[..at].iter().find(|other| overlap(**other, *one));
        assert!(over.is_none(), "{one:?} overlaps {over:?}");
    }
}

/// A list of numbers that follow from a seed.
fn decisions(seed: u32, count: usize) -> Vec<u32> {
    let mut state = u64::from(seed);
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// A profile in which every second operator has a line.
fn profile(program: &Program) -> Profile {
    let mut text =
        "thalweg profile 1\nprogram Main\nprocessor P\ncores 4\nruns 1\nseconds 10\n".to_owned();
    for (at, operator) in program.operators.iter().enumerate().step_by(2) {
        let (name, cpu_ns) = (&operator.name, at * at * 1000);
        text += &format!("operator {name} kind Node tuples 1000 cpu_ns {cpu_ns} state_bytes 0\n");
        for port in 0..operator.outputs.len() {
            text += &format!(
                "stream {name}.{port} tuples {} bytes 0 peak_per_second 1\n",
                at * 1_000_000
            );
        }
    }
    Profile::parse(&text).expect("the text is that of a profile")
}

fn check(drawn: DrawnProgram<'_>) -> ReadDrawing {
    let picture = svg(drawn);
    assert_eq!(picture, svg(drawn), "a drawing is always the same");
    let drawing = ReadDrawing::parse(&picture);
    drawing.check();
    drawing
}

#[test]
fn generated_programs_are_drawn_without_overlaps() {
    for seed in 0..60 {
        let operators_max = [3, 12, 40, 90][seed as usize % 4];
        let mut program = graphs::program(&decisions(seed, operators_max * 8), operators_max);
        if seed % 2 == 0 {
            for (at, operator) in program.operators.iter_mut().enumerate().skip(1) {
                operator.name = match at % 4 {
                    0 => format!("A.{}", operator.name),
                    inner => format!("B{}.C{}.{}", at % 3, inner % 2, operator.name),
                }
                .into();
            }
        }
        let mut plan = graphs::plan(&program, &decisions(seed + 1000, operators_max * 8));
        if seed % 3 == 0 {
            for (at, pe) in plan.pes.iter_mut().enumerate() {
                pe.host = Some(["near", "far"][at % 2].into());
            }
        }
        let profile = profile(&program);
        let mut drawn = DrawnProgram {
            program: &program,
            plan: None,
            profile: None,
            depth: None,
        };
        for (plan, profile) in [
            (None, None),
            (None, Some(&profile)),
            (Some(&plan), None),
            (Some(&plan), Some(&profile)),
        ] {
            (drawn.plan, drawn.profile) = (plan, profile);
            let drawing = check(drawn);
            assert_eq!(drawing.boxes_of("operator").len(), program.operators.len());
            let pes = plan.map_or(0, |plan| plan.pes.len());
            assert_eq!(drawing.boxes_of("process").len(), pes);
            let has_composites = !drawing.boxes_of("composite").is_empty();
            let is_nested = program.operators.iter().any(|one| one.name.contains('.'));
            assert_eq!(has_composites, is_nested);
            for depth in [1, 0] {
                let folded = check(DrawnProgram {
                    depth: Some(depth),
                    ..drawn
                });
                assert!(folded.boxes_of("operator").len() <= program.operators.len());
                assert!(depth > 0 || folded.boxes_of("composite").is_empty());
            }
        }
    }
}

/// A source, a splitter with a stream to each of so many copies of two operators, and a sink.
fn copies(count: u32) -> Program {
    let schema = std::sync::Arc::<TupleType>::default();
    let node = |name: String, line: u32, inputs: &[(u32, u32)], outputs: u32| {
        let sources = inputs.iter().map(|&(operator, port)| OutPortId {
            operator: OperatorId(operator),
            port: PortIndex(port),
        });
        let sources: Vec<OutPortId> = sources.collect();
        let outputs = (0..outputs).map(|port| OutPort::new(format!("S{port}"), schema.clone()));
        let pos = Pos {
            line,
            ..Pos::default()
        };
        OperatorNode {
            inputs: match sources.is_empty() {
                true => Vec::new(),
                false => vec![InPort::new("In", schema.clone(), sources)],
            },
            outputs: outputs.collect(),
            ..OperatorNode::new(name, "test::Node", pos)
        }
    };
    let mut operators = vec![
        node("Source".into(), 1, &[], 1),
        node("Split".into(), 2, &[(0, 0)], count),
    ];
    for copy in 0..count {
        operators.push(node(format!("P{copy}.First"), 3, &[(1, copy)], 1));
        operators.push(node(format!("P{copy}.Second"), 4, &[(2 + 2 * copy, 0)], 1));
    }
    let last: Vec<(u32, u32)> = (0..count).map(|copy| (3 + 2 * copy, 0)).collect();
    operators.push(node("Sink".into(), 5, &last, 0));
    Program {
        name: "Main".into(),
        files: ["Main.spl".into()].into(),
        operators,
        ..Program::default()
    }
}

fn names(drawing: &ReadDrawing) -> BTreeSet<&str> {
    let names = drawing.texts.iter().filter(|(class, ..)| class == "name");
    names.map(|(_, text, _)| &**text).collect()
}

#[test]
fn copies_of_one_invocation_share_a_box() {
    let program = copies(41);
    let mut drawn = DrawnProgram {
        program: &program,
        plan: None,
        profile: None,
        depth: None,
    };
    let shown = [
        "Source",
        "Split",
        "composite P* × 41",
        "P*.First × 41",
        "P*.Second × 41",
        "Sink",
    ];
    assert_eq!(names(&check(drawn)), shown.into());
    let folded = check(DrawnProgram {
        depth: Some(0),
        ..drawn
    });
    let shown_folded = ["Source", "Split", "P* × 41", "Sink"];
    assert_eq!(names(&folded), shown_folded.into());
    assert!(
        folded
            .texts
            .iter()
            .any(|(_, text, _)| text == "composite, 82 operators")
    );
    // Processes are alike if their operators are.
    let pe = |operators: Vec<u32>| PePlan {
        operators: operators.into_iter().map(OperatorId).collect(),
        ..PePlan::default()
    };
    let mut pes = vec![pe(vec![0, 1])];
    pes.extend((0..41).map(|copy| pe(vec![2 + 2 * copy, 3 + 2 * copy])));
    pes.push(pe(vec![84]));
    let plan = Plan {
        pes,
        crossings: Vec::new(),
    };
    drawn.plan = Some(&plan);
    let drawing = check(drawn);
    let mut expected = BTreeSet::from(shown);
    expected.extend(["host of the command", "pe 0", "pe 1 to 41 × 41", "pe 42"]);
    assert_eq!(names(&drawing), expected);
    // One copy elsewhere stands alone, and so do both of its operators.
    let mut plan = plan.clone();
    let moved = plan.pes[7].operators.pop().expect("an operator");
    plan.pes[42].operators.insert(0, moved);
    drawn.plan = Some(&plan);
    let drawing = check(drawn);
    let shown = names(&drawing);
    for name in ["P*.First × 40", "P*.Second × 40", "P6.First", "P6.Second"] {
        assert!(shown.contains(name), "{shown:?}");
    }
}

#[test]
fn a_small_program_keeps_all_boxes() {
    let program = copies(5);
    let drawn = DrawnProgram {
        program: &program,
        plan: None,
        profile: None,
        depth: None,
    };
    let drawing = check(drawn);
    assert_eq!(drawing.boxes_of("operator").len(), program.operators.len());
    assert_eq!(drawing.boxes_of("composite").len(), 5);
    let folded = check(DrawnProgram {
        depth: Some(0),
        ..drawn
    });
    let shown = ["Source", "Split", "P0", "P1", "P2", "P3", "P4", "Sink"];
    assert_eq!(names(&folded), shown.into());
}

#[test]
fn texts_are_escaped() {
    let mut program = copies(1);
    program.name = "a<b>&\"\u{1}\u{ffff}".into();
    program.operators[0].name = "x]]></svg><script>".into();
    program.operators[0].kind = "<&>".into();
    program.operators[0].outputs[0].name = "&lt;\"'".into();
    let plan = Plan {
        pes: vec![PePlan {
            operators: (0..5).map(OperatorId).collect(),
            host: Some("<host&>".into()),
            ..PePlan::default()
        }],
        crossings: Vec::new(),
    };
    let drawing = check(DrawnProgram {
        program: &program,
        plan: Some(&plan),
        profile: None,
        depth: None,
    });
    let shown = names(&drawing);
    assert!(
        shown.contains("x]]></svg><script>") && shown.contains("host <host&>"),
        "{shown:?}"
    );
}

#[test]
fn an_empty_program_has_a_drawing() {
    let program = Program::default();
    let drawing = check(DrawnProgram {
        program: &program,
        plan: Some(&Plan::default()),
        profile: None,
        depth: None,
    });
    assert!(drawing.boxes.is_empty());
}
