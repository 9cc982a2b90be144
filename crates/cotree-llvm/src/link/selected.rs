//! Whether the patterns that select functions (`--include` and its kin) select any.

use crate::extract::Pattern;
use crate::options::LinkOptions;
use cotree_core::facts::{Function, ProgramMap, Untouched};

/// Sentences for the user about patterns that match nothing, and about a unit of which they leave nothing to count.
pub(super) fn warnings(program: &ProgramMap, options: &LinkOptions) -> Vec<String> {
    if options.method.is_none() {
        return Vec::new();
    }
    let functions = || program.functions().map(|(_, function)| function);
    let file = |function: &Function| {
        function.position.and_then(|position| program.files.get(position.file as usize)).map(String::as_str)
    };
    let all = functions().count();
    let of_all = match all {
        1 => "the one function".to_owned(),
        all => format!("any of the {all} functions"),
    };
    let patterns = options.selection.patterns();
    let unused =
        patterns.filter(|pattern| !functions().any(|function| pattern.takes(&function.symbol, file(function))));
    let mut warnings: Vec<String> = unused
        .map(|pattern| {
            let inlined = functions().any(|f| f.inlined.iter().any(|copy| pattern.takes(&copy.symbol, None)));
            let Pattern { option, text, .. } = pattern;
            format!("--{option} '{text}' does not match {of_all} of {}{}", program.name, hint(pattern, inlined))
        })
        .collect();
    let is_left_out = |function: &Function| function.untouched == Some(Untouched::Excluded);
    if all > 0 && functions().all(|function| function.untouched.is_some()) && functions().any(is_left_out) {
        warnings.push(format!(
            "nothing is counted in {}: your patterns leave out {}",
            program.name,
            if all == 1 { "its one function".to_owned() } else { format!("all of its {all} functions") }
        ));
    }
    warnings
}

/// What may have been meant.
fn hint(pattern: &Pattern, inlined: bool) -> String {
    if inlined {
        return ": it is inlined wherever it is called (--at early counts before that)".into();
    }
    if pattern.text.contains(['*', '?', '[', '{']) {
        return String::new();
    }
    let whole = if pattern.option == "exclude-file" { "paths" } else { "names" };
    format!(": patterns are of whole {whole}, and '*{}*' takes parts of them", pattern.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::facts::{Inlined, Module, Position};

    fn said(json: &str, excluded: bool) -> Vec<String> {
        let function = |symbol: &str| Function {
            symbol: symbol.into(),
            position: Some(Position { file: 0, line: 1, column: 1 }),
            untouched: excluded.then_some(Untouched::Excluded),
            inlined: vec![Inlined { symbol: "small".into(), call: None, parent: None }],
            ..Function::default()
        };
        let module = Module { functions: vec![function("main"), function("work")], ..Module::default() };
        let program = ProgramMap {
            name: "p".into(),
            files: vec!["/src/p.c".into()],
            modules: vec![module],
            ..ProgramMap::default()
        };
        warnings(&program, &LinkOptions::parse(&[format!("cotree-options={json}")]).expect("good options"))
    }

    #[test]
    fn patterns_without_a_match_are_named() {
        assert_eq!(said(r#"{"include":["w*","main"],"exclude-file":["*/p.c"]}"#, false), Vec::<String>::new());
        let nowhere = said(r#"{"exclude":["ork"]}"#, false);
        let why = "patterns are of whole names, and '*ork*' takes parts of them";
        assert_eq!(nowhere, [format!("--exclude 'ork' does not match any of the 2 functions of p: {why}")]);
        let inlined = said(r#"{"include":["small"]}"#, true);
        assert!(inlined[0].ends_with("inlined wherever it is called (--at early counts before that)"), "{inlined:?}");
        assert_eq!(inlined[1], "nothing is counted in p: your patterns leave out all of its 2 functions");
        assert_eq!(said(r#"{"include":["small"],"profile":"none"}"#, true), Vec::<String>::new());
    }
}
