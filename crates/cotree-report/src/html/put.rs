//! Where pages go.

use std::io;

/// Takes a file of the folder: its path in there, with `/`, and its content.
pub type Put<'p> = dyn FnMut(&str, &str) -> io::Result<()> + 'p;
