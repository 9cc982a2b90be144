//! Text for people, made safe to show: names, paths, command lines and source lines may come from a stranger's program,
//! and control characters in them would command the terminal.
//!
//! What stays is what a report is made of: printable characters, tabs, line ends, and the colours that we and error
//! messages use. Control characters become their pictures (`␛`), and characters that turn or hide text become `�`.

use std::borrow::Cow;
use std::io::{self, Write};

/// A writer that makes control characters visible on their way to another one.
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
        let picture =
            if control == 0x7F { '␡' } else { char::from_u32(0x2400 + u32::from(control)).unwrap_or('�') };
        self.out.write_all(picture.encode_utf8(&mut [0; 4]).as_bytes())
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

/// Makes control characters visible; line ends and tabs stay.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || misleads(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = Visible::new(Vec::new());
    let bytes = out.write_all(text.as_bytes()).and_then(|()| out.finish());
    Cow::Owned(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default())
}

/// Makes control characters visible, line ends and tabs too: of a name that is to stay in its line.
#[must_use]
pub fn name(name: &str) -> Cow<'_, str> {
    match text(name) {
        shown if shown.contains(['\n', '\t']) => Cow::Owned(shown.replace('\n', "␊").replace('\t', "␉")),
        shown => shown,
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
            assert_eq!(text(before), after, "{before:?}");
            // Bytes may come one by one.
            let mut out = Visible::new(Vec::new());
            before.as_bytes().iter().for_each(|byte| out.write_all(&[*byte]).expect("memory"));
            assert_eq!(String::from_utf8(out.finish().expect("memory")).expect("text"), after);
        }
        let mut out = Visible::new(Vec::new());
        out.write_all(b"\xff\xe2\x82 \xe2\x82\xac \xc3").expect("memory");
        assert_eq!(String::from_utf8(out.finish().expect("memory")).expect("text"), "�� € �");
        assert_eq!(name("two\nlines\t\x1b[31m"), "two␊lines␉\x1b[31m");
    }
}
