//! Names in variables.

use crate::ir::Value;

/// The bytes of a constant variable, which are a name.
pub(super) fn text_of(variable: Value<'_>) -> Option<String> {
    variable.as_variable()?.initial_value()?.constant_text()
}
