//! The functions that queries may call: one list a file.

mod arguments;
mod node;
mod number;
mod results;
mod sequence;
mod string;
mod xpath_function;

pub(super) use xpath_function::XPathFunction;

/// The function of a name that takes this number of arguments.
///
/// # Errors
/// A sentence that names the function.
pub(super) fn find(name: &str, count: usize) -> Result<&'static XPathFunction, String> {
    const LISTS: [&[XPathFunction]; 4] = [
        node::FUNCTIONS,
        number::FUNCTIONS,
        sequence::FUNCTIONS,
        string::FUNCTIONS,
    ];
    let mut all = LISTS.iter().flat_map(|list| list.iter());
    let Some(function) = all.find(|function| function.name == name) else {
        return Err(format!("there is no function `{name}`"));
    };
    match (function.arity_min..=function.arity_max).contains(&count) {
        true => Ok(function),
        false => Err(format!("`{name}` does not take {count} arguments")),
    }
}
