// A timeline of calls on a canvas: each activation a box, as wide as it lasted, below the one that called it.

import { grouped } from "./amounts";
import { h } from "./dom";
import {
  loadChunk,
  loadTile,
  STEP,
  upper,
  type Chunk,
  type Code,
  type Part,
  type Tile,
  type TraceIndex,
} from "./trace-data";

const ROW = 18;
/// Rows that are seen at once.
const ROWS = 22;
/// The axis above the rows.
const AXIS = 20;
/// More chunks than this are drawn from tiles.
const MOST_CHUNKS = 6;
const TONES = 8;

interface Box {
  x: number;
  width: number;
  depth: number;
  function: number;
  /// How many activations it is.
  count: number;
  start: number;
  /// `null` if it ends later than what is known here.
  length: number | null;
}

export interface Timeline {
  element: HTMLElement;
  /// Shows a part.
  show: (part: Part) => void;
  /// Marks a moment, and moves there if it is not seen.
  mark: (clock: number, depth: number) => void;
  zoom: (factor: number) => void;
  whole: () => void;
  /// Draws by time instead of instructions, where the trace tells times.
  byTime: (wanted: boolean) => void;
}

/// What the axis shows: instructions, or ticks of the clock that the trace tells, from the first one on.
interface Axis {
  unit: string;
  end: number;
  /// Where an instruction is, and which instruction is there.
  place: (clock: number) => number;
  clock: (place: number) => number;
}

const instructions = (part: Part): Axis => ({
  unit: "",
  end: Math.max(part.clock, 1),
  place: (clock) => clock,
  clock: (place) => place,
});

/// Between two times that the trace tells, instructions take equally long; what comes before the first or behind the
/// last takes a tick per instruction.
function ticks(part: Part): Axis {
  const { times } = part;
  const clocks = times.map(([clock]) => clock);
  const [first = 0] = clocks;
  const stamps = times.map(([, stamp]) => first + stamp - (times[0]?.[1] ?? 0));
  const map = (from: number[], to: number[]) => (value: number) => {
    const at = upper(from, value) - 1;
    const [x, y] = [from[at], to[at]];
    if (x === undefined || y === undefined) return value;
    const [next, there] = [from[at + 1], to[at + 1]];
    return next === undefined || there === undefined || next === x
      ? y + (value - x)
      : y + ((value - x) * (there - y)) / (next - x);
  };
  const place = map(clocks, stamps);
  return { unit: " ticks", end: Math.max(place(part.clock), 1), place, clock: map(stamps, clocks) };
}

/// A round step of an axis that has about so many.
function axisStep(span: number, steps: number): number {
  const rough = span / steps;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough) ?? power * 10;
}

const short = (amount: number): string => {
  const units: [number, string][] = [
    [1e12, " T"],
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ];
  const [unit, name] = units.find(([unit]) => Math.abs(amount) >= unit) ?? [1, ""];
  return `${(amount / unit).toLocaleString("en", { maximumFractionDigits: 3 })}${name}`;
};

export function timeline(trace: TraceIndex, code: Code, go: (clock: number) => void): Timeline {
  const canvas = h("canvas", {
    class: "timeline",
    tabindex: 0,
    role: "img",
    "aria-label": "Timeline of calls: arrow keys move it, plus and minus zoom, 0 shows all",
  });
  const said = h("p", { class: "status said" });
  const probes = Array.from({ length: TONES }, (_, tone) => h("span", { class: `probe tone${tone}` }));
  const probe = (name: string) => h("span", { class: `probe ${name}` });
  const [ink, paper, mark_, faint] = [probe("ink"), probe("paper"), probe("marking"), probe("faint")];
  const element = h(
    "div",
    { class: "timelines" },
    canvas,
    said,
    h("div", { class: "probes", "aria-hidden": "true" }, probes, ink, paper, mark_, faint),
  );

  let part: Part | undefined;
  let axis: Axis | undefined;
  let timed = false;
  /// What is seen, as places on the axis.
  let [from, to, top] = [0, 1, 0];
  let marked: number | null = null;
  let boxes: Box[] = [];
  let deepest = 1;
  const tiles = new Map<string, Tile>();
  const seen = new Map<number, Chunk>();
  let waiting = 0;

  const width = () => Math.max(canvas.clientWidth, 200);
  const rows = () => Math.min(ROWS, Math.max(4, deepest));
  const clamp = () => {
    const end = axis?.end ?? 1;
    const span = Math.min(Math.max(to - from, 8), end);
    from = Math.max(0, Math.min(from, end - span));
    to = from + span;
    top = Math.max(0, Math.min(top, deepest - rows()));
  };

  /// The chunks that are seen, if these are few and are there.
  function chunksSeen(part: Part): number[] | null {
    const [first, clocks] = part.chunks;
    const [a, b] = [upper(clocks, seenFrom()) - 1, upper(clocks, seenTo()) - 1];
    if (a < 0 || b - a >= MOST_CHUNKS) return null;
    return Array.from({ length: b - a + 1 }, (_, at) => first + a + at);
  }

  const place = (clock: number) => axis?.place(clock) ?? clock;
  const seenFrom = () => axis?.clock(from) ?? from;
  const seenTo = () => axis?.clock(to) ?? to;
  const want = (what: Promise<unknown>) => {
    waiting++;
    what.then(
      () => (waiting--, redraw()),
      (why) => (waiting--, (said.textContent = String(why instanceof Error ? why.message : why))),
    );
  };
  const asked = new Set<string>();
  const once = (name: string, ask: () => Promise<unknown>) => {
    if (asked.has(name)) return;
    asked.add(name);
    want(ask());
  };

  /// Tiles of the finest resolution that is not finer than what is seen, or of a coarser one until these are loaded.
  function fromTiles(part: Part): { level: number; tile: number; data: Tile }[] {
    const each = (seenTo() - seenFrom()) / width();
    const fit = Math.floor(Math.log(Math.max(each / trace.resolution, 1)) / Math.log(trace.coarser));
    for (let level = Math.min(fit, part.levels.length - 1); level < part.levels.length; level++) {
      const { resolution = 1, tiles: count = 0 } = part.levels[level] ?? {};
      const span = resolution * trace.tile;
      const [a, b] = [Math.floor(seenFrom() / span), Math.min(Math.floor(seenTo() / span), count - 1)];
      const found: { level: number; tile: number; data: Tile }[] = [];
      for (let tile = a; tile <= b; tile++) {
        const name = `${part.number}/${level}/${tile}`;
        const data = tiles.get(name);
        if (data) found.push({ level, tile, data });
        else once(name, async () => tiles.set(name, await loadTile(part.number, level, tile)));
      }
      if (found.length === b - a + 1) return found;
    }
    return [];
  }

  function collect(part: Part): { boxes: Box[]; chunks: Chunk[] } {
    const scale = width() / (to - from);
    const [least, most] = [seenFrom(), seenTo()];
    const found: Box[] = [];
    const add = (
      depth: number,
      start: number,
      end: number,
      length: number | null,
      fn: number,
      count: number,
      began = start,
    ) => {
      deepest = Math.max(deepest, depth + 1);
      if (end < least || start > most) return;
      const [x, right] = [(Math.max(place(start), from) - from) * scale, (Math.min(place(end), to) - from) * scale];
      found.push({ x, width: Math.max(right - x, 0.75), depth, function: fn, count, start: began, length });
    };
    const numbers = chunksSeen(part);
    const chunks = numbers?.map((number) => seen.get(number));
    numbers?.forEach(
      (number) =>
        seen.has(number) ||
        once(`steps ${part.number}/${number}`, async () => seen.set(number, await loadChunk(part.number, number))),
    );
    if (chunks?.every((chunk) => chunk !== undefined)) {
      // What goes on in the next chunk stands there at the same place of the stack.
      let open: { function: number; start: number }[] = [];
      chunks.forEach((chunk, at) => {
        const [first, clocks] = part.chunks;
        const end = clocks[chunk.number - first + 1] ?? part.clock;
        const goesOn: typeof open = [];
        for (const a of chunk.activations) {
          const start = Math.max(
            a.start,
            open[a.depth]?.start ?? (a.start < chunk.raw.clock ? chunk.raw.clock : a.start),
          );
          const whole = a.end === null ? null : a.end - a.start;
          if (a.end === null && at + 1 < chunks.length) goesOn[a.depth] = { function: a.function, start };
          else add(a.depth, start, a.end ?? end, whole, a.function, 1, a.start);
          delete open[a.depth];
        }
        open = goesOn;
      });
      return { boxes: found, chunks };
    }
    for (const { level, tile, data } of fromTiles(part)) {
      const span = (part.levels[level]?.resolution ?? 1) * trace.tile;
      const begin = tile * span;
      data.depth.forEach((depth, at) => {
        const start = begin + (data.start[at] ?? 0);
        const length = data.length[at] ?? null;
        // The tiles before show it up to where this one begins.
        add(
          depth,
          Math.max(start, begin),
          length === null ? begin + span : start + length,
          length,
          data.function[at] ?? 0,
          data.count[at] ?? 1,
          start,
        );
      });
    }
    return { boxes: found, chunks: [] };
  }

  let planned = false;
  function redraw(): void {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => {
      planned = false;
      if (part && canvas.isConnected) draw(part);
    });
  }

  function draw(part: Part): void {
    clamp();
    const { boxes: found, chunks } = collect(part);
    boxes = found;
    clamp();
    // Deep activations are drawn where single steps are seen; elsewhere the deepest that are drawn stand for them.
    const drawn = found.reduce((most, box) => Math.max(most, box.depth + 1), 0);
    if (drawn > 0 && drawn <= top) top = Math.max(0, drawn - rows());
    const [w, tall] = [width(), AXIS + rows() * ROW];
    const ratio = devicePixelRatio || 1;
    canvas.style.height = `${tall}px`;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(tall * ratio);
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    const colour = (element: HTMLElement) => getComputedStyle(element).backgroundColor;
    const [tones, text, ground, marking, line] = [
      probes.map(colour),
      colour(ink),
      colour(paper),
      colour(mark_),
      colour(faint),
    ];
    pen.fillStyle = ground;
    pen.fillRect(0, 0, w, tall);
    const scale = w / (to - from);
    pen.font = `12px ${getComputedStyle(canvas).fontFamily}`;
    pen.textBaseline = "middle";
    for (const box of found) {
      const row = box.depth - top;
      if (row < 0 || row >= rows()) continue;
      const y = AXIS + row * ROW;
      pen.globalAlpha = box.count > 1 ? 0.6 : 1;
      pen.fillStyle = tones[(box.function * 5) % TONES] ?? line;
      pen.fillRect(box.x, y, box.width > 2 ? box.width - 1 : box.width, ROW - 1);
      pen.globalAlpha = 1;
      if (box.width > 30) label(pen, box, y, text);
    }
    drawBlocks(pen, chunks, scale, line);
    drawAxis(pen, w, tall, scale, text, line);
    const here = marked === null ? null : place(marked);
    if (here !== null && here >= from && here <= to) {
      pen.fillStyle = marking;
      pen.fillRect((here - from) * scale - 1, 0, 2, tall);
    }
    canvas.dataset.drawn = `${found.length} ${waiting}`;
  }

  function label(pen: CanvasRenderingContext2D, box: Box, y: number, text: string): void {
    pen.save();
    pen.beginPath();
    pen.rect(box.x, y, box.width - 4, ROW);
    pen.clip();
    pen.fillStyle = text;
    pen.fillText(
      `${code.name(box.function)}${box.count > 1 ? ` and others: ${grouped(box.count)} calls` : ""}`,
      box.x + 4,
      y + ROW / 2,
    );
    pen.restore();
  }

  /// Where blocks begin, when they are wide enough to be seen.
  function drawBlocks(pen: CanvasRenderingContext2D, chunks: Chunk[], scale: number, line: string): void {
    if (scale < 0.4) return;
    pen.fillStyle = line;
    for (const chunk of chunks) {
      const [least, most] = [seenFrom(), seenTo()];
      for (let at = upper(chunk.clock, least) - 1; at < chunk.length && (chunk.clock[at] ?? 0) <= most; at++) {
        const row = (chunk.depth[at] ?? 0) - 1 - top;
        if (at < 0 || chunk.kind[at] !== STEP.block || row < 0 || row >= rows()) continue;
        const x = (place(chunk.clock[at] ?? 0) - from) * scale;
        pen.fillRect(x, AXIS + row * ROW, 1, ROW - 1);
      }
    }
  }

  function drawAxis(
    pen: CanvasRenderingContext2D,
    w: number,
    tall: number,
    scale: number,
    text: string,
    line: string,
  ): void {
    const step = axisStep(to - from, w / 140);
    pen.fillStyle = line;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = (at - from) * scale;
      pen.globalAlpha = 0.35;
      pen.fillRect(x, 0, 1, tall);
      pen.globalAlpha = 1;
      pen.fillStyle = text;
      pen.fillText(short(at) + (axis?.unit ?? ""), x + 3, AXIS / 2);
      pen.fillStyle = line;
    }
  }

  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const boxAt = ({ x, y }: { x: number; y: number }) => {
    const depth = Math.floor((y - AXIS) / ROW) + top;
    return y < AXIS
      ? undefined
      : boxes.findLast((box) => box.depth === depth && x >= box.x - 1 && x <= box.x + Math.max(box.width, 2));
  };
  function say(box: Box | undefined): void {
    if (!box) return;
    const many = box.count > 1 ? `${grouped(box.count)} calls, the longest of ` : "";
    const lasts = box.length === null ? "goes on" : `${grouped(box.length)} instructions`;
    const since = grouped(Math.round(box.start));
    const where = `from instruction ${since} on; depth ${box.depth + 1}`;
    said.textContent = `${many}${code.name(box.function)}: ${lasts}, ${where}`;
  }
  function zoom(factor: number, around = (from + to) / 2): void {
    [from, to] = [around - (around - from) * factor, around + (to - around) * factor];
    redraw();
  }
  const move = (share: number) => {
    const by = (to - from) * share;
    [from, to] = [from + by, to + by];
    redraw();
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) {
      top += Math.sign(event.deltaY || event.deltaX);
      redraw();
    } else zoom(1.25 ** Math.sign(event.deltaY), from + (at(event).x / width()) * (to - from));
  });
  let held: { x: number; y: number; from: number; to: number; top: number; moved: boolean } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { ...at(event), from, to, top, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    if (!held) return say(boxAt(now));
    if (Math.abs(now.x - held.x) + Math.abs(now.y - held.y) > 4) held.moved = true;
    if (!held.moved) return;
    const by = ((now.x - held.x) / width()) * (held.to - held.from);
    [from, to, top] = [held.from - by, held.to - by, held.top - Math.round((now.y - held.y) / ROW)];
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) go(Math.round(axis?.clock(from + (at(event).x / width()) * (to - from)) ?? 0));
    held = null;
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = boxAt(at(event));
    if (!box) return;
    [from, to] = [place(box.start), box.length === null ? to : place(box.start + box.length)];
    redraw();
  });
  canvas.addEventListener("keydown", (event) => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(-0.2),
      ArrowRight: () => move(0.2),
      ArrowUp: () => (top--, redraw()),
      ArrowDown: () => (top++, redraw()),
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => whole(),
    };
    const act = keys[event.key];
    if (act && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      act();
    }
  });
  new ResizeObserver(redraw).observe(element);

  function whole(): void {
    [from, to] = [0, axis?.end ?? 1];
    redraw();
  }
  return {
    element,
    show: (shown) => {
      if (part !== shown) {
        part = shown;
        axis = timed && shown.times.length > 1 ? ticks(shown) : instructions(shown);
        deepest = 1;
        seen.clear();
        [...asked].filter((name) => name.startsWith("steps")).forEach((name) => asked.delete(name));
        top = 0;
        whole();
      }
      redraw();
    },
    mark: (clock, depth) => {
      marked = clock;
      const here = place(clock);
      if (here < from || here > to) {
        const span = to - from;
        [from, to] = [here - span / 2, here + span / 2];
      }
      if (depth - 1 < top || depth - 1 >= top + rows()) {
        deepest = Math.max(deepest, depth);
        top = Math.max(0, depth - rows());
      }
      redraw();
    },
    zoom,
    whole,
    byTime: (wanted) => {
      if (!part || wanted === timed) return;
      const [least, most] = [seenFrom(), seenTo()];
      timed = wanted;
      axis = timed && part.times.length > 1 ? ticks(part) : instructions(part);
      [from, to] = [place(least), place(most)];
      redraw();
    },
  };
}
