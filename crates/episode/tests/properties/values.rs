//! Random values: JSON of all kinds, and states that change as those of environments do.

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::json::{Integer, Json, Object, Text};

/// Texts with characters of all sizes, short and long.
pub fn text() -> impl Strategy<Value = Text> {
    prop_oneof![
        4 => "[a-c é𝕊\"\\\\<\u{0}-\u{1f}]{0,6}".prop_map(Text::from),
        1 => "[a-b é]{60,90}".prop_map(Text::from),
        1 => any::<String>().prop_map(Text::from),
    ]
}

pub fn key() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[a-e]", 1 => any::<String>()]
}

fn leaf() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (0..3_i64).prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "-?[1-9][0-9]{19,40}"
            .prop_filter_map("integers", |digits| Integer::from_digits(&digits))
            .prop_map(Json::Integer),
        prop_oneof![
            any::<f64>(),
            prop::num::f64::ANY,
            prop::sample::select(vec![
                0.0,
                -0.0,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                1.0
            ])
        ]
        .prop_map(Json::from),
        text().prop_map(Json::from),
    ]
}

pub fn object() -> impl Strategy<Value = Object> {
    vec((key(), json()), 0..4).prop_map(to_object)
}

fn to_object(pairs: Vec<(String, Json)>) -> Object {
    pairs
        .into_iter()
        .map(|(key, value)| (key.into(), value))
        .collect()
}

pub fn json() -> impl Strategy<Value = Json> {
    leaf().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..7).prop_map(Json::List),
            vec((key(), inner), 0..7).prop_map(|pairs| Json::Object(to_object(pairs))),
        ]
    })
}

/// A change of a state.
#[derive(Clone, Debug)]
pub enum Edit {
    Append(Json),
    Prepend(Json),
    Insert(usize, Json),
    Remove(usize),
    Exchange(usize, Json),
    /// The first goes, one comes at the end.
    Slide(Json),
    Extend(Text),
    Swap(usize, usize),
    Inside(usize, Box<Edit>),
    Become(Json),
}

pub fn edit() -> impl Strategy<Value = Edit> {
    let simple = prop_oneof![
        6 => json().prop_map(Edit::Append),
        2 => json().prop_map(Edit::Prepend),
        2 => (any::<usize>(), json()).prop_map(|(index, value)| Edit::Insert(index, value)),
        2 => any::<usize>().prop_map(Edit::Remove),
        3 => (any::<usize>(), json()).prop_map(|(index, value)| Edit::Exchange(index, value)),
        2 => json().prop_map(Edit::Slide),
        2 => text().prop_map(Edit::Extend),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(left, right)| Edit::Swap(left, right)),
        1 => json().prop_map(Edit::Become),
    ];
    simple.prop_recursive(3, 6, 1, |inner| {
        (any::<usize>(), inner).prop_map(|(index, edit)| Edit::Inside(index, Box::new(edit)))
    })
}

pub fn change(value: &mut Json, edit: &Edit) {
    match (value, edit) {
        (value, Edit::Become(new)) => *value = new.clone(),
        (Json::List(list), edit) => change_list(list, edit, |value| value, |value| value),
        (Json::Object(object), edit) => {
            let mut pairs: Vec<_> = std::mem::take(object).into_iter().collect();
            let mut fresh = 0;
            let name = move |value| {
                fresh += 1;
                (format!("new {fresh}").into(), value)
            };
            change_list(&mut pairs, edit, name, |pair| &mut pair.1);
            // Keys that are there already take the new value.
            *object = pairs.into_iter().collect();
        }
        (Json::Text(text), Edit::Extend(more)) => *text = format!("{text}{more}").into(),
        (Json::Text(text), Edit::Prepend(_)) => *text = format!("é{text}").into(),
        (value, Edit::Append(new)) => *value = Json::List(vec![value.clone(), new.clone()]),
        _ => {}
    }
}

fn change_list<T: Clone>(
    list: &mut Vec<T>,
    edit: &Edit,
    mut make: impl FnMut(Json) -> T,
    value: impl Fn(&mut T) -> &mut Json,
) {
    let length = list.len();
    match edit {
        Edit::Append(new) => list.push(make(new.clone())),
        Edit::Prepend(new) => list.insert(0, make(new.clone())),
        Edit::Insert(index, new) => list.insert(index % (length + 1), make(new.clone())),
        Edit::Slide(new) => {
            list.push(make(new.clone()));
            list.remove(0);
        }
        _ if length == 0 => {}
        Edit::Remove(index) => {
            list.remove(index % length);
        }
        Edit::Exchange(index, new) => list[index % length] = make(new.clone()),
        Edit::Swap(left, right) => list.swap(left % length, right % length),
        Edit::Inside(index, edit) => change(value(&mut list[index % length]), edit),
        Edit::Extend(_) | Edit::Become(_) => {}
    }
}

/// A state and those that follow from it.
pub fn states() -> impl Strategy<Value = Vec<Json>> {
    (json(), vec(edit(), 0..24)).prop_map(|(first, edits)| {
        let mut states = vec![first];
        for edit in edits {
            let mut next = states[states.len() - 1].clone();
            change(&mut next, &edit);
            states.push(next);
        }
        states
    })
}
