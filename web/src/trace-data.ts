// What the scripts below `data/trace/` hold, and how steps are read: see `crates/cotree-report/src/pages/trace/`.

import { load, loadFunction } from "./data";
import type { Block, Body, Index, Place } from "./model";

export interface TraceIndex {
  threads: Thread[];
  lost: string | null;
  /// By body, as the trace names them: the function's number, and which of its bodies it is.
  bodies: ([number, number] | null)[];
  /// By body: the number of its first segment.
  segments: number[];
  chunk: number;
  resolution: number;
  coarser: number;
  tile: number;
  group: number;
}

export interface Thread {
  title: string;
  handler: boolean;
  parts: Part[];
}

export interface Part {
  number: number;
  first: number;
  blocks: number;
  uncertain: number;
  late: boolean;
  end: string;
  /// A signal ended what was under way, outside of calls; and where that was.
  signal: boolean;
  place: Place;
  clock: number;
  chunks: [first: number, clocks: number[]];
  levels: { resolution: number; tiles: number }[];
  deeper: boolean;
  times: [clock: number, stamp: number][];
}

/// Slices of a tile, a list per property.
export interface Tile {
  depth: number[];
  start: number[];
  length: (number | null)[];
  function: number[];
  count: number[];
}

/// Kinds of steps.
export const STEP = {
  block: 0,
  segment: 1,
  begin: 2,
  leave: 3,
  abandon: 4,
  revive: 5,
  goesOn: 6,
  certain: 7,
  mark: 8,
} as const;

/// Values of steps of the kind `mark`.
export const MARKS = [
  "the stack is told anew",
  "an exception is caught",
  "a signal ends this activation",
  "the thread ends",
  "the process ends",
  "recording stops",
  "recording starts",
];

interface RawChunk {
  first: number;
  clock: number;
  certain: boolean;
  function: number[];
  block: number[];
  began: number[];
  from: number[];
  /// How many activations of a deep stack are not listed, and how many of those that are come before them.
  skipped: number;
  outer: number;
  steps: number[];
}

/// An activation, as far as a chunk knows it.
export interface Activation {
  function: number;
  depth: number;
  start: number;
  /// `null` if it is under way at the end of the chunk.
  end: number | null;
}

/// An activation at a moment.
export interface Frame {
  function: number;
  /// -1 before the first block.
  block: number;
  /// The segment of the block that runs.
  segment: number;
  /// The number of the activation's first block.
  from: number;
}

/// A chunk of steps, a list per property.
export interface Chunk {
  number: number;
  raw: RawChunk;
  length: number;
  kind: Uint8Array;
  value: Int32Array;
  clock: Float64Array;
  /// The number of the block that runs.
  block: Float64Array;
  /// The function of the innermost activation behind the step, or -1; its block, or -1; and how deep it is.
  function: Int32Array;
  inside: Int32Array;
  depth: Int32Array;
  certain: Uint8Array;
  activations: Activation[];
}

export const loadTrace = () => load("trace/index") as Promise<TraceIndex>;

export const loadTile = (part: number, level: number, tile: number) =>
  load(`trace/tiles/${part}/${level}/${tile}`) as Promise<Tile>;

const chunks = new Map<string, Promise<Chunk>>();
const MOST_CHUNKS = 48;

/// Reads a chunk; the last ones that were read are kept.
export function loadChunk(part: number, number: number): Promise<Chunk> {
  const name = `trace/steps/${part}/${number}`;
  const known = chunks.get(name);
  if (known) return known;
  const chunk = load(name, false).then((raw) => decode(number, raw as RawChunk));
  chunks.set(name, chunk);
  chunk.catch(() => chunks.delete(name));
  const [oldest] = chunks.keys();
  if (chunks.size > MOST_CHUNKS && oldest !== undefined) chunks.delete(oldest);
  return chunk;
}

function decode(number: number, raw: RawChunk): Chunk {
  const length = raw.steps.length / 2;
  const chunk: Chunk = {
    number,
    raw,
    length,
    kind: new Uint8Array(length),
    value: new Int32Array(length),
    clock: new Float64Array(length),
    block: new Float64Array(length),
    function: new Int32Array(length),
    inside: new Int32Array(length),
    depth: new Int32Array(length),
    certain: new Uint8Array(length),
    activations: [],
  };
  const stack: { activation: number; block: number }[] = [];
  let skipped = raw.skipped;
  /// How deep the stack is, with what is not listed of it.
  const deep = () => stack.length + (stack.length > raw.outer ? skipped : 0);
  const begin = (fn: number, start: number) => {
    stack.push({ activation: chunk.activations.length, block: -1 });
    chunk.activations.push({ function: fn, depth: deep() - 1, start, end: null });
  };
  raw.function.forEach((fn, at) => {
    begin(fn, raw.began[at] ?? 0);
    (stack[at] as { block: number }).block = raw.block[at] ?? -1;
  });
  let [clock, block, certain] = [raw.clock, raw.first - 1, raw.certain ? 1 : 0];
  const end = () => {
    const last = stack.pop();
    const activation = last && chunk.activations[last.activation];
    if (activation) activation.end = clock;
  };
  for (let at = 0; at < length; at++) {
    const code = raw.steps[2 * at] ?? 0;
    const [kind, value] = [code % 16, Math.floor(code / 16)];
    clock += raw.steps[2 * at + 1] ?? 0;
    const top = stack.at(-1);
    if (kind === STEP.block || kind === STEP.goesOn) {
      if (top) top.block = value;
      if (kind === STEP.block) block++;
    } else if (kind === STEP.begin || kind === STEP.revive) begin(value, clock);
    else if (kind === STEP.leave || kind === STEP.abandon) end();
    else if (kind === STEP.certain) certain = value;
    else if (kind === STEP.mark && value === 0) {
      while (stack.length > 0) end();
      skipped = 0;
    }
    const now = stack.at(-1);
    chunk.kind[at] = kind;
    chunk.value[at] = value;
    chunk.clock[at] = clock;
    chunk.block[at] = Math.max(block, raw.first);
    chunk.function[at] = now ? (chunk.activations[now.activation]?.function ?? -1) : -1;
    chunk.inside[at] = now ? now.block : -1;
    chunk.depth[at] = deep();
    chunk.certain[at] = certain;
  }
  return chunk;
}

/// What is under way behind a step, outermost first, as far as it is listed.
export function stackAt(chunk: Chunk, step: number): Frame[] {
  const { raw } = chunk;
  const stack: Frame[] = raw.function.map((fn, at) => ({
    function: fn,
    block: raw.block[at] ?? -1,
    segment: 0,
    from: raw.from[at] ?? 0,
  }));
  let block = raw.first - 1;
  for (let at = 0; at <= step && at < chunk.length; at++) {
    const [kind, value] = [chunk.kind[at], chunk.value[at] ?? 0];
    if (kind === STEP.block) block++;
    const top = stack.at(-1);
    if (kind === STEP.block || kind === STEP.goesOn) {
      if (top) [top.block, top.segment] = [value, 0];
    } else if (kind === STEP.segment) {
      if (top) top.segment = value;
    } else if (kind === STEP.begin || kind === STEP.revive)
      stack.push({ function: value, block: -1, segment: 0, from: kind === STEP.begin ? block + 1 : block });
    else if (kind === STEP.leave || kind === STEP.abandon) stack.pop();
    else if (kind === STEP.mark && value === 0) stack.length = 0;
  }
  return stack;
}

/// The first place of a sorted list whose value is greater.
export function upper(list: ArrayLike<number>, value: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Code of the traced program, by body.
export class Code {
  private readonly bodies = new Map<number, Body | null>();

  constructor(
    private readonly index: Index,
    private readonly trace: TraceIndex,
  ) {}

  /// The function that a body belongs to.
  functionOf(body: number): number | null {
    return this.trace.bodies[body]?.[0] ?? null;
  }

  name(body: number): string {
    const fn = this.functionOf(body);
    return fn === null ? "?" : (this.index.functions.name[fn] ?? "?");
  }

  known(body: number): Body | null | undefined {
    return this.bodies.get(body);
  }

  async load(body: number): Promise<Body | null> {
    const known = this.bodies.get(body);
    if (known !== undefined) return known;
    const place = this.trace.bodies[body];
    const found = place ? ((await loadFunction(this.index, place[0])).bodies[place[1]] ?? null) : null;
    this.bodies.set(body, found);
    return found;
  }

  /// The lines of a segment, without repetitions; each of file and line.
  async lines(body: number, block: number, segment: number): Promise<[number, number][]> {
    const known = (await this.load(body))?.blocks[block];
    return known ? linesOf(known, segment) : [];
  }

  /// The segments of a line, as keys of body, block and segment.
  async segments(file: number, line: number): Promise<Set<string>> {
    const keys = new Set<string>();
    for (const number of await this.numbers(file, line)) {
      const body = upper(this.trace.segments, number) - 1;
      let rest = number - (this.trace.segments[body] ?? 0);
      const blocks = (await this.load(body))?.blocks ?? [];
      const block = blocks.findIndex((block) => {
        if (rest <= block.sites) return true;
        rest -= block.sites + 1;
        return false;
      });
      if (block >= 0) keys.add(key(body, block, rest));
    }
    return keys;
  }

  /// The numbers of a line's segments.
  async numbers(file: number, line: number): Promise<number[]> {
    const lines = (await load(`trace/lines/${file}`).catch(() => [])) as { line: number; segments: number[] }[];
    return lines.find((known) => known.line === line)?.segments ?? [];
  }
}

export const key = (body: number, block: number, segment: number): string => `${body}/${block}/${segment}`;

function linesOf(block: Block, segment: number): [number, number][] {
  const lines: [number, number][] = [];
  for (const [file, line, , , after] of block.lines) {
    const last = lines.at(-1);
    if (after === segment && line > 0 && (last?.[0] !== file || last[1] !== line)) lines.push([file, line]);
  }
  return lines;
}

/// Chunks in which some of these segments ran, in order, from one on or back from it.
export async function* chunksWith(
  trace: TraceIndex,
  part: Part,
  wanted: number[],
  from: number,
  backwards: boolean,
): AsyncGenerator<number> {
  const [first, clocks] = part.chunks;
  const segments = new Set(wanted);
  const step = backwards ? -1 : 1;
  for (let at = from - first; at >= 0 && at < clocks.length; at += step) {
    const group = (await load(`trace/ran/${part.number}/${Math.floor(at / trace.group)}`)) as number[][];
    let segment = 0;
    if ((group[at % trace.group] ?? []).some((more) => segments.has((segment += more)))) yield first + at;
  }
}
