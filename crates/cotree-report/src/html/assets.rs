//! The files that are the same in every folder of pages.

use super::put::Put;
use std::io;

/// The style sheet of all pages.
pub const STYLE: &str = "style.css";
/// The script that runs before a page is shown: it chooses light or dark.
pub const THEME: &str = "theme.js";
/// The script that adds sorting, filters and keys.
pub const SCRIPT: &str = "page.js";

/// Writes them.
///
/// # Errors
/// If one can't be written.
pub fn write(put: &mut Put<'_>) -> io::Result<()> {
    put(STYLE, include_str!("style.css"))?;
    put(THEME, include_str!("theme.js"))?;
    put(SCRIPT, include_str!("page.js"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    /// The relative luminance of a colour (WCAG 2).
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour")) / 255.0;
        let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    /// Text has the contrast that WCAG 2 asks for (level AA), in light and dark.
    #[test]
    fn colours_can_be_read() {
        let style = include_str!("style.css");
        let colours: BTreeMap<&str, [&str; 2]> = style
            .lines()
            .filter_map(|line| {
                let (name, rest) = line.trim().strip_prefix("--")?.split_once(": light-dark(")?;
                let (light, dark) = rest.strip_suffix(");")?.split_once(", ")?;
                Some((name, [light, dark]))
            })
            .collect();
        let check = |text: &str, ground: &str| {
            for (text, ground) in colours[text].into_iter().zip(colours[ground]) {
                let (one, other) = (luminance(text) + 0.05, luminance(ground) + 0.05);
                assert!(one.max(other) / one.min(other) >= 4.5, "{text} on {ground}");
            }
        };
        for text in ["ink", "faint", "link", "ran", "part", "missed"] {
            ["paper", "panel", "missed-fill", "part-fill", "here"].into_iter().for_each(|ground| check(text, ground));
        }
        check("ink", "missed-mark");
    }
}
