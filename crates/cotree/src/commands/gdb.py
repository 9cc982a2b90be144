# Commands for gdb in programs that were built with `cotree --profile events --event-limit`:
#
#   cotree-count [KIND]       how many events the current thread has had
#   cotree-stop-at [KIND] N   starts the program, or goes on, and stops at the first safe point after N events of the thread
#
# `cotree-stop-at` after another `run` comes to the same place again. Limits that the program sets itself are kept.
#
# In every program that was built with cotree:
#
#   cotree-dump FILE          writes a snapshot of the profile
#   cotree-paths [OPTIONS]    the paths that are under way on the current thread (`cotree paths --pending`)
import gdb
import os
import shlex
import struct
import subprocess
import tempfile

KINDS = ["instructions", "loads", "stores", "calls", "branches", "float", "allocations", "syscalls", "cost"]

# More events than there ever will be.
NEVER = 1 << 62


def cotree_kind(name):
    if name not in KINDS:
        raise gdb.GdbError("no kind of events: %s (there are %s)" % (name, ", ".join(KINDS)))
    return KINDS.index(name)


def cotree_call(expression):
    try:
        return int(gdb.parse_and_eval(expression))
    except gdb.error as error:
        raise gdb.GdbError("the program can't be asked: %s (was it built with cotree --profile events?)" % error)


def cotree_count(kind):
    return cotree_call("((unsigned long long (*)(int))cotree_event_count)(%d)" % kind)


def cotree_limit(kind, events):
    """The limit of the debugger, which is apart from those of the program; so many that they never come remove it."""
    limit = "((int (*)(int, unsigned long long, void (*)(void)))cotree_event_limit)(%d, %sULL, (void (*)(void))%s)"
    return cotree_call(limit % (kind, events, "cotree_event_stop"))


def cotree_require_counted(answer, name):
    if answer == 1:
        raise gdb.GdbError("%s are not counted: build with cotree --profile events=%s" % (name, name))


def cotree_is_running():
    return gdb.selected_thread() is not None and gdb.selected_thread().is_valid()


class CotreeCount(gdb.Command):
    """cotree-count [KIND]: how many events the current thread has had.
It is exact where cotree-stop-at stops, and in functions that code which is not profiled has been called from; elsewhere it may lack
up to the events of a stretch of code."""

    def __init__(self):
        super().__init__("cotree-count", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        name = argument.strip() or "instructions"
        if not cotree_is_running():
            raise gdb.GdbError("the program is not running")
        kind = cotree_kind(name)
        cotree_require_counted(cotree_limit(kind, NEVER), name)
        print("%s: %d" % (name, cotree_count(kind)))


class CotreeStopAt(gdb.Command):
    """cotree-stop-at [KIND] N: go on to the first safe point at which the thread has had N events or more.
Starts the program if it is not running. Safe points are where loops begin a turn, and where functions begin that may recur."""

    def __init__(self):
        super().__init__("cotree-stop-at", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        words = argument.split()
        name = words[0] if len(words) == 2 else "instructions"
        if len(words) not in (1, 2) or not words[-1].isdigit():
            raise gdb.GdbError("cotree-stop-at [KIND] N")
        kind = cotree_kind(name)
        if not cotree_is_running():
            gdb.Breakpoint("main", temporary=True)
            gdb.execute("run", to_string=True)
        answer = cotree_limit(kind, words[-1])
        cotree_require_counted(answer, name)
        if answer == 2:
            raise gdb.GdbError("there are no safe points: build with cotree --profile events --event-limit")
        stop = gdb.Breakpoint("*(char *)cotree_event_stop", internal=True)
        try:
            gdb.execute("continue", to_string=True)
        finally:
            stop.delete()
        if not cotree_is_running():
            print("The program has ended before %s %s." % (words[-1], name))
            return
        if int(gdb.parse_and_eval("$pc")) != cotree_call("(long)&cotree_event_stop"):
            print("Stopped before %s %s." % (words[-1], name))
            gdb.execute("frame")
            return
        gdb.execute("up-silently")
        print("Stopped at %d %s." % (cotree_count(kind), name))
        gdb.execute("frame")


# What the runtime reads: the address of its function, the registers by DWARF number, the next instruction, a path.
REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
MOST_PATH = 4096
ANSWERS = {
    1: "the program has no profile open in a file",
    2: "the program was stopped while cotree's runtime was at work: step on a little, and ask again",
    3: "a trace tells nothing of a stopped thread: let the program end, or build with another --profile",
}


def cotree_dump(path):
    """Has the current thread write a snapshot of the profile."""
    if not cotree_is_running():
        raise gdb.GdbError("the program is not running")
    name = os.fsencode(path)
    if len(name) >= MOST_PATH:
        raise gdb.GdbError("the path is too long")
    try:
        request = int(gdb.parse_and_eval("(unsigned long)&cotree_debugger_v1"))
    except gdb.error:
        raise gdb.GdbError("this program was not built with cotree, or its symbols were stripped")
    # A core file has memory, but nobody who could write anything.
    try:
        process = gdb.selected_inferior()
        copy = struct.unpack("<Q", process.read_memory(request, 8))[0]
        if copy == 0:
            raise gdb.GdbError("the program has not begun its profile")
        frame = gdb.newest_frame()
        words = [int(frame.read_register(register)) & 0xFFFFFFFFFFFFFFFF for register in REGISTERS]
        process.write_memory(request + 8, struct.pack("<%dQ" % len(words), *words) + name + b"\0")
    except gdb.error as error:
        raise gdb.GdbError("the program can't be asked: %s" % error)
    # The others stand still: they would go on for as long as this takes.
    locking = gdb.parameter("scheduler-locking")
    gdb.execute("set scheduler-locking on", to_string=True)
    try:
        answer = cotree_call("((int (*)(void))%d)()" % copy)
    finally:
        gdb.execute("set scheduler-locking " + locking, to_string=True)
    if answer < 0:
        raise gdb.GdbError("cannot write %s: %s" % (path, os.strerror(-answer)))
    if answer != 0:
        raise gdb.GdbError(ANSWERS.get(answer, "the program answers %d" % answer))


class CotreeDump(gdb.Command):
    """cotree-dump FILE: write a snapshot of the profile, as cotree_dump of cotree.h does.
Activations on the stack of the current thread are counted up to where they are."""

    def __init__(self):
        super().__init__("cotree-dump", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != 1:
            raise gdb.GdbError("cotree-dump FILE")
        path = os.path.abspath(words[0])
        cotree_dump(path)
        print("wrote %s" % path)


class CotreePaths(gdb.Command):
    """cotree-paths [OPTIONS]: the paths that are under way on the current thread, in a program that was built with
cotree --profile path, ipath or the like. The options are those of cotree paths --pending."""

    def __init__(self):
        super().__init__("cotree-paths", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        with tempfile.TemporaryDirectory(prefix="cotree-") as folder:
            path = os.path.join(folder, "stopped.cotree")
            cotree_dump(path)
            command = [COTREE, "paths", "--pending", *gdb.string_to_argv(argument), path]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except OSError as error:
                raise gdb.GdbError("cannot run %s: %s" % (shlex.quote(COTREE), error))
        gdb.write(done.stdout.decode(errors="replace"))
        if done.returncode != 0:
            raise gdb.GdbError("cotree paths has failed")


CotreeDump()
CotreePaths()
CotreeCount()
CotreeStopAt()
