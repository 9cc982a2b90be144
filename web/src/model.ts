// What the scripts below `data/` hold: see `crates/cotree-report/src/pages/`.

/// A count: a number, or decimal digits where JavaScript's numbers do not hold it.
export type Amount = number | string;
/// File and line.
export type Place = [number, number] | null;

export interface Index {
  version: string;
  facts: [string, string][];
  units: Unit[];
  /// `faults` are files that are not what was built, and why.
  files: { paths: string[]; lines: number[]; ran: number[]; cost: Amount[]; faults: [number, string][] };
  functions: Functions;
  per_script: number;
  /// The kind of events that costs are of.
  kind: string;
  loops: HotLoop[];
  /// How many paths ran, if these are counted.
  paths: number | null;
  /// How the threads of a trace ended, and how many more there are.
  trace: { threads: ThreadEnd[]; more: number } | null;
  /// By code: why, what to do, and what is still true.
  explanations: Record<string, [string, string, string]>;
  /// The profile that this one is compared with.
  before: string | null;
}

export interface ThreadEnd {
  title: string;
  part: number;
  end: string;
  /// A signal ended what was under way, and where.
  signal: boolean;
  place: Place;
}

/// A sentence, and the code under which it is explained.
export type Remark = [string, string | null];

export interface Unit {
  name: string;
  method: string;
  exact: boolean;
  notes: Remark[];
  totals: [string, Amount, string][];
  doubts: [Remark, number][];
}

export interface Functions {
  name: string[];
  unit: number[];
  file: number[];
  line: number[];
  /// What a function cost itself, and with all that it called.
  own: Amount[];
  inclusive: Amount[] | null;
  entries: (Amount | null)[];
  inlined: Amount[];
  executions: Amount[];
  blocks: number[];
  unreached: number[];
  state: number[];
}

/// Values of `Functions.state`.
export const STATE = { vouched: 0, doubtful: 1, uncounted: 2, inlined: 3 } as const;

export interface HotLoop {
  function: number;
  of: string | null;
  place: Place;
  entries: Amount;
  trips: Amount;
  instructions: Amount;
  doubtful: boolean;
}

export interface Details {
  symbol: string;
  bodies: Body[];
  callers: Call[];
  doubts: Remark[];
}

export interface Body {
  module: string;
  linkage: string;
  entries: Amount | null;
  untouched: Remark | null;
  inlined: { name: string; call: Place; parent: number | null; entries: Amount | null }[];
  blocks: Block[];
  edges: Edge[];
  loops: Loop[];
  calls: Call[];
}

export interface Block {
  count: Amount | null;
  instructions: number;
  /// `after`: behind how many of the block's call sites the line stands.
  lines: [file: number, line: number, copy: number | null, count: Amount | null, after: number][];
  sites: number;
  within: number | null;
}

export interface Edge {
  from: number;
  to: number | null;
  kind: string;
  count: Amount | null;
  back: boolean;
}

export interface Loop {
  header: number;
  parent: number | null;
  place: Place;
  counts: [entries: Amount, trips: Amount, instructions: Amount] | null;
}

export interface Call {
  block: number;
  function: number | null;
  name: string | null;
  place: Place;
  count: Amount | null;
}

export interface SourceFile {
  text: string[] | null;
  /// Why the lines may not be those that were built.
  fault: string | null;
  lines: SourceLine[];
  functions: [line: number, fn: number][];
}

export interface SourceLine {
  line: number;
  count: Amount | null;
  cost: Amount;
  doubtful: boolean;
  /// Entries and trips of the loops that begin here.
  loops: [entries: Amount, trips: Amount][];
  branches: { column: number; reached: boolean; outcomes: [string, Amount | null, number | null][] }[];
}

/// A tree of frames, each behind the one around it.
export interface Flame {
  names: string[];
  name: number[];
  parent: number[];
  own: Amount[];
}

/// A path that ran.
export interface Path {
  instructions: Amount;
  count: Amount;
  /// In the run that this one is compared with, if that is of one build.
  before: Amount | null;
  number: string;
  parts: PathPart[];
  doubtful: boolean;
}

/// A stretch of a path, within one activation.
export interface PathPart {
  function: number | null;
  depth: number;
  context: boolean;
  blocks: number[];
  lines: [file: number, line: number][];
}
