//! What a user can ask of a build.
//!
//! [`BuildOptions`] declares each option once. The command line and its help, the environment variables `COTREE_…`, the
//! value that the linker plugin is given, and docs/options.md are all made from that declaration.

mod check;
mod idle;
#[cfg(test)]
mod line;
mod options;
mod page;
mod scope;
mod shape;
mod travel;
mod values;
mod variables;

pub use check::Misfit;
pub use options::*;
pub use page::page;
pub use shape::{read_environment, shape, shape_for_one_screen};
pub use travel::{PREFIX, PluginValueError, clear_environment, plugin_value};
pub use values::{Detail, Profile};
pub use variables::{UnknownVariable, environment_variables, unknown_variables};
