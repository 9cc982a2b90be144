//! Errors of building programs: of compiling, linking and of driving tools. Which error has which of these codes is
//! said where the errors are.

use super::entry::explanations;

explanations! { ALL:
    TOOL_MISSING = "tool-missing": "a tool that is needed is not installed",
        why: "cotree drives the compilers, linkers and tools that you have. The one that the message names is not in \
            PATH.",
        remedy: "Install it, or put its folder into PATH; the message says how.",
        trusted: "Nothing was built.";
    TOOL_FAILED = "tool-failed": "a tool cannot be started, or answers what cotree does not understand",
        why: "The file is no program for this machine, its rights forbid it, or it is a wrapper that prints \
            something else; the message has what it said.",
        remedy: "Run the tool by hand, and see what it says. COTREE_CC and COTREE_CXX name other compilers.",
        trusted: "Nothing was built.";
    NO_CACHE = "no-cache": "there is no folder for files that must stay",
        why: "Tools are told where cotree's linker plugin and wrappers are, and use them after cotree has ended. \
            Neither XDG_CACHE_HOME nor HOME names a folder that can be written.",
        remedy: "Set XDG_CACHE_HOME to a folder of yours.",
        trusted: "Nothing was built.";
    NOT_CLANG = "not-clang": "the compiler is not clang",
        why: "cotree counts in LLVM's bitcode, which gcc does not write.",
        remedy: "Set the variable that the message names to a clang of version 14 or newer, or unset it.",
        trusted: "Nothing was built.";
    NO_MCDC = "no-mcdc": "the compiler's coverage map has no decisions",
        why: "Decisions are in the coverage maps of clang 19 and newer.",
        remedy: "Name a newer clang with COTREE_CC and COTREE_CXX, or build without --mcdc.",
        trusted: "Nothing was built. Coverage without --mcdc works with this compiler.";
    LLD_PLUGIN = "lld-plugin": "lld loads no plugins",
        why: "cotree links as a plugin of the linker. GNU ld, gold and mold load plugins; lld does not.",
        remedy: "Link with -fuse-ld=bfd, -fuse-ld=gold or -fuse-ld=mold.",
        trusted: "Nothing was linked.";
    ARCHIVE_INDEX = "archive-index": "an archive does not list what its bitcode defines",
        why: "It was made by an `ar` that does not know bitcode, so that linkers find nothing in it.",
        remedy: "Make it again with `cotree ar` and `cotree ranlib`, which builds mostly take as AR and RANLIB.",
        trusted: "Objects that are compiled can stay.";
    FILE_ACCESS = "file-access": "a file cannot be read or written",
        why: "It is not there, its rights forbid it, or the disk is full; the message has the system's reason.",
        remedy: "Remove what the reason says, and build again.",
        trusted: "Files that were there before are as they were.";
    BAD_SETTINGS = "bad-settings": "cargo's settings cannot be understood",
        why: "The file is not written as TOML says. The message has the place.",
        remedy: "Mend it; cargo refuses it, too.",
        trusted: "Nothing was built.";
    NO_PACKAGE = "no-package": "there is no cargo package here",
        why: "Neither the folder nor one above it has a Cargo.toml.",
        remedy: "Go to the package's folder, or name its manifest with --manifest-path.",
        trusted: "Nothing was built.";
    CARGO_COMMAND = "cargo-command": "`cargo cotree` cannot do this command of cargo",
        why: "The command builds no program that would be profiled, installs it, or is not known.",
        remedy: "Run it without cotree. `cargo cotree` knows build, run, test, bench, check, rustc, nextest, coverage \
            and pgo.",
        trusted: "Nothing was built.";
    LLVM_MISSING = "llvm-missing": "there is no LLVM that cotree can use",
        why: "cotree uses the LLVM library of the Rust toolchain that it was built with. The toolchain was removed, \
            or was replaced by one with another LLVM.",
        remedy: "Install that toolchain, name a libLLVM of the version that the message says in COTREE_LLVM, or \
            build cotree with the toolchain that you have.",
        trusted: "Nothing was linked.";
    BITCODE_TOO_NEW = "bitcode-too-new": "bitcode comes from a newer compiler than cotree's LLVM",
        why: "LLVM reads what older versions wrote, and not what newer ones write.",
        remedy: "Compile with a compiler of the LLVM that the message names or an older one, or let cotree use a \
            newer LLVM (COTREE_LLVM, or a newer Rust toolchain).",
        trusted: "Nothing was linked.";
    BITCODE_DAMAGED = "bitcode-damaged": "an object's bitcode is damaged",
        why: "The file was cut or changed, or the compiler that wrote it has a defect.",
        remedy: "Compile it again.",
        trusted: "Nothing was linked.";
    OTHER_TARGET = "other-target": "an object is compiled for another machine",
        why: "cotree's runtime is for x86-64 Linux.",
        remedy: "Compile for x86_64-unknown-linux-gnu.",
        trusted: "Nothing was linked.";
    COMPILED_OTHERWISE = "compiled-otherwise": "an object was compiled with other options than the link needs",
        why: "Some options change what the compiler does: --at, --coverage and --event-limit. The object was made \
            without them, or comes from a compiler cache that does not see them.",
        remedy: "Compile it again with the options of the link. For a compiler cache, give them among the compiler's \
            own options, as the message says.",
        trusted: "Nothing was linked.";
    COVERAGE_UNKNOWN = "coverage-unknown": "the compiler's coverage cannot be told from counts",
        why: "The object has coverage of a kind that is no count, such as single bytes.",
        remedy: "Compile it without that kind of coverage.",
        trusted: "Nothing was linked.";
    TOO_MANY_VECTORS = "too-many-vectors": "a decision has more test vectors than are counted",
        why: "Conditions multiply the ways through a decision. Each way has a bit of its own.",
        remedy: "Compile with the -fmcdc-max-test-vectors that the message names: clang leaves the decision out, and \
            the report says so. Or split the decision.",
        trusted: "Nothing was linked.";
    TOO_MANY_COUNTERS = "too-many-counters": "the counters take more memory than code can reach",
        why: "Code reaches two gigabytes. Large programs with a counter for each path can have more.",
        remedy: "Choose a smaller --path-array, so that rare paths are kept in hash tables, or fewer functions with \
            --include and --exclude.",
        trusted: "Nothing was linked.";
    CALL_QUERY = "call-query": "cotree_event_call_count is used where no answer can be given",
        why: "The answer belongs to the call in whose code the question stands. The message says what is in the way.",
        remedy: "Ask by a direct call, in code that is compiled with cotree, behind the call that is meant.",
        trusted: "Nothing was linked.";
    LLVM_FAILED = "llvm-failed": "LLVM refuses the program",
        why: "Inline assembly that is wrong, code that LLVM cannot lower, or a defect of LLVM.",
        remedy: "See whether it links with -flto and without cotree, and with the same LLVM. If it does, please report \
            it to cotree.",
        trusted: "Nothing was linked.";
    BAD_OPTIONS = "bad-options": "options have no meaning, or not together",
        why: "The message says which, and why.",
        remedy: "Leave one of them out. `cotree help` and docs/options.md list all.",
        trusted: "Nothing was built.";
    BAD_COSTS = "bad-costs": "the file of costs cannot be used",
        why: "A line is not of the form that docs/events.md describes. The message has its number.",
        remedy: "Mend the line.",
        trusted: "Nothing was built.";
    BAD_WEIGHTS = "bad-weights": "the weights cannot be used",
        why: "The file is not there, or is no file of weights.",
        remedy: "Make one: `cotree export --format weights PROFILE -o FILE`. A profile may be given itself.",
        trusted: "Nothing was built.";
    NOT_PLANNED = "not-planned": "the program cannot be counted by this method",
        why: "Something in it is larger than the method's numbers; the message says what.",
        remedy: "Choose fewer functions with --include and --exclude, or another method.",
        trusted: "Nothing was linked.";
    PLUGIN_LOST = "plugin-lost": "the linker plugin does not find its cotree",
        why: "The linker was started by something else than cotree, or cotree was moved or removed since.",
        remedy: "Link through `cotree cc`, `cotree ld` or `cargo cotree`, or pass -plugin-opt=cotree-driver=PATH.",
        trusted: "Nothing was linked.";
    LINK_DIED = "link-died": "cotree's part of the link ended before it had an answer",
        why: "It was killed, often since memory ran out, or crashed.",
        remedy: "See what stands above the message. With fewer links at a time (`make -j1`), there is more memory for \
            each. If it crashed, please report it.",
        trusted: "Nothing was linked.";
    INTERNAL = "internal": "cotree contradicts itself",
        why: "This is a defect of cotree.",
        remedy: "Please report it, with the message and, if you may, the object that it names.",
        trusted: "Nothing was linked.";
}
