//! Which programs the folders of the search path have.

/// Whether a program is in a folder of the search path.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_their_names() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-program"));
    }
}
