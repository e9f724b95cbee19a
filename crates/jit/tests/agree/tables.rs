//! Sets and maps in loops, most of them of integers.

use graph::{BinaryOp, Expr, Stmt};
use tuple::{Type, Value};

use crate::loops::{count, i, n, rig, row};
use crate::make::*;

fn set_of(element: Type) -> Type {
    Type::Set(element.into(), None)
}

#[test]
fn integers_of_every_type_are_keys() {
    for key_type in INTEGERS {
        let (m, s) = (
            map_of(key_type.clone(), Type::Int64),
            set_of(key_type.clone()),
        );
        let rig = rig(vec![
            var("counts", m.clone()),
            var("seen", Type::Int64),
            var("never", s.clone()),
        ]);
        let key = || bin(BinaryOp::Mul, i(), int(37)).cast(key_type.clone());
        let counts = || state(0, m.clone());
        let place = |key| at(state_place(0, m.clone()), key, Type::Int64);
        let b = body(
            [Type::Int64],
            count(vec![
                Stmt::If(
                    contains(key(), counts()),
                    vec![add_to(place(key()), i())],
                    vec![set_to(place(key()), int(1))],
                ),
                Stmt::If(
                    contains(add(key(), key()), counts()),
                    vec![add_to(
                        state_place(1, Type::Int64),
                        index(counts(), add(key(), key()), Type::Int64),
                    )],
                    vec![],
                ),
                Stmt::If(
                    contains(key(), state(2, s.clone())),
                    vec![set_to(state_place(1, Type::Int64), int(-1))],
                    vec![],
                ),
            ]),
        );
        let seen = rig.agree(&b, &[row(0), row(5), row(700), row(3)]);
        assert!(seen.iter().all(|seen| seen.result.is_ok()));
        assert_ne!(seen[1].state, seen[2].state);
    }
}

#[test]
fn a_map_that_does_not_change_is_searched_in_a_loop() {
    for entries in [0, 1, 3, 500] {
        let m = map_of(Type::Int32, Type::Int64);
        let mut rig = rig(vec![var("m", m.clone()), var("sum", Type::Int64)]);
        let each = (0..entries).map(|k| (Value::Int32(k * k), Value::Int64(k.into())));
        rig.state[0].init = Some(Expr::constant(map(each), m.clone()));
        // A key that is the same in every turn, and one that is not.
        for key in [int32(49), i().cast(Type::Int32)] {
            let found = index(state(0, m.clone()), key.clone(), Type::Int64);
            let b = body(
                [Type::Int64],
                count(vec![Stmt::If(
                    contains(key, state(0, m.clone())),
                    vec![add_to(state_place(1, Type::Int64), found.clone())],
                    vec![add_to(state_place(1, Type::Int64), int(1000))],
                )]),
            );
            let seen = rig.agree(&b, &[row(0), row(1), row(1000)]);
            assert!(seen[2].result.is_ok());
            let b = body(
                [Type::Int64],
                count(vec![add_to(state_place(1, Type::Int64), found)]),
            );
            assert!(rig.agree(&b, &[row(0), row(1000)])[0].result.is_ok());
        }
    }
}

#[test]
fn a_bounded_map_takes_no_more() {
    for key_type in [Type::Int64, Type::Uint16] {
        let m = Type::Map((key_type.clone(), Type::Int64).into(), Some(5));
        let rig = rig(vec![var("m", m.clone())]);
        let place = at(state_place(0, m), i().cast(key_type.clone()), Type::Int64);
        let b = body([Type::Int64], count(vec![set_to(place, n())]));
        let seen = rig.agree(&b, &[row(3), row(9), row(4)]);
        assert_ne!(seen[1].state, seen[2].state);
    }
}

#[test]
fn sets_and_maps_are_looped_over_in_their_order() {
    let values = [5, -3, 70_000, 12, 0];
    let m = map_of(Type::Int32, list_of(Type::RString));
    let s = set_of(Type::RString);
    let mut rig = rig(vec![
        var("m", m.clone()),
        var("s", s.clone()),
        var("order", Type::Int64),
        var("text", Type::RString),
    ]);
    let word = |k: i32| list(&Type::RString, [string(&k.to_string())]);
    rig.state[0].init = Some(Expr::constant(
        map(values.map(|k| (Value::Int32(k), word(k)))),
        m.clone(),
    ));
    rig.state[1].init = Some(Expr::constant(
        set(values.map(|k| string(&k.to_string()))),
        s.clone(),
    ));
    let order = || state_place(2, Type::Int64);
    let spelt = index(
        state(0, m.clone()),
        local(0, Type::Int32),
        list_of(Type::RString),
    );
    let spelt = index(spelt, int32(0), Type::RString);
    let b = body(
        [Type::Int32, Type::RString],
        vec![
            for_(
                0,
                state(0, m),
                vec![
                    op_to(BinaryOp::Mul, order(), int(31)),
                    add_to(order(), local(0, Type::Int32).cast(Type::Int64)),
                    add_to(state_place(3, Type::RString), spelt),
                    Stmt::If(
                        bin(BinaryOp::Eq, local(0, Type::Int32).cast(Type::Int64), n()),
                        vec![Stmt::Break],
                        vec![],
                    ),
                ],
            ),
            for_(
                1,
                state(1, s),
                vec![add_to(
                    state_place(3, Type::RString),
                    local(1, Type::RString),
                )],
            ),
        ],
    );
    let seen = rig.agree(&b, &[row(1), row(12), row(5)]);
    assert!(seen.iter().all(|seen| seen.result.is_ok()));
}
