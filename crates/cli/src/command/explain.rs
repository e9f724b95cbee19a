//! `thalweg explain`: what a diagnostic code means, with an example of wrong and right SPL.

use clap::Args as ClapArgs;
use engine::diagnostic_codes;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg explain`
#[derive(Debug, ClapArgs)]
pub struct ExplainArgs {
    /// The word in brackets behind `error` or `warning`: `unknown-stream`
    code: Option<String>,
}

/// Explains one code, or lists all.
pub fn run(args: ExplainArgs) -> Result<(), CommandFailure> {
    let Some(code) = args.code else {
        let codes = diagnostic_codes::all().map(|code| format!("{}\n", code.code));
        return write_stdout(&codes.collect::<String>());
    };
    match diagnostic_codes::find(&code) {
        Ok(code) => write_stdout(&code.to_string()),
        Err(near) => {
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            let message = format!("there is no diagnostic code `{code}`{near}");
            Err(CommandFailure::Program(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandFailure, ExplainArgs, run};

    #[test]
    fn an_unknown_code_is_an_error_with_the_nearest_one() {
        let code = Some("unknown-steam".to_owned());
        let Err(CommandFailure::Program(message)) = run(ExplainArgs { code }) else {
            panic!("`unknown-steam` is no code");
        };
        assert!(
            message.ends_with("did you mean `unknown-stream`?"),
            "{message}"
        );
    }
}
