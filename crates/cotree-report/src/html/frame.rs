//! What stands around the content of each page.

use super::assets::{SCRIPT, STYLE, THEME};
use maud::{DOCTYPE, Markup, html};

/// What may be loaded and run. Browsers differ in whether a page that is opened from a disk is of the same origin as
/// the files beside it, so these are allowed by their scheme; no page of a server can load such files.
const POLICY: &str = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; base-uri 'none'; \
                      form-action 'none'";

/// A page.
pub struct Frame<'p> {
    /// The title in the window's frame.
    pub title: &'p str,
    /// What leads from the page to the folder's root: empty, or `../`.
    pub root: &'static str,
    /// The class of the page's kind.
    pub kind: &'static str,
    /// What stays at the top of the window: where one is.
    pub bar: Markup,
    /// The content.
    pub main: Markup,
    /// What stands at the end.
    pub footer: Markup,
}

impl Frame<'_> {
    /// The page as a file.
    #[must_use]
    pub fn page(&self) -> String {
        let Self { title, root, kind, bar, main, footer } = self;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "cotree " (env!("CARGO_PKG_VERSION")) };
                    title { (title) }
                    link rel="stylesheet" href={ (root) (STYLE) };
                    script src={ (root) (THEME) } {}
                    script src={ (root) (SCRIPT) } defer {}
                }
                body class=(kind) {
                    a.skip href="#main" { "Skip to the content" }
                    header.bar { (bar) }
                    main id="main" { (main) }
                    footer { (footer) }
                }
            }
        };
        page.into_string()
    }
}
