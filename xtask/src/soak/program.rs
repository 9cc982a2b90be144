//! The source files of a recipe's program, and what each slot of its tally counts.

use super::ingredients::Timing;
use super::recipe::{Ending, Recipe};
use super::template::Writer;

/// A line that is tallied.
#[derive(Clone, Debug)]
pub struct Place {
    pub file: &'static str,
    /// From 1.
    pub line: usize,
    /// The function whose entries are counted there.
    pub entries_of: Option<String>,
    /// Threads come here that still run when the profile is complete and the process has not quite ended.
    pub runs_on: bool,
    /// A signal may end what runs there, for good, between the count of an entry and its tally.
    pub interrupted: bool,
}

/// Files that become the executable.
const EXECUTABLE: [&str; 2] = ["p.c", "q.cpp"];
/// Files that become the shared library.
pub const LIBRARY: [&str; 2] = ["l.c", "m.cpp"];

/// A program, as text.
pub struct Program {
    /// Names and texts of its files: `p.c`, and those that are needed of `q.cpp`, `l.c` and `m.cpp`.
    pub files: Vec<(&'static str, String)>,
    /// What each slot counts.
    pub places: Vec<Place>,
    /// The parts of each piece that could be dropped.
    pub parts: Vec<Vec<usize>>,
}

const GUARD_C: &str = "long soak_guarded(soak_piece piece, long n) {
  sigjmp_buf *before = soak_target;
  soak_target = 0;
  long s = piece(n);
  soak_target = before;
  return s & 65535;
}
";

const GUARD_CXX: &str = "long soak_guarded(soak_piece piece, long n) {
  sigjmp_buf *before = soak_target;
  soak_target = 0;
  long s;
  try {
    s = piece(n);
  } catch (abi::__forced_unwind &) {
    throw;
  } catch (...) {
    s = 17;
  }
  soak_target = before;
  return s & 65535;
}
";

impl Program {
    /// Writes the program of a recipe.
    pub fn of(recipe: &Recipe) -> Program {
        let kept: Vec<bool> = recipe.pieces.iter().map(|piece| piece.kept).collect();
        let mut prototypes =
            String::from("#include \"soak.h\"\n#ifdef __cplusplus\n#include <cxxabi.h>\n#include <exception>\n");
        prototypes += "extern \"C\" {\n#endif\nextern soak_piece pieces[];\nlong leaf(long n);\n";
        prototypes.extend((0..kept.len()).map(|piece| format!("PIECE long p{piece}(long n);\n")));
        prototypes += "#ifdef __cplusplus\n}\n#endif\n";
        let mut program = Program { files: Vec::new(), places: Vec::new(), parts: Vec::new() };
        // C and C++ of the executable, C and C++ of the library.
        let names = [EXECUTABLE, LIBRARY].concat();
        let mut texts = vec![prototypes; names.len()];
        for (number, piece) in recipe.pieces.iter().enumerate() {
            if !piece.kept {
                program.parts.push(Vec::new());
                continue;
            }
            let mut writer = Writer::new(number, piece.seed, &kept, &piece.dropped, program.places.len());
            writer.write(piece.ingredient.text);
            let cxx = usize::from(piece.ingredient.cxx);
            let split = writer.library.unwrap_or(writer.lines.len());
            let (main, library) = writer.lines.split_at(split);
            // Which file lines are in, and how many stand before them.
            let mut add = |file: usize, lines: &[String]| {
                texts[file].push_str(&writer.prototypes());
                texts[file].push('\n');
                let before = texts[file].matches('\n').count();
                texts[file].push_str(&lines.join("\n"));
                texts[file].push('\n');
                (names[file], before)
            };
            let (main, library) = (add(cxx, main), writer.library.map(|_| add(2 + cxx, library)));
            program.places.extend(writer.slots.iter().map(|slot| {
                let (line, (file, before)) = match library {
                    Some(library) if slot.line >= split => (slot.line - split, library),
                    _ => (slot.line, main),
                };
                let runs_on = piece.ingredient.timing == Timing::AfterTheEnd;
                let interrupted = piece.ingredient.name == "interrupted_end";
                Place { file, line: before + line + 1, entries_of: slot.entries_of.clone(), runs_on, interrupted }
            }));
            program.parts.push(writer.parts);
        }
        texts[usize::from(recipe.cxx())].push_str(if recipe.cxx() { GUARD_CXX } else { GUARD_C });
        texts[0].push_str(&main(recipe));
        let is_there = |file: usize| match file {
            0 => true,
            1 => recipe.cxx(),
            file => recipe
                .kept()
                .any(|piece| piece.ingredient.has_library() && 2 + usize::from(piece.ingredient.cxx) == file),
        };
        let files = names.into_iter().zip(texts).enumerate();
        program.files = files.filter(|&(file, _)| is_there(file)).map(|(_, file)| file).collect();
        program
    }

    /// Where a part of the source is that has this tally.
    pub fn place(&self, slot: usize) -> String {
        let Place { file, line, entries_of, .. } = &self.places[slot];
        match entries_of {
            Some(function) => format!("{function} ({file}:{line})"),
            None => format!("{file}:{line}"),
        }
    }
}

fn main(recipe: &Recipe) -> String {
    let mut text = String::from("soak_piece pieces[] = {");
    for (number, piece) in recipe.pieces.iter().enumerate() {
        text += &if piece.kept { format!(" p{number},") } else { " leaf,".into() };
    }
    let ending = match recipe.ending {
        Ending::Return => "",
        Ending::Early(statement) => statement,
        Ending::Killed => "kill(getpid(), SIGKILL); pause();",
    };
    text += " 0 };\nlong leaf(long n) { return n * 3 & 4095; }\n";
    text += &format!("__attribute__((noinline)) void soak_end(void) {{ {ending} }}\n");
    text += "int main(int argc, char **argv) {\n  long s = argc;\n  soak_self = argv[0];\n";
    text += "  soak_fuel = 30;
  if (argc > 1) return (int)(soak_apart(pieces[atoi(argv[1])], argc, 10) & 63);\n";
    if recipe.ending != Ending::Return {
        text += &format!("  soak_ending_in = {};\n", recipe.ends_at);
    }
    for (number, _) in recipe.pieces.iter().enumerate().filter(|(_, piece)| piece.kept) {
        text += &format!(
            "  soak_fuel = {};\n  s = (s * 31 + soak_guarded(pieces[{number}], s & 31)) & 0xffffff;\n",
            recipe.fuel
        );
    }
    text += "  printf(\"%ld\\n\", s);\n  return s & 63;\n}\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_is_left_and_a_seed_is_one_program() {
        for seed in 0..100 {
            let program = Program::of(&Recipe::of(seed));
            let again = Program::of(&Recipe::of(seed));
            for ((name, text), (_, same)) in program.files.iter().zip(&again.files) {
                assert_eq!(text, same);
                let markers =
                    ["$", "NUM(", "ANY(", "CALL", "TAIL(", "ENTRY(", "COUNTED(", "BODY(", "STAY(", "#optional"];
                let left = text.lines().find(|line| markers.iter().any(|marker| line.contains(marker)));
                assert!(left.is_none_or(|line| line.contains("/* COUNTED */")), "seed {seed}, {name}: {left:?}");
            }
            for (slot, place) in program.places.iter().enumerate() {
                let (_, text) = program.files.iter().find(|(name, _)| *name == place.file).expect("a file");
                let line = text.lines().nth(place.line - 1).expect("a line").trim();
                assert!(line == format!("T({slot});") || line.ends_with("/* COUNTED */"), "seed {seed}: {line}");
            }
        }
    }
}
