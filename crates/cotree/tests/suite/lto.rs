//! `-flto`: modules are compiled as one, and every count is the same as when each is compiled by itself.

use crate::project::{Project, succeed};
use cotree_core::method::{METHODS, Method};

/// Three modules: functions and variables of one name that differ, calls both ways, `longjmp` from one through another,
/// and an `exit` below all of them.
const IN_C: [(&str, &str); 4] = [
    (
        "parts.h",
        "#include <setjmp.h>\nextern jmp_buf out;\nlong left(long x);\nlong right(long x, int depth);\nlong top(long x);\n\
         extern long (*const table[3])(long);\nextern int shared;\n",
    ),
    (
        "left.c",
        "#include \"parts.h\"\nint shared;\nstatic long state = 3;\n\
         static long step(long x) { state += x & 3; return x % 2 ? x * 3 + 1 : x / 2; }\n\
         long left(long x) { long n = 0; while (x > 1 && n < 50) { x = step(x); n++; } shared++; return n + state; }\n\
         static long twice(long x) { return left(x) + left(x + 1); }\nlong (*const table[3])(long) = {left, twice, top};\n",
    ),
    (
        "right.c",
        "#include \"parts.h\"\nstatic long state = 7;\n\
         static long step(long x) { if (x % 11 == 4) longjmp(out, (int)(x % 5) + 1); state ^= x; return state & 1023; }\n\
         static void trace(long x) { for (int i = 0; i < x % 4; i++) state += i; }\n\
         long right(long x, int depth) { if (depth == 0) return step(x); trace(x); return right(left(x) + x, depth - 1) + 1; }\n",
    ),
    (
        "main.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include \"parts.h\"\njmp_buf out;\n\
         static void trace(long x) { if (x % 3 == 0) printf(\"%ld\\n\", x); }\n\
         long top(long x) { return x % 7 ? x - 1 : right(x, 2); }\n\
         static void leave(long x) { if (x > 10) exit(3); leave(x + left(x) % 3 + 1); __asm__ volatile(\"\"); }\n\
         int main(void) {\n    volatile long sum = 0;\n    for (volatile int i = 1; i < 400; i++) {\n        int code = setjmp(out);\n\
         sum += code ? code : right(i, i % 4) + table[i % 3](i);\n    }\n    trace(sum * 3); printf(\"%ld %d\\n\", sum, shared);\n\
         fflush(stdout);\n    leave(0);\n}\n",
    ),
];

/// What a program prints.
fn run(project: &Project, program: &str, ends: i32) -> String {
    let mut command = project.command("timeout");
    let output = command.arg("60").arg(project.path(program)).env("COTREE_FILE", "p.cotree").output().expect("it runs");
    assert_eq!(output.status.code(), Some(ends), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The profile's counts as weights, without the names of temporary objects.
fn counts(project: &Project) -> Vec<String> {
    let weights = project.ok("export --format weights p.cotree");
    let without_module = |line: &str| {
        let (head, tail) = line.split_once("\"module\":")?;
        Some(format!("{head}{}", tail.split_once("\"shape\"")?.1))
    };
    weights.lines().filter_map(without_module).collect()
}

#[test]
fn every_method_counts_across_modules_what_it_counts_in_each() {
    let project = Project::new(&IN_C);
    let build = |options: &str, flags: &str, program: &str| {
        project.ok(&format!("{options} cc -O2 -g {flags} main.c left.c right.c -o {program}"));
    };
    build("--profile none", "", "plain");
    let truth = run(&project, "plain", 3);
    build("--profile none", "-flto", "one");
    assert_eq!(run(&project, "one", 3), truth);
    for method in Method::all().filter(|method| !method.is_none()) {
        let name = method.name();
        let has_weights = method.promises().blocks && method.promises().edges;
        build(&format!("--verify --profile {name}"), "", "apart");
        assert_eq!(run(&project, "apart", 3), truth, "{name}");
        let apart = has_weights.then(|| counts(&project));
        for flags in ["-flto", "-flto=thin"] {
            build(&format!("--verify --profile {name}"), flags, "one");
            assert_eq!(run(&project, "one", 3), truth, "{name}");
            if method.promises().blocks {
                project.ok("verify --strict p.cotree");
            }
            assert_eq!(has_weights.then(|| counts(&project)), apart, "{name} {flags}");
        }
    }
    assert!(METHODS.len() > 8);
}

#[test]
fn levels_and_places_of_probes() {
    let project = Project::new(&IN_C);
    for options in ["-O0 late", "-O1 early", "-O3 late", "-Os early", "-Oz late"] {
        let (level, at) = options.split_once(' ').expect("two");
        let [apart, one] = ["", "-flto=full"].map(|flags| {
            project.ok(&format!("--verify --at {at} cc {level} -g {flags} main.c left.c right.c -o program"));
            let said = run(&project, "program", 3);
            project.ok("verify --strict p.cotree");
            (said, counts(&project))
        });
        assert_eq!(apart, one, "{options}");
    }
}

/// The last word counts: the option's, else that of the command line.
#[test]
fn modules_are_joined_when_asked_for() {
    let project = Project::new(&IN_C);
    let symbols = |options: &str, flags: &str| {
        project.ok(&format!("{options} --profile none cc -O2 {flags} main.c left.c right.c -o program"));
        assert_eq!(run(&project, "program", 3).lines().count(), 2);
        succeed(project.command("nm").arg(project.path("program")))
    };
    // Its only callers are in two other modules.
    let right_is_a_symbol = |symbols: String| symbols.lines().any(|line| line.ends_with(" T right"));
    assert!(right_is_a_symbol(symbols("", "")) || !right_is_a_symbol(symbols("", "-flto")));
    let [apart, one] = [symbols("", ""), symbols("", "-flto")];
    assert_ne!(apart, one);
    assert_eq!(symbols("--lto on", ""), one);
    assert_eq!(symbols("--lto off", "-flto"), apart);
    assert_eq!(symbols("", "-flto -fno-lto -flto=thin"), one);
}

/// Inline functions with variables of their own, virtual functions and inline variables in all modules; exceptions
/// through them; and constructors, which run in the order of the link.
#[test]
fn exceptions_and_inline_functions_of_cxx() {
    let project = Project::new(&[
        (
            "shape.h",
            "#pragma once\n#include <string>\n#include <vector>\nstruct Shape { virtual ~Shape() {} virtual long area(long) const; };\n\
             struct Log { Log(const char *); static long lines; };\n\
             inline long counter(long by) { static long total = 5; total += by; return total; }\n\
             inline std::vector<int> &all() { static std::vector<int> v; return v; }\ninline std::string names = \"shapes\";\n\
             template <class T> T clamp(T x, T most) { if (x > most) throw std::string(\"too large\"); return x < 0 ? T(0) : x; }\n\
             struct Guard { ~Guard() { counter(1); } };\nlong use(const Shape &, long);\nlong parse(long);\n",
        ),
        (
            "shape.cc",
            "#include \"shape.h\"\n#include <stdio.h>\nlong Log::lines;\nLog::Log(const char *s) { lines++; puts(s); }\n\
             static Log first(\"first\");\nlong Shape::area(long x) const { return clamp(x, 40L) * 2; }\n\
             long use(const Shape &s, long x) { Guard g; all().push_back((int)x); return s.area(x) + counter(2); }\n",
        ),
        (
            "parse.cc",
            "#include \"shape.h\"\nstatic Log second(\"second\");\n\
             namespace { struct Square : Shape { long area(long x) const override { Guard g; return clamp(x * x, 900L); } }; }\n\
             long parse(long x) { Guard g; try { return use(Square(), x) + use(Shape(), x); }\n\
             catch (int) { return -1; } }\n",
        ),
        (
            "main.cc",
            "#include \"shape.h\"\n#include <stdio.h>\nstatic Log third(\"third\");\n\
             namespace { struct Square : Shape { long area(long x) const override { return x + clamp(x, 10L); } }; }\n\
             int main() { long sum = 0;\n  for (long i = -5; i < 60; i++) try { sum += parse(i) + use(Square(), i % 13); }\n\
             catch (std::string &s) { sum += (long)s.size(); }\n\
             printf(\"%ld %ld %zu %s %ld\\n\", sum, counter(0), all().size(), names.c_str(), Log::lines); }\n",
        ),
    ]);
    for options in
        ["", "--profile path", "--profile vertex", "--threads on", "--at early", "--profile path --path-array 0"]
    {
        let [apart, one] = ["", "-flto"].map(|flags| {
            project.ok(&format!("--verify {options} c++ -O2 -g {flags} shape.cc parse.cc main.cc -o program"));
            let said = run(&project, "program", 0);
            project.ok("verify --strict p.cotree");
            let json: serde_json::Value =
                serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
            (said, lines_of(&json))
        });
        assert!(one.0.starts_with("first\nsecond\nthird\n"), "{}", one.0);
        assert_eq!(apart, one, "{options}");
    }
}

/// How often each function's blocks ran, over its copies: which copy of an inline function runs is the optimiser's
/// choice.
fn lines_of(json: &serde_json::Value) -> std::collections::BTreeMap<String, u64> {
    let mut sums = std::collections::BTreeMap::new();
    for function in json["units"][0]["functions"].as_array().expect("functions") {
        let blocks = function["blocks"].as_array().into_iter().flatten();
        let sum: u64 = blocks.filter_map(|block| block["count"].as_u64()).sum();
        *sums.entry(function["symbol"].as_str().expect("a symbol").to_owned()).or_default() += sum;
    }
    sums
}

/// Modules with assembly stay alone: its labels may clash with others', and what it names must keep its name.
#[test]
fn modules_that_cannot_be_joined() {
    let project = Project::new(&[
        (
            "asm.c",
            "__asm__(\".text\\nhelper:\\n  lea 1(%rdi), %rax\\n  ret\\n\");\n\
             long through(long x) { long r; __asm__(\"call helper\" : \"=a\"(r) : \"D\"(x) : \"memory\"); return r; }\n",
        ),
        (
            "named.c",
            "__attribute__((used, noinline)) static long pinned(long x) { return x * 5; }\n\
             long by_name(long x) { long r; __asm__ volatile(\"sub $128, %%rsp\\n call pinned\\n add $128, %%rsp\" : \"=a\"(r), \"+D\"(x) :\n\
             : \"memory\", \"rcx\", \"rdx\", \"rsi\", \"r8\", \"r9\", \"r10\", \"r11\", \"cc\"); return r; }\n",
        ),
        (
            "main.c",
            "#include <stdio.h>\nlong through(long), by_name(long), twice(long);\n\
             __attribute__((noinline)) static long helper(long x) { return x - 1; }\n\
             __attribute__((noinline)) static long pinned(long x) { return x + 100; }\n\
             int main(void) { long sum = 0; for (long i = 0; i < 9; i++)\n\
             sum += through(i) * helper(i) + by_name(i) - pinned(i) + twice(i); printf(\"%ld\\n\", sum); return 0; }\n",
        ),
        ("twice.c", "static long helper(long x) { return x * 2; }\nlong twice(long x) { return helper(x); }\n"),
    ]);
    for options in ["--profile none", "--verify", "--verify --profile path"] {
        project.ok(&format!("{options} cc -O2 -g -flto main.c asm.c named.c twice.c -o program"));
        assert_eq!(run(&project, "program", 0), "-489\n", "{options}");
        if options != "--profile none" {
            project.ok("verify --strict p.cotree");
        }
    }
}

/// Several threads, a shared library and a program with more than one of each, and partial links.
#[test]
fn kinds_of_links() {
    let project = Project::new(&[
        ("add.c", "static int own(int x) { return x & 1 ? x : -x; }\nint add(int x) { return own(x) + 2; }\n"),
        ("mul.c", "int add(int);\nstatic int own(int x) { return x * 3; }\nint mul(int x) { return own(add(x)); }\n"),
        (
            "main.c",
            "#include <pthread.h>\n#include <stdio.h>\nint mul(int), add(int);\nstatic int own(int x) { return x + 1; }\n\
             static void *work(void *p) { for (int i = 0; i < 1000; i++) *(long *)p += mul(own(i)); return 0; }\n\
             int main(void) { pthread_t t[3]; long sums[3] = {0};\n for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, &sums[i]);\n\
             for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n printf(\"%ld %d\\n\", sums[0] + sums[1] + sums[2], add(1)); }\n",
        ),
    ]);
    let truth = {
        project.ok("--profile none cc -O2 -pthread main.c add.c mul.c -o program");
        run(&project, "program", 0)
    };
    for linker in ["bfd", "gold", "mold"] {
        for flags in ["", "-static", "-no-pie"] {
            project
                .ok(&format!("--verify cc -O2 -flto -pthread -fuse-ld={linker} {flags} main.c add.c mul.c -o program"));
            assert_eq!(run(&project, "program", 0), truth, "{linker} {flags}");
            project.ok("verify --strict p.cotree");
        }
        project.ok(&format!("--verify cc -O2 -flto -fuse-ld={linker} -shared -fPIC add.c mul.c -o libparts.so"));
        project.ok(&format!(
            "--verify cc -O2 -flto -pthread -fuse-ld={linker} main.c -L. -lparts -Wl,-rpath,$ORIGIN -o program"
        ));
        assert_eq!(run(&project, "program", 0), truth, "{linker}");
        project.ok("verify --strict p.cotree");
    }
    // The plain part is joined as well, and has no counters.
    project.cotree("cc -O2 -flto -r add.c mul.c -o part.o").output().expect("cotree starts");
    project.ok("--verify cc -O2 -flto -pthread main.c part.o -o program");
    assert_eq!(run(&project, "program", 0), truth);
    project.ok("verify --strict p.cotree");
    project.clean();
}

/// What a profile says goes across modules, too.
#[test]
fn programs_are_compiled_by_a_profile_as_one() {
    let project = Project::new(&IN_C);
    project.ok("cc -O2 -flto main.c left.c right.c -o program");
    let truth = run(&project, "program", 3);
    std::fs::write(project.path("weights"), project.ok("export --format weights p.cotree")).expect("a file");
    for flags in ["-flto", "-flto=thin", "", "-flto -g"] {
        let built = project.cotree(&format!("--use weights cc -O2 {flags} main.c left.c right.c -o used")).output();
        let built = built.expect("cotree starts");
        assert!(built.status.success() && built.stdout.is_empty() && built.stderr.is_empty(), "{built:?}");
        assert!(!project.is_profiled("used"));
        assert_eq!(run(&project, "used", 3), truth, "{flags}");
    }
}
