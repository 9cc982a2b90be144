//! The source files of a recipe's program, and what each slot of its tally counts.

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
}

/// A program, as text.
pub struct Program {
    /// Names and texts of its files; `p.c` is the first, and `q.cpp` the second if there is any C++.
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
        let (mut c, mut cxx) = (prototypes.clone(), prototypes);
        for (number, piece) in recipe.pieces.iter().enumerate() {
            if !piece.kept {
                program.parts.push(Vec::new());
                continue;
            }
            let mut writer = Writer::new(number, piece.seed, &kept, &piece.dropped, program.places.len());
            writer.write(piece.ingredient.text);
            let (text, file) = if piece.ingredient.cxx { (&mut cxx, "q.cpp") } else { (&mut c, "p.c") };
            text.push_str(&writer.prototypes());
            text.push('\n');
            let before = text.matches('\n').count();
            program.places.extend(writer.slots.iter().map(|slot| Place {
                file,
                line: before + slot.line + 1,
                entries_of: slot.entries_of.clone(),
            }));
            text.push_str(&writer.lines.join("\n"));
            text.push('\n');
            program.parts.push(writer.parts);
        }
        if recipe.cxx() {
            cxx.push_str(GUARD_CXX);
        } else {
            c.push_str(GUARD_C);
        }
        c.push_str(&main(recipe));
        program.files.push(("p.c", c));
        if recipe.cxx() {
            program.files.push(("q.cpp", cxx));
        }
        program
    }

    /// Where a part of the source is that has this tally.
    pub fn place(&self, slot: usize) -> String {
        let Place { file, line, entries_of } = &self.places[slot];
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
