//! Text for people, made safe to show: names, paths, command lines and source lines may come from a stranger's program.
//! Control characters in them would command the terminal, and line ends would make lines that look like ours.
//!
//! Control characters become their pictures (`␛`, `␊`), and characters that turn or hide text become `�`. That happens
//! twice:
//!
//! - *Where text comes in*: commands that write for people [`show`] every name and path of a map, and lines of
//!   sources by [`line()`]; the printers of notes and errors show each of their parts by [`name`]. No such text has
//!   line ends or colours then.
//! - *Where text goes out*: [`Visible`] lets pass what a report is made of: printable characters, tabs, line ends, and
//!   the colours that we use.

use cotree_core::facts::linker_name;
use std::borrow::Cow;
use std::io::{self, Write};

/// A writer that makes control characters visible before it passes them to another one.
pub struct Visible<W: Write> {
    out: W,
    /// The beginning of a character or of a colour that is not whole yet.
    begun: Vec<u8>,
}

/// Longer colours are none of ours.
const LONGEST: usize = 16;

const ESCAPE: u8 = 0x1B;

impl<W: Write> Visible<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }

    /// Writes what was begun and will not be continued, and gives the writer back.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.give_up()?;
        Ok(self.out)
    }

    /// What was begun is neither a character nor a colour.
    fn give_up(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        match begun.split_first() {
            Some((&ESCAPE, rest)) => {
                self.picture(ESCAPE)?;
                self.out.write_all(rest)
            }
            Some(_) => self.out.write_all("�".as_bytes()),
            None => Ok(()),
        }
    }

    fn picture(&mut self, control: u8) -> io::Result<()> {
        self.out.write_all(picture(char::from(control)).encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn take(&mut self, byte: u8) -> io::Result<()> {
        match self.begun.first() {
            None => self.begin(byte),
            Some(&ESCAPE) => self.go_on_with_colour(byte),
            Some(_) => self.go_on_with_character(byte),
        }
    }

    fn begin(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            ESCAPE | 0x80.. => self.begun.push(byte),
            b'\n' | b'\t' | b' '..=b'~' => self.out.write_all(&[byte])?,
            _ => self.picture(byte)?,
        }
        Ok(())
    }

    fn go_on_with_colour(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'[' if self.begun.len() == 1 => self.begun.push(byte),
            b'0'..=b'9' | b';' if self.begun.len() > 1 && self.begun.len() < LONGEST => self.begun.push(byte),
            b'm' if is_colour(&self.begun) => {
                self.begun.push(byte);
                self.out.write_all(&std::mem::take(&mut self.begun))?;
            }
            _ => {
                self.give_up()?;
                self.begin(byte)?;
            }
        }
        Ok(())
    }

    fn go_on_with_character(&mut self, byte: u8) -> io::Result<()> {
        if byte & 0xC0 != 0x80 {
            self.give_up()?;
            return self.begin(byte);
        }
        self.begun.push(byte);
        match std::str::from_utf8(&self.begun) {
            Ok(character) => {
                let shown = if character.chars().any(misleads) { "�" } else { character };
                self.out.write_all(shown.as_bytes())?;
                self.begun.clear();
            }
            // It may become one.
            Err(error) if error.error_len().is_none() => {}
            Err(_) => self.give_up()?,
        }
        Ok(())
    }
}

/// Whether all that comes behind `ESC [` are numbers of colours, of bold and faint, or their ends.
fn is_colour(begun: &[u8]) -> bool {
    let numbers = begun.strip_prefix(b"\x1b[").unwrap_or(b"x");
    numbers.split(|&byte| byte == b';').all(|number| {
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|number| if number.is_empty() { Some(0) } else { number.parse().ok() });
        matches!(number, Some(0..=4 | 22..=24 | 30..=37 | 39 | 90..=97))
    })
}

/// Control characters beyond ASCII, and those that turn the direction of text or break lines.
fn misleads(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9F}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            let plain = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')).count();
            if plain > 0 && self.begun.is_empty() {
                self.out.write_all(&rest[..plain])?;
                rest = &rest[plain..];
            } else {
                self.take(byte)?;
                rest = behind;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Makes control characters visible, line ends, tabs and colours too: of a name that is to stay in its line.
#[must_use]
pub fn name(name: &str) -> Cow<'_, str> {
    shown(name, |_| false)
}

/// Makes control characters visible, colours too; tabs stay.
#[must_use]
pub fn line(line: &str) -> Cow<'_, str> {
    shown(line, |c| c == '\t')
}

/// Makes control characters visible, colours too; line ends and tabs stay.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

fn shown(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shows = |c: char| (c.is_control() && !stays(c)) || misleads(c);
    if !text.contains(shows) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if shows(c) { picture(c) } else { c }).collect::<String>().into()
}

/// What is shown in a control character's place, or in that of one that misleads.
fn picture(c: char) -> char {
    match u32::from(c) {
        control @ ..0x20 => char::from_u32(0x2400 + control).unwrap_or('�'),
        0x7F => '␡',
        _ => '�',
    }
}

/// A text that [`name`] has made, with the control characters that it has pictures of.
#[must_use]
pub fn original(shown: &str) -> String {
    let control = |c: char| match c {
        '␀'..='␟' => char::from_u32(u32::from(c) - 0x2400).unwrap_or(c),
        '␡' => '\x7F',
        c => c,
    };
    shown.chars().map(control).collect()
}

/// Makes the control characters of a name visible in its place. The mark of [`linker_name`] stays at its beginning: it
/// is no part of the name.
pub fn show(text: &mut String) {
    let own = linker_name(text);
    if let Cow::Owned(shown) = name(own) {
        let mark = text.len() - own.len();
        text.replace_range(mark.., &shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_command_the_terminal() {
        let all = [
            ("plain ü\tx\n", "plain ü\tx\n"),
            ("\x1b[1;33mbold\x1b[0m \x1b[m", "\x1b[1;33mbold\x1b[0m \x1b[m"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("\x1b[2J\x1b[8mhidden\x1b[1A", "␛[2J␛[8mhidden␛[1A"),
            ("\x1b[1;8mhidden", "␛[1;8mhidden"),
            ("\x1b\x1b[31mred", "␛\x1b[31mred"),
            ("\x1b[111111111111111111m", "␛[111111111111111111m"),
            ("a\rb\x08\x7f", "a␍b␈␡"),
            ("\u{9b}2J \u{202e}txt.exe", "�2J �txt.exe"),
            ("end \x1b[3", "end ␛[3"),
        ];
        for (before, after) in all {
            // Bytes may come one by one.
            for size in [1, before.len()] {
                let mut out = Visible::new(Vec::new());
                before.as_bytes().chunks(size).for_each(|bytes| out.write_all(bytes).expect("memory"));
                assert_eq!(String::from_utf8(out.finish().expect("memory")).expect("text"), after, "{before:?}");
            }
        }
        let mut out = Visible::new(Vec::new());
        out.write_all(b"\xff\xe2\x82 \xe2\x82\xac \xc3").expect("memory");
        assert_eq!(String::from_utf8(out.finish().expect("memory")).expect("text"), "�� € �");
    }

    #[test]
    fn names_have_neither_colours_nor_line_ends() {
        let evil = "two\nlines\t\x1b[31mred\x7f\u{9b}2J\u{202e}";
        assert_eq!(name(evil), "two␊lines␉␛[31mred␡�2J�");
        assert_eq!(line(evil), "two␊lines\t␛[31mred␡�2J�");
        assert_eq!(text(evil), "two\nlines\t␛[31mred␡�2J�");
        assert!(matches!(name("plain ü"), Cow::Borrowed("plain ü")));
        let mut marked = "\x01_a\nb".to_owned();
        show(&mut marked);
        assert_eq!(marked, "\x01_a␊b");
        assert_eq!(original(&name("a\n\x1b[1m\x7f")), "a\n\x1b[1m\x7f");
    }
}
