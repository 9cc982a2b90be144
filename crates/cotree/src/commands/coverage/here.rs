//! Where the command runs.

/// The current folder, which paths are shown without.
pub fn here() -> String {
    format!("{}/", std::env::current_dir().unwrap_or_default().display())
}
