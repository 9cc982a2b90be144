//! Shares in percent, as gates ask for them.

/// Reads a share in percent.
///
/// # Errors
/// If it is no number from 0 to 100.
pub fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it must be a number from 0 to 100".to_owned())?;
    if (0.0..=100.0).contains(&share) { Ok(share) } else { Err("it must be a number from 0 to 100".into()) }
}
