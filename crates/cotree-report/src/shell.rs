//! Command lines as one would type them into a shell.

/// The words of a command, quoted where a shell would read them otherwise.
#[must_use]
pub fn command_line(words: &[impl AsRef<str>]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=:,./@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(char::is_control) {
        // Only this form has names for line ends and the like.
        let escape = |c: char| match c {
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            '\r' => "\\r".to_owned(),
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_control() => c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
            c => c.to_string(),
        };
        return format!("$'{}'", word.chars().map(escape).collect::<String>());
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_of_a_shell_as_they_were() {
        let words = ["./prog", "", "a b", "it's", "$HOME;*", "--x=1,2", "one\ntwo\t'\\", "\x1b[31m", "ü"];
        let line = command_line(&words);
        assert_eq!(line, r"./prog '' 'a b' 'it'\''s' '$HOME;*' --x=1,2 $'one\ntwo\t\'\\' $'\x1b[31m' ü");
        let bash = std::process::Command::new("bash").arg("-c").arg(format!("printf '%s\\0' {line}")).output();
        if let Ok(printed) = bash.map(|output| output.stdout) {
            let printed = String::from_utf8(printed).expect("as it was");
            assert_eq!(printed.split_terminator('\0').collect::<Vec<_>>(), words);
        }
    }
}
