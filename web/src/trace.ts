// What each thread did: a timeline of calls, and the execution step by step, forwards and backwards.

import { grouped } from "./amounts";
import { loadFile } from "./data";
import { h, type Child } from "./dom";
import type { Amount, Index } from "./model";
import { fileName } from "./names";
import { hottest, lastLine, lines, type Lines } from "./source";
import { timeline } from "./timeline";
import {
  chunksWith,
  Code,
  key,
  loadChunk,
  loadTrace,
  MARKS,
  STEP,
  stackAt,
  upper,
  type Chunk,
  type Part,
  type TraceIndex,
} from "./trace-data";

/// A step, and which of its lines.
interface Moment {
  chunk: Chunk;
  step: number;
  line: number;
}

/// How many steps are listed before and behind the moment that is shown.
const BEFORE = 12;
const AFTER = 8;
/// The frames that are listed of each end of a deep stack.
const FRAMES = 30;

class Tracer {
  constructor(
    readonly index: Index,
    readonly trace: TraceIndex,
    readonly code: Code,
    readonly part: Part,
  ) {}

  private get last(): number {
    const [first, clocks] = this.part.chunks;
    return first + clocks.length - 1;
  }

  async linesAt(chunk: Chunk, step: number): Promise<[number, number][]> {
    const kind = chunk.kind[step];
    if (kind !== STEP.block && kind !== STEP.segment) return [];
    const segment = kind === STEP.segment ? (chunk.value[step] ?? 0) : 0;
    return this.code.lines(chunk.function[step] ?? -1, chunk.inside[step] ?? -1, segment);
  }

  /// The next step behind this one, or before it, that is wanted; `null` at the end.
  async seek(
    from: Moment,
    backwards: boolean,
    wanted: (chunk: Chunk, step: number) => Promise<boolean> | boolean,
  ): Promise<Moment | null> {
    const by = backwards ? -1 : 1;
    let { chunk, step } = from;
    for (;;) {
      step += by;
      if (step < 0 || step >= chunk.length) {
        const next = chunk.number + by;
        if (next < this.part.chunks[0] || next > this.last) return null;
        chunk = await loadChunk(this.part.number, next);
        step = backwards ? chunk.length : -1;
        continue;
      }
      if (await wanted(chunk, step)) return { chunk, step, line: 0 };
    }
  }

  /// The next line, or the one before.
  async line(from: Moment, backwards: boolean, deepest = Infinity): Promise<Moment | null> {
    const own = await this.linesAt(from.chunk, from.step);
    const next = from.line + (backwards ? -1 : 1);
    if (next >= 0 && next < own.length) return { ...from, line: next };
    // What is called again behind the end of an activation is another one.
    let most = deepest;
    const found = await this.seek(from, backwards, async (chunk, step) => {
      const depth = chunk.depth[step] ?? 0;
      if (deepest < Infinity) most = Math.min(most, Math.max(depth, 1));
      return depth <= most && (await this.linesAt(chunk, step)).length > 0;
    });
    if (!found) return null;
    return { ...found, line: backwards ? (await this.linesAt(found.chunk, found.step)).length - 1 : 0 };
  }

  /// A step that has lines: this one, or the nearest.
  async nearest(at: Moment): Promise<Moment> {
    if ((await this.linesAt(at.chunk, at.step)).length > 0) return at;
    return (await this.line(at, true)) ?? (await this.line(at, false)) ?? at;
  }

  async atBlock(block: number): Promise<Moment> {
    const number = Math.max(
      this.part.chunks[0],
      Math.min(this.last, Math.floor((block - this.part.first) / this.trace.chunk)),
    );
    const chunk = await loadChunk(this.part.number, number);
    const step = chunk.block.findIndex((known, at) => known >= block && chunk.kind[at] === STEP.block);
    return this.nearest({ chunk, step: step < 0 ? Math.max(0, chunk.length - 1) : step, line: 0 });
  }

  async atClock(clock: number): Promise<Moment | null> {
    const [first, clocks] = this.part.chunks;
    const number = upper(clocks, clock) - 1;
    if (number < 0) return null;
    const chunk = await loadChunk(this.part.number, first + number);
    return this.nearest({ chunk, step: Math.max(0, upper(chunk.clock, clock) - 1), line: 0 });
  }

  async start(): Promise<Moment | null> {
    const chunk = await loadChunk(this.part.number, this.part.chunks[0]);
    return this.line({ chunk, step: -1, line: 0 }, false);
  }

  /// The line at which a signal ended the thread if it is among the last steps, else the last line that ran for
  /// certain. `exact`: it is that line.
  end(): Promise<Moment & { exact: boolean }> {
    return (this.ended ??= this.findEnd());
  }

  private ended?: Promise<Moment & { exact: boolean }>;

  private async findEnd(): Promise<Moment & { exact: boolean }> {
    const chunk = await loadChunk(this.part.number, this.last);
    const { place, signal } = this.part;
    let at = await this.line({ chunk, step: chunk.length, line: 0 }, true);
    let certain: Moment | null = null;
    while (signal && at) {
      // Lines before the last step that is certain ran before the signal came.
      if (certain && (at.chunk !== certain.chunk || at.step !== certain.step)) break;
      if (at.chunk.certain[at.step]) certain ??= at;
      const own = (await this.linesAt(at.chunk, at.step))[at.line];
      if (place && own?.[0] === place[0] && own[1] === place[1]) return { ...at, exact: true };
      at = await this.line(at, true);
    }
    const last = certain ?? at ?? { chunk, step: Math.max(0, chunk.length - 1), line: 0 };
    return { ...last, exact: false };
  }

  /// The next moment, or the one before, at which a line ran; from the very beginning or end without a moment.
  async ran(file: number, line: number, from: Moment | null, backwards: boolean): Promise<Moment | null> {
    const wanted = await this.code.segments(file, line);
    const numbers = await this.code.numbers(file, line);
    const [first] = this.part.chunks;
    const start = from ? from.chunk.number : backwards ? this.last : first;
    for await (const number of chunksWith(this.trace, this.part, numbers, start, backwards)) {
      const chunk = await loadChunk(this.part.number, number);
      const by = backwards ? -1 : 1;
      const begin = from && from.chunk.number === number ? from.step + by : backwards ? chunk.length - 1 : 0;
      for (let step = begin; step >= 0 && step < chunk.length; step += by) {
        const kind = chunk.kind[step];
        if ((kind !== STEP.block && kind !== STEP.segment) || !chunk.certain[step]) continue;
        const segment = kind === STEP.segment ? (chunk.value[step] ?? 0) : 0;
        if (!wanted.has(key(chunk.function[step] ?? -1, chunk.inside[step] ?? -1, segment))) continue;
        const own = await this.linesAt(chunk, step);
        return {
          chunk,
          step,
          line: Math.max(
            0,
            own.findIndex((known) => known[0] === file && known[1] === line),
          ),
        };
      }
    }
    return null;
  }
}

/// The part that is shown first: one that a signal ended, or the end of the first thread.
function usual(parts: Part[]): number {
  const ended = parts.findIndex((part) => part.signal);
  return ended >= 0
    ? ended
    : Math.max(
        0,
        parts.findIndex((part) => part.blocks > 0),
      );
}

const many = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;

function describe(trace: TraceIndex, part: Part): string {
  const more = part.uncertain > 0 ? `; ${many(part.uncertain, "more block")} may have run` : "";
  const signal = part.signal ? "a signal ended what was under way; " : "";
  const first = part.first + part.chunks[0] * trace.chunk;
  const steps = part.chunks[0] > 0 ? ` Steps are written from block ${grouped(first)} on (--trace-blocks).` : "";
  const deeper = part.deeper
    ? " Activations deeper than 1,000 are drawn only where the timeline shows single steps."
    : "";
  const ran = `${many(part.blocks, "block")}, ${many(part.clock, "instruction")}`;
  return `${ran}${more}; ${signal}${part.end}.${steps}${deeper}`;
}

/// The page of a trace. `where` is what the address says: a part and a block, or a file and a line.
export async function tracePage(index: Index, whole: Amount, where: string[]): Promise<Child[]> {
  const trace = await loadTrace();
  const code = new Code(index, trace);
  const parts = trace.threads.flatMap((thread) => thread.parts);
  if (parts.length === 0) return [h("p", {}, "Nothing was traced.")];
  const titles = trace.threads.flatMap((thread) =>
    thread.parts.map((_, at) => `${thread.title}${thread.parts.length > 1 ? `, part ${at + 1}` : ""}`),
  );
  const wantsLine = where[0] === "line";
  let number = wantsLine || where[0] === undefined ? usual(parts) : Math.min(Number(where[0]) || 0, parts.length - 1);
  let tracer = new Tracer(index, trace, code, parts[number] as Part);
  let moment: Moment | null = null;
  let turn = 0;
  let addressed = 0;

  const choice = h(
    "select",
    { "aria-label": "Thread", change: () => void choose(Number(choice.value)) },
    parts.map((part, at) => h("option", { value: at }, `${titles[at]} (${many(part.blocks, "block")})`)),
  );
  const about = h("p", {});
  const status = h("p", { class: "status", role: "status" });
  const chart = timeline(
    trace,
    code,
    (clock) =>
      void act(
        () => tracer.atClock(clock),
        "Steps are written of the end of a thread only; `cotree html --trace-blocks` says of how much.",
      ),
  );
  const clockBox = h("input", { type: "checkbox", change: () => chart.byTime(clockBox.checked) });
  const now = h("p", { class: "moment" });
  const stackList = h("ol", { class: "stack" });
  const stepList = h("ol", { class: "steps" });
  const sourceTitle = h("h2", {});
  const sourceBox = h("div", { class: "wide excerpt" });
  const jumps = h("div", { class: "tools jumps" });
  const opened = new Map<number, (Lines & { missing: boolean }) | null>();

  let steps = Promise.resolve();
  /// Does steps one after the other, however fast they are asked for.
  const inTurn = (what: () => Promise<Moment | null>) => (steps = steps.then(() => act(what)));
  /// Does something that takes its time, unless the reader does something else meanwhile.
  async function act(what: () => Promise<Moment | null>, none = "There is no such moment."): Promise<void> {
    const mine = ++turn;
    status.textContent = "Searching …";
    try {
      const found = await what();
      if (mine !== turn) return;
      status.textContent = found ? "" : none;
      if (found) await showMoment(found, mine);
    } catch (error) {
      if (mine === turn) status.textContent = `This can't be shown: ${error instanceof Error ? error.message : error}.`;
    }
  }

  async function choose(part: number): Promise<void> {
    number = part;
    tracer = new Tracer(index, trace, code, parts[part] as Part);
    moment = null;
    choice.value = String(part);
    about.textContent = describe(trace, tracer.part);
    chart.show(tracer.part);
    if (tracer.part.chunks[1].length > 0) await act(() => tracer.end());
    else [now, stackList, stepList, sourceBox].forEach((element) => element.replaceChildren());
  }

  const placeText = ([file, line]: [number, number]) => `${fileName(index, file)}:${line}`;
  const functionOf = (body: number): Child => {
    const fn = code.functionOf(body);
    return fn === null ? code.name(body) : h("a", { href: `#/function/${fn}` }, code.name(body));
  };

  async function stepText(chunk: Chunk, step: number): Promise<Child> {
    const [kind, value, fn] = [chunk.kind[step], chunk.value[step] ?? 0, chunk.function[step] ?? -1];
    if (kind === STEP.begin) return ["calls ", code.name(value)];
    if (kind === STEP.revive) return ["goes on in ", code.name(value)];
    if (kind === STEP.leave) return fn < 0 ? "returns" : ["returns to ", code.name(fn)];
    if (kind === STEP.abandon) return "ends without a return";
    if (kind === STEP.mark) return MARKS[value] ?? "?";
    const own = await tracer.linesAt(chunk, step);
    return own.map(placeText).join(" ");
  }

  async function rowsAround(at: Moment): Promise<{ moment: Moment; text: Child; depth: number }[]> {
    const shown = async (chunk: Chunk, step: number) => {
      const kind = chunk.kind[step];
      if (kind === STEP.goesOn || kind === STEP.certain) return false;
      return (kind !== STEP.block && kind !== STEP.segment) || (await tracer.linesAt(chunk, step)).length > 0;
    };
    const list: Moment[] = [{ ...at }];
    for (const [backwards, count] of [
      [true, BEFORE],
      [false, AFTER],
    ] as const) {
      let here: Moment | null = at;
      for (let row = 0; here && row < count; row++) {
        here = await tracer.seek(here, backwards, shown);
        if (here) backwards ? list.unshift(here) : list.push(here);
      }
    }
    return Promise.all(
      list.map(async (moment) => ({
        moment,
        text: await stepText(moment.chunk, moment.step),
        depth: moment.chunk.depth[moment.step] ?? 0,
      })),
    );
  }

  async function sourceAt(file: number): Promise<(Lines & { missing: boolean }) | null> {
    const known = opened.get(file);
    if (known !== undefined) return known;
    const source = await loadFile(file).catch(() => null);
    const found = source && {
      ...lines(source, 1, lastLine(source), hottest(source), whole),
      missing: source.text === null,
    };
    opened.set(file, found);
    return found;
  }

  function offerJumps(file: number, line: number): void {
    const jump = (title: string, from: () => Moment | null, backwards: boolean) =>
      h(
        "button",
        {
          type: "button",
          click: () =>
            void act(() => tracer.ran(file, line, from(), backwards), `${placeText([file, line])} did not run there.`),
        },
        title,
      );
    jumps.replaceChildren(
      h("span", {}, `When ${placeText([file, line])} ran: `),
      jump("first", () => null, false),
      " ",
      jump("before this", () => moment, true),
      " ",
      jump("after this", () => moment, false),
      " ",
      jump("last", () => null, true),
    );
  }

  async function showMoment(found: Moment, mine: number): Promise<void> {
    const { chunk, step } = found;
    const stack = stackAt(chunk, step);
    await Promise.all([...stack.slice(0, FRAMES), ...stack.slice(-FRAMES)].map((frame) => code.load(frame.function)));
    const frames = stack.map((frame, depth) => ({ ...frame, depth }));
    const hidden = Math.max(frames.length, chunk.depth[step] ?? 0) - 2 * FRAMES;
    const shown = hidden > 0 ? [...frames.slice(0, FRAMES), ...frames.slice(-FRAMES)] : frames;
    const texts = await Promise.all(
      shown.map(async (frame) => {
        const own =
          (await code.lines(frame.function, frame.block, frame.segment)).at(-1) ??
          (await code.load(frame.function))?.blocks[frame.block]?.lines.at(-1);
        return { frame, place: own && ([own[0], own[1]] as [number, number]) };
      }),
    );
    const rows = await rowsAround(found);
    const own = await tracer.linesAt(chunk, step);
    const place = own[Math.min(found.line, own.length - 1)] ?? texts.at(-1)?.place;
    const here = place;
    const source = place && (await sourceAt(place[0]));
    if (mine !== turn) return;
    moment = found;
    const last = tracer.part.signal ? await tracer.end() : null;
    if (mine !== turn) return;
    const isLast = last?.chunk === chunk && last.step === step && last.line === found.line;
    const where = tracer.part.place && ` at ${placeText(tracer.part.place)}`;
    const signal = !isLast
      ? ""
      : last.exact
        ? ". A signal ended the thread here"
        : `. A signal ended the thread behind this${where ?? ""}`;
    const block = chunk.block[step] ?? 0;
    const clock = chunk.clock[step] ?? 0;
    clearTimeout(addressed);
    addressed = setTimeout(() => history.replaceState(null, "", `#/trace/${number}/${block}`), 400);
    now.replaceChildren(
      `Block ${grouped(block)} of ${grouped(tracer.part.blocks + tracer.part.first - 1)}`,
      `, instruction ${grouped(clock)}`,
      signal,
      chunk.certain[step] || (isLast && last.exact) ? "" : " (this may not have run)",
    );
    stackList.replaceChildren(
      ...texts.toReversed().flatMap(({ frame, place: last }, at) => {
        const place = at === 0 ? here : last;
        const link = h(
          "button",
          {
            type: "button",
            class: "plain",
            title: "Go to where it began",
            click: () => void act(() => tracer.atBlock(Math.max(frame.from, tracer.part.first))),
          },
          "⇤",
        );
        const row = h(
          "li",
          {},
          functionOf(frame.function),
          " ",
          place && h("small", {}, placeText(place)),
          " ",
          frame.from >= tracer.part.first && link,
        );
        return hidden > 0 && at === FRAMES ? [h("li", { class: "faint" }, `… ${grouped(hidden)} more …`), row] : [row];
      }),
    );
    const least = Math.min(...rows.map((row) => row.depth));
    stepList.replaceChildren(
      ...rows.map(({ moment: at, text, depth }) => {
        const here = at.chunk === chunk && at.step === step;
        const button = h(
          "button",
          { type: "button", class: "plain", click: () => void act(() => tracer.nearest(at)) },
          text,
        );
        const row = h(
          "li",
          { class: here ? "here" : null, "aria-current": here ? "step" : null },
          button,
          at.chunk.certain[at.step] ? null : h("small", {}, " may not have run"),
        );
        row.style.paddingLeft = `${Math.min(depth - least, 16) * 0.75 + 0.5}rem`;
        return row;
      }),
    );
    chart.mark(clock, chunk.depth[step] ?? 1);
    if (!place) return void sourceBox.replaceChildren(h("p", {}, "No line is known of this block."));
    sourceTitle.replaceChildren(h("a", { href: `#/file/${place[0]}/${place[1]}` }, placeText(place)));
    if (!source) sourceBox.replaceChildren(h("p", {}, "The source of this line is not at hand."));
    else {
      status.textContent = source.missing
        ? "The source is not on this machine: lines are shown without their text."
        : "";
      if (source.element.parentElement !== sourceBox) sourceBox.replaceChildren(source.element);
      source.element.querySelectorAll(".here").forEach((row) => row.classList.remove("here"));
      const row = source.row(place[1]);
      row?.classList.add("here");
      // The page may not have been laid out yet.
      if (row) requestAnimationFrame(() => sourceBox.scrollTo({ top: row.offsetTop - sourceBox.clientHeight / 2 }));
    }
    offerJumps(place[0], place[1]);
  }

  const depthNow = () => (moment ? (moment.chunk.depth[moment.step] ?? 0) : 0);
  const from = async (go: (at: Moment) => Promise<Moment | null>) => (moment ? go(moment) : null);
  const button = (title: string, help: string, go: (at: Moment) => Promise<Moment | null>) =>
    h("button", { type: "button", title: help, click: () => void inTurn(() => from(go)) }, title);
  const moves = h(
    "div",
    { class: "tools moves", role: "group", "aria-label": "Steps" },
    h("button", { type: "button", click: () => void act(() => tracer.start()) }, "Start"),
    button("← out", "Back to before this function was called", (at) => tracer.line(at, true, depthNow() - 1)),
    button("← over", "A line back in this function or its callers", (at) => tracer.line(at, true, depthNow())),
    button("← line", "A line back (key: p)", (at) => tracer.line(at, true)),
    button("line →", "A line forwards (key: n)", (at) => tracer.line(at, false)),
    button("over →", "A line forwards in this function or its callers", (at) => tracer.line(at, false, depthNow())),
    button("out →", "To where this function has returned", (at) => tracer.line(at, false, depthNow() - 1)),
    h("button", { type: "button", click: () => void act(() => tracer.end()) }, "End"),
  );
  sourceBox.addEventListener("click", (event) => {
    const local = (event.target as Element).closest<HTMLElement>("[data-local]");
    const file = [...opened].find(([, known]) => known?.element.parentElement === sourceBox)?.[0];
    if (!local || file === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    offerJumps(file, Number(local.dataset.local));
  });
  const view = h(
    "div",
    { class: "tracing" },
    h(
      "div",
      { class: "tools" },
      choice,
      " ",
      h("button", { type: "button", click: () => chart.zoom(0.5) }, "Zoom in"),
      " ",
      h("button", { type: "button", click: () => chart.zoom(2) }, "Zoom out"),
      " ",
      h("button", { type: "button", click: () => chart.whole() }, "All"),
      parts.some((part) => part.times.length > 1) && h("label", {}, " ", clockBox, " by time"),
    ),
    about,
    trace.lost !== null && h("p", { class: "doubtful" }, `${trace.lost}.`),
    chart.element,
    h("div", { class: "above" }, moves, now, status),
    h(
      "div",
      { class: "sides moments" },
      h("div", {}, h("h2", {}, "Under way, innermost first"), stackList, h("h2", {}, "Steps"), stepList),
      h("div", {}, sourceTitle, jumps, sourceBox),
    ),
  );
  view.addEventListener("keydown", (event) => {
    if ((event.target as Element).matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n") void inTurn(() => from((at) => tracer.line(at, false)));
    if (event.key === "p") void inTurn(() => from((at) => tracer.line(at, true)));
  });

  queueMicrotask(async () => {
    const wanted = Number(where[1]);
    await choose(number);
    if (wantsLine) {
      const [file, line] = [Number(where[1]), Number(where[2])];
      for (let at = 0; at < parts.length; at++) {
        const other = new Tracer(index, trace, code, parts[at] as Part);
        const found = await other.ran(file, line, null, false);
        if (!found) continue;
        if (at !== number) await choose(at);
        return void (await act(async () => found));
      }
      status.textContent = `${placeText([file, line])} did not run in the steps that are written.`;
    } else if (where[1] !== undefined && Number.isFinite(wanted)) await act(() => tracer.atBlock(wanted));
  });
  return [view];
}
