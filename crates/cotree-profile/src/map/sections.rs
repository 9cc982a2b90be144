//! The sections of a map: which part of the map has which streams. Only the file that writes and reads a part uses its
//! streams.
//!
//! A profiling method that stores something in the map adds a section here. A new stream goes to the end of its
//! section.

use crate::wire::sections::sections;

sections! {
    /// All of them, in file order.
    SECTIONS;
    b"unit" {
        /// Flags, how many files and modules there are, and how many functions in each module.
        Unit,
        /// Lengths of the strings of the table.
        TextLength,
        /// The strings.
        Text,
        /// Names of the unit, its target, its files, modules and functions: references to strings.
        TextRef,
    }
    b"func" {
        /// Per function: flags, position, counts.
        Function,
        /// Per block: what its terminator is.
        Shape,
        /// Targets of edges.
        Target,
        /// Values of switch cases, and the parts of edges that have no usual shape.
        Case,
        /// Instructions of a block that are none of the following.
        Plain,
        /// Loads.
        Loads,
        /// Stores.
        Stores,
        /// How many calls there are besides the call sites.
        Calls,
        /// Floating-point operations.
        Float,
    }
    b"line" {
        /// Spans per block.
        SpanCount,
        /// Per span: which of its parts follow.
        SpanFlags,
        /// Line deltas.
        Line,
        /// Columns.
        Column,
        /// Files, inlined copies and preceding call sites of spans, where they are not as predicted.
        SpanContext,
        /// Inlined copies: flags, and parents that are not as predicted.
        Inlined,
        /// Inlined copies that are not as predicted: symbols.
        InlinedName,
        /// Inlined copies that are not as predicted: where they are called.
        InlinedCall,
    }
    b"site" {
        /// Per call site: flags.
        SiteFlags,
        /// Per call site: steps to its block; probe numbers out of order.
        SiteBlock,
        /// Callees.
        Callee,
    }
    b"call" {
        /// Per call that is no call site: flags.
        CallFlags,
        /// Per call that is no call site: how many call sites of the block come before it.
        CallPlace,
        /// Callees of calls that are no call sites.
        CallName,
        /// Per call: whether the source has it, and in which span of its block, as a step from the likely one.
        CallLine,
        /// Per call that the source has: the step from its span's column to its own.
        CallColumn,
    }
    b"runs" skippable {
        /// Per block: how many runs of instructions it has.
        RunCount,
        /// Per run: its span, the calls before it, and whether it holds more than plain instructions.
        RunShape,
        /// Per run but the last of its block: how many instructions it has.
        RunTotal,
        /// Runs of instructions: loads, stores and floating-point operations, where it has any.
        RunKinds,
    }
    b"cost" skippable {
        /// Per run of instructions: what it costs.
        RunCost,
    }
    b"code" {
        /// How many machine functions there are.
        CodeCount,
        /// Per machine function: its size, and how many return points it has.
        Code,
        /// Return offsets.
        Return,
        /// Chains of call sites at return points.
        Chain,
    }
    b"plan" {
        /// The method, and whether there are reference plans.
        Plan,
    }
    b"even" {
        /// Whether calls that can reach a query are exact, the kinds of events, and per function how it counts them.
        Events,
        /// Per function, kind and call site: what the counter lacks while the call is under way.
        EventsLacking,
        /// Where calls are measured, per function that counts: whether its activations are, and how each of its calls
        /// is.
        EventsCalls,
        /// Per such call and kind: what the callee leaves to the caller where it returns.
        EventsReturned,
    }
    b"cntr" {
        /// How many plans of counters there are.
        PlanCount,
        /// Per plan: its form.
        PlanForm,
        /// Per counter: where its probe stands.
        ProbeKind,
        /// Per counter of plans in no particular order: the block or edge, as a step from the one before.
        ProbeId,
        /// A bit per edge: is it measured?
        ProbeBits,
        /// Plans of no usual form.
        OddPlan,
    }
    b"entr" {
        /// Per function whose entries follow from its callers: which, and how many of its calls are not among those of
        /// its name.
        Entry,
        /// The functions of those calls.
        Caller,
        /// Their blocks.
        CallBlock,
        /// How many call sites come before them.
        CallAfter,
    }
    b"fixd" {
        /// Edges that need no counter: in which functions, how many, which, and what they follow from.
        Fixed,
    }
    b"path" {
        /// The most paths of an array.
        PathArray,
        /// What is added up along paths, if anything is.
        Metric,
        /// Per function with path plans: flags and how many paths there are.
        Path,
        /// Where paths are cut.
        Cut,
        /// Rare arcs of path graphs.
        RareArcs,
        /// Per block with call sites: what the path register says there.
        AtCalls,
        /// What is added to the register, or its value.
        Prefix,
        /// Paths that have words of their own in functions with too many for an array.
        Window,
    }
    b"regs" {
        /// Per return point: whose path registers can be found there.
        Register,
    }
    b"trac" {
        /// Per function: the length of the key of its trace; 0: it is as empty as can be.
        TraceLength,
        /// The keys.
        TraceKey,
    }
    b"addr" {
        /// Per function: how many accesses of memory tell their addresses.
        AccessCount,
        /// Per access: what it does, and which of its parts follow.
        Access,
        /// The block of the access, as a step from the one before.
        AccessBlock,
        /// The call that it comes before, as a step.
        AccessCall,
        /// How many bytes it is of.
        AccessLength,
        /// The access's span of the block's lines.
        AccessSpan,
    }
    b"left" {
        /// Per function: how many instructions access memory and do not tell where.
        LeftOutCount,
        /// The block of the instruction, as a step from the one before.
        LeftOutBlock,
        /// The instruction's span of the block's lines plus one; 0: it has none.
        LeftOutSpan,
    }
    b"cnca" {
        /// Per function: whether its calls are counted.
        CallCounters,
    }
    b"ipat" {
        /// How many paths across functions there are, and how many have a word of their own; per function: how its
        /// activations begin.
        Ipath,
        /// The edges and blocks where they are cut.
        IpathCut,
        /// The calls at which they are cut or that they cross.
        IpathCall,
        /// The callees of those calls, and the groups.
        IpathCallee,
    }
    b"ipgr" {
        /// The functions that calls through pointers may lead to: how many groups there are; per group, how many
        /// members, and these as steps.
        IpathGroup,
    }
    b"csum" skippable {
        /// Per checksum of a source file: the file's number, and the two halves of the sum.
        FileSum,
    }
    b"covr" {
        /// Per module: how many functions of the source have coverage counters. Per such function: how many counters,
        /// and the compiler's hash of it.
        Covered,
        /// Their names in the compiler's coverage map: references to strings.
        CoveredName,
        /// Per function, if any module has such functions: in how many places their counters stand.
        AnchorCount,
        /// Per place: the block, as a step from the one before.
        AnchorBlock,
        /// How many call sites of the block come before it.
        AnchorAfter,
        /// The function of the source, as a step.
        AnchorFunction,
        /// The counter, as a step.
        AnchorCounter,
        /// 1 + the inlined copy that the counter is of, or 0, as a step.
        AnchorCopy,
    }
    b"mcdc" {
        /// Per function of the source that has coverage counters: how many test vectors its decisions have.
        CoveredVectors,
    }
    b"targ" {
        /// 1 if targets of indirect calls are counted.
        Targets,
    }
    b"made" skippable {
        /// How many compilers there are; the lengths of their names, and of names and values of options.
        Build,
        /// These texts.
        BuildText,
    }
}
