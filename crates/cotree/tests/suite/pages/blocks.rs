//! The blocks of code of a page.

/// A block of code.
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    pub kind: BlockKind,
    /// Lines may have more columns than the terminal.
    pub wide: bool,
}

/// What is done with a block.
pub enum BlockKind {
    Console(Vec<Shown>),
    Commands(Vec<String>),
    File { name: String, text: String },
    NotRun,
}

/// A command, and what the page says that it prints.
pub struct Shown {
    /// The line of the command, from 1.
    pub line: usize,
    /// Where the output begins.
    pub output_line: usize,
    /// What stands before each line of a block in a list.
    pub indent: String,
    pub command: String,
    pub output: Vec<String>,
}

/// What gdb prints before it reads a line.
const GDB: &str = "(gdb) ";

/// Endings that a shell tells of, and the openings of errors: what shows that a command fails.
const FAILURES: [&str; 6] = ["Segmentation fault", "Aborted", "Killed", "cotree: error: ", "  × ", "cat: "];

impl Shown {
    /// The command for the shell. What gdb is told in the page is its input.
    pub fn typed(&self) -> String {
        let typed: Vec<_> = self.output.iter().filter_map(|line| line.strip_prefix(GDB)).collect();
        if typed.is_empty() {
            self.command.clone()
        } else {
            format!("{} <<'END'\n{}\nEND", self.command, typed.join("\n"))
        }
    }

    /// The output without what was typed into it, which the program does not print.
    pub fn output_without_input(&self) -> Vec<String> {
        let mut output = Vec::new();
        let mut prompted = false;
        for line in &self.output {
            if line.starts_with(GDB) {
                prompted = true;
            } else {
                output.push(format!("{}{line}", if prompted { GDB } else { "" }));
                // What is left out may have several lines, the first of them behind the prompt.
                output.extend((prompted && line == "…").then(|| line.clone()));
                prompted = false;
            }
        }
        output
    }

    /// The lines that the program printed, with what was typed.
    pub fn with_prompts(&self, printed: &[String]) -> Vec<String> {
        let mut typed = self.output.iter().filter(|line| line.starts_with(GDB));
        let mut lines = Vec::new();
        for line in printed {
            match (line.strip_prefix(GDB), typed.next()) {
                (Some(rest), Some(input)) => lines.extend([input.clone(), rest.to_owned()]),
                _ => lines.push(line.clone()),
            }
        }
        lines
    }

    pub fn says_that_it_fails(&self) -> bool {
        self.output.iter().any(|line| FAILURES.iter().any(|failure| line.starts_with(failure)))
    }
}

/// The blocks of a page, and the commands in its comments, or what is wrong with one.
pub fn parse(text: &str) -> Result<Vec<Block>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (line, number) = (lines[at], at + 1);
        let trimmed = line.trim_start();
        if let Some(info) = trimmed.strip_prefix("```") {
            let indent = &line[..line.len() - trimmed.len()];
            let length = lines[number..].iter().position(|line| line.trim() == "```");
            let length = length.ok_or_else(|| format!("\nline {number}: a fence is not closed"))?;
            let body: Vec<_> =
                lines[number..number + length].iter().map(|l| l.strip_prefix(indent).unwrap_or(l)).collect();
            blocks.push(block(info, number, indent, &body).map_err(|(line, why)| format!("\nline {line}: {why}"))?);
            at = number + length;
        } else if let Some(first) = trimmed.strip_prefix("<!-- run:") {
            let rest = lines[number..].iter().take_while(|_| !first.ends_with("-->"));
            let more: Vec<_> = rest.copied().take_while(|line| *line != "-->").collect();
            at += more.len();
            let body: Vec<_> = [first.trim_end_matches("-->").trim()].into_iter().chain(more).collect();
            blocks.push(Block { line: number, kind: BlockKind::Commands(commands(&body)), wide: false });
        } else if line.starts_with("    ") && at > 0 && lines[at - 1].is_empty() {
            return Err(format!("\nline {number}: code without a fence"));
        }
        at += 1;
    }
    Ok(blocks)
}

fn block(info: &str, line: usize, indent: &str, body: &[&str]) -> Result<Block, (usize, &'static str)> {
    let words: Vec<&str> = info.split_whitespace().collect();
    let (kind, wide) = match words[..] {
        [_, "not-run"] => (BlockKind::NotRun, false),
        [_, file] if file.starts_with("file=") => {
            let text = body.iter().flat_map(|line| [line, "\n"]).collect();
            (BlockKind::File { name: file["file=".len()..].to_owned(), text }, false)
        }
        ["sh"] => (BlockKind::Commands(commands(body)), false),
        ["console"] => (BlockKind::Console(console(line, indent, body)?), false),
        ["console", "wide"] => (BlockKind::Console(console(line, indent, body)?), true),
        _ => return Err((line, "the fence does not say what is to be done with the block")),
    };
    Ok(Block { line, kind, wide })
}

/// Commands, one a line; those that end in a backslash go on.
fn commands(body: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in body.iter().filter(|line| !line.is_empty()) {
        match commands.last_mut() {
            Some(last) if last.ends_with('\\') => *last += &format!("\n{line}"),
            _ => commands.push((*line).to_owned()),
        }
    }
    commands
}

/// Commands with what they print.
fn console(fence: usize, indent: &str, body: &[&str]) -> Result<Vec<Shown>, (usize, &'static str)> {
    let mut all: Vec<Shown> = Vec::new();
    for (line, text) in (fence + 1..).zip(body) {
        match (text.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Shown {
                line,
                output_line: line + 1,
                indent: indent.to_owned(),
                command: command.to_owned(),
                output: Vec::new(),
            }),
            (None, Some(last)) if last.command.ends_with('\\') => {
                last.command += &format!("\n{text}");
                last.output_line = line + 1;
            }
            (None, Some(last)) => last.output.push((*text).to_owned()),
            (None, None) => return Err((line, "the block does not begin with a command, `$ …`")),
        }
    }
    Ok(all)
}
