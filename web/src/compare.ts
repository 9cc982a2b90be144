// What differs from the profile of another run.

import { compare, grouped } from "./amounts";
import { load } from "./data";
import { h, type Child } from "./dom";
import type { Amount, Index, Place } from "./model";
import { functionLink, placeLink } from "./names";
import { table, type Column } from "./table";

type Pair = [before: Amount, after: Amount];
type Change = "newly-run" | "no-longer-run" | "changed";

interface Comparison {
  exact: boolean;
  same_build: boolean;
  /// Blocks and edges are compared, too.
  blocks: boolean;
  functions: {
    function: number | null;
    name: string;
    change: Change;
    entries: Pair;
    instructions: Pair;
    share: [number, number];
  }[];
  lines: { file: number | null; path: string | null; line: number; change: Change; counts: Pair }[];
  calls: { caller: string; callee: string | null; place: Place; counts: Pair }[];
}

/// Counts of a body in the other run.
export interface BodyBefore {
  blocks: Amount[];
  edges: (Amount | null)[];
}

const loadComparison = () => load("compare/index") as Promise<Comparison>;

/// The other run's counts of a function's bodies, if it is of the same build.
export async function bodiesBefore(index: Index, number: number): Promise<(BodyBefore | null)[] | null> {
  if (index.before === null || !(await loadComparison()).blocks) return null;
  const group = (await load(`compare/functions/${Math.floor(number / index.per_script)}`)) as (BodyBefore | null)[][];
  return group[number % index.per_script] ?? null;
}

/// How often lines of a file ran in the other run, where that differs.
export async function linesBefore(index: Index, file: number): Promise<Map<number, Amount> | null> {
  if (index.before === null) return null;
  const { lines } = await loadComparison();
  return new Map(lines.filter((line) => line.file === file).map((line) => [line.line, line.counts[0]]));
}

/// The difference of two amounts, with its sign.
export function change([before, after]: Pair): string {
  const more = compare(after, before);
  if (more === 0) return "0";
  const [a, b] = [BigInt(before), BigInt(after)];
  return more > 0 ? `+${grouped(String(b - a))}` : `−${grouped(String(a - b))}`;
}

const size = ([before, after]: Pair): number => Math.abs(Number(after) - Number(before));

function pair(title: string, of: (row: number) => Pair, rest: Column[]): Column[] {
  return [
    { title, number: true, cell: (row) => change(of(row)), order: (a, b) => size(of(a)) - size(of(b)) },
    { title: "Before", number: true, cell: (row) => grouped(of(row)[0]), order: (a, b) => compare(of(a)[0], of(b)[0]) },
    { title: "Now", number: true, cell: (row) => grouped(of(row)[1]), order: (a, b) => compare(of(a)[1], of(b)[1]) },
    ...rest,
  ];
}

const share = (part: number): string => `${(part * 100).toFixed(1)}%`;

function functions(index: Index, all: Comparison["functions"], caption: string, wanted: Change): Child {
  const rows = all.filter((row) => row.change === wanted);
  if (rows.length === 0) return null;
  const of = (row: number) => rows[row] as (typeof rows)[number];
  return table({
    caption: `${caption} (${grouped(rows.length)})`,
    rows: rows.length,
    page: 25,
    text: (row) => of(row).name,
    columns: pair("Instructions", (row) => of(row).instructions, [
      {
        title: "Share before",
        number: true,
        cell: (row) => share(of(row).share[0]),
        order: (a, b) => of(a).share[0] - of(b).share[0],
      },
      {
        title: "Share now",
        number: true,
        cell: (row) => share(of(row).share[1]),
        order: (a, b) => of(a).share[1] - of(b).share[1],
      },
      {
        title: "Entries",
        number: true,
        cell: (row) => change(of(row).entries),
        order: (a, b) => size(of(a).entries) - size(of(b).entries),
      },
      {
        title: "Function",
        cell: (row) => (of(row).function === null ? of(row).name : functionLink(index, of(row).function ?? 0)),
        order: (a, b) => of(a).name.localeCompare(of(b).name),
        className: "name",
      },
    ]),
  });
}

function lines(index: Index, all: Comparison["lines"], caption: string, wanted: Change): Child {
  const rows = all.filter((row) => row.change === wanted);
  if (rows.length === 0) return null;
  const of = (row: number) => rows[row] as (typeof rows)[number];
  const path = (row: number) => of(row).path ?? index.files.paths[of(row).file ?? 0] ?? "?";
  return table({
    caption: `${caption} (${grouped(rows.length)})`,
    rows: rows.length,
    page: 25,
    sorted: 0,
    text: (row) => `${path(row)}:${of(row).line}`,
    columns: pair("Runs", (row) => of(row).counts, [
      {
        title: "Line",
        cell: (row) =>
          of(row).file === null ? `${path(row)}:${of(row).line}` : placeLink(index, [of(row).file ?? 0, of(row).line]),
        className: "name",
      },
    ]),
  });
}

/// The page of what differs.
export async function comparePage(index: Index): Promise<Child[]> {
  const found = await loadComparison();
  const { calls } = found;
  const nothing = found.functions.length + found.lines.length + calls.length === 0;
  return [
    h(
      "p",
      {},
      "This profile beside ",
      h("code", {}, index.before),
      found.same_build ? ", of the same build" : ", of another build",
      found.blocks ? "." : ": blocks and edges are not compared.",
    ),
    !found.exact &&
      h("p", { class: "doubtful" }, "Not all counts of the two are exact: the overview and `cotree report` say which."),
    nothing && h("p", {}, "No count differs."),
    functions(index, found.functions, "Functions that run now and did not", "newly-run"),
    functions(index, found.functions, "Functions that ran and no longer do", "no-longer-run"),
    functions(index, found.functions, "Functions that changed, by the shift of their share", "changed"),
    lines(index, found.lines, "Lines that run now and did not", "newly-run"),
    lines(index, found.lines, "Lines that ran and no longer do", "no-longer-run"),
    lines(index, found.lines, "Lines that run more or less often", "changed"),
    calls.length > 0 &&
      table({
        caption: `Calls that changed (${grouped(calls.length)})`,
        rows: calls.length,
        page: 25,
        text: (row) => `${calls[row]?.caller} ${calls[row]?.callee}`,
        columns: pair("Calls", (row) => calls[row]?.counts ?? [0, 0], [
          { title: "Caller", cell: (row) => calls[row]?.caller, className: "name" },
          {
            title: "Callee",
            cell: (row) => calls[row]?.callee ?? "through a pointer, or of assembly",
            className: "name",
          },
          { title: "Where", cell: (row) => placeLink(index, calls[row]?.place ?? null), className: "place" },
        ]),
      }),
  ];
}
