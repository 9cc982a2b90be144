// The page of a function: its graph beside its source, its callers and callees, its inlined copies.

import { compare, count, grouped } from "./amounts";
import { loadFile, loadFunction } from "./data";
import { bodiesBefore, linesBefore, type BodyBefore } from "./compare";
import { h, type Child } from "./dom";
import { graph } from "./graph";
import type { Amount, Body, Call, Details, Index } from "./model";
import { explained, fileName, functionLink, isDoubtful, placeLink, placeOf } from "./names";
import { hottest, lines } from "./source";
import { table } from "./table";

function calls(index: Index, title: string, all: Call[], doubtful: boolean): Child {
  if (all.length === 0) return null;
  const of = (row: number) => all[row] as Call;
  const name = (call: Call) =>
    call.function === null ? (call.name ?? "?") : (index.functions.name[call.function] ?? "?");
  return table({
    caption: title,
    rows: all.length,
    page: 20,
    sorted: 0,
    text: (row) => name(of(row)),
    columns: [
      {
        title: "Calls",
        number: true,
        cell: (row) => count(of(row).count, doubtful),
        order: (a, b) => compare(of(a).count ?? 0, of(b).count ?? 0),
      },
      {
        title: "Function",
        cell: (row) => (of(row).function === null ? name(of(row)) : functionLink(index, of(row).function ?? 0)),
        className: "name",
      },
      { title: "Where", cell: (row) => placeLink(index, of(row).place), className: "place" },
    ],
  });
}

function inlined(index: Index, body: Body, doubtful: boolean): Child {
  const all = body.inlined;
  if (all.length === 0) return null;
  return table({
    caption: "Inlined here",
    rows: all.length,
    page: 20,
    sorted: 0,
    text: (row) => all[row]?.name ?? "",
    columns: [
      {
        title: "Entries",
        number: true,
        cell: (row) => (all[row]?.entries === null ? "" : count(all[row]?.entries, doubtful)),
        order: (a, b) => compare(all[a]?.entries ?? 0, all[b]?.entries ?? 0),
      },
      { title: "Function", cell: (row) => all[row]?.name ?? "?", className: "name" },
      { title: "Called at", cell: (row) => placeLink(index, all[row]?.call ?? null), className: "place" },
    ],
  });
}

/// The file that most of a body's own lines are in, with the first and last of them.
function ownLines(body: Body, declared: [number, number] | null): { file: number; from: number; to: number } | null {
  const own = body.blocks.flatMap((block) => block.lines).filter(([, , copy]) => copy === null);
  const file = declared?.[0] ?? own[0]?.[0];
  if (file === undefined) return null;
  const numbers = own.filter((line) => line[0] === file && line[1] > 0).map((line) => line[1]);
  if (declared) numbers.push(declared[1]);
  if (numbers.length === 0) return null;
  return { file, from: Math.min(...numbers), to: Math.max(...numbers) + 1 };
}

async function oneBody(
  index: Index,
  number: number,
  body: Body,
  before: BodyBefore | null,
  whole: Amount,
  path: number[] | null,
): Promise<Child[]> {
  const doubtful = isDoubtful(index, number);
  if (body.untouched !== null) return [h("div", { class: "notes" }, explained(index, body.untouched, "Not counted: "))];
  const where = (block: number) => {
    const own = body.blocks[block]?.lines ?? [];
    const first = own[0];
    if (!first) return "";
    const last = own.filter((line) => line[0] === first[0]).at(-1) ?? first;
    const [from, to] = [first[1], last[1]];
    return `${fileName(index, first[0])}:${from}${to > from ? `–${to}` : ""}`;
  };
  const own = ownLines(body, placeOf(index, number));
  const file = own && (await loadFile(own.file).catch(() => null));
  const linesThen = own && (await linesBefore(index, own.file));
  const excerpt = own && file && lines(file, own.from, own.to, hottest(file), whole, linesThen);
  const text = excerpt && excerpt.element;
  const lineOf = (line: number) => (own && line >= own.from && line <= own.to ? excerpt?.row(line) : null);
  path
    ?.flatMap((block) => body.blocks[block]?.lines ?? [])
    .forEach((line) => line[0] === own?.file && lineOf(line[1])?.classList.add("taken"));
  const view = graph(body, {
    doubtful,
    path,
    before,
    where,
    onBlocks: (blocks) => {
      text?.querySelectorAll(".here").forEach((row) => row.classList.remove("here"));
      const marked = blocks.flatMap((block) => body.blocks[block]?.lines ?? []).filter((line) => line[0] === own?.file);
      marked.forEach((line) => lineOf(line[1])?.classList.add("here"));
      const first = marked[0] && lineOf(marked[0][1]);
      if (first && text) text.parentElement?.scrollTo({ top: (first as HTMLElement).offsetTop - 120 });
    },
  });
  text?.addEventListener("pointerover", (event) => {
    const line = Number((event.target as Element).closest<HTMLElement>("[data-line]")?.dataset.line);
    const blocks = body.blocks.flatMap((block, at) =>
      block.lines.some((l) => l[0] === own?.file && l[1] === line) ? [at] : [],
    );
    view.mark(blocks);
  });
  text?.addEventListener("pointerleave", () => view.mark([]));
  return [
    h("div", { class: "sides" }, view.element, text && h("div", { class: "wide excerpt" }, text)),
    h("div", { class: "tables" }, calls(index, "Calls", body.calls, doubtful), inlined(index, body, doubtful)),
  ];
}

/// The page of a function.
export async function functionPage(
  index: Index,
  number: number,
  whole: Amount,
  path: number[] | null,
): Promise<Child[]> {
  const details: Details = await loadFunction(index, number);
  const f = index.functions;
  const doubtful = isDoubtful(index, number);
  const facts: [string, Child][] = [
    [index.kind.charAt(0).toUpperCase() + index.kind.slice(1), count(f.own[number], doubtful)],
    ["Inclusive", f.inclusive && count(f.inclusive[number], doubtful)],
    [
      "Entries",
      f.entries[number] !== null && [
        count(f.entries[number], doubtful),
        compare(f.inlined[number] ?? 0, 0) > 0 && ` (${count(f.inlined[number], doubtful)} inlined)`,
      ],
    ],
    [
      "Blocks run",
      `${grouped((f.blocks[number] ?? 0) - (f.unreached[number] ?? 0))} of ${grouped(f.blocks[number] ?? 0)}`,
    ],
    ["Where", placeLink(index, placeOf(index, number))],
    ["Symbol", details.symbol !== f.name[number] && h("code", {}, details.symbol)],
  ];
  const before = await bodiesBefore(index, number);
  const bodies = await Promise.all(
    details.bodies.map((body, at) => oneBody(index, number, body, before?.[at] ?? null, whole, path)),
  );
  const titled = bodies.map((body, at) => [
    bodies.length > 1 && h("h2", {}, `Body ${at + 1} of ${bodies.length}, of ${details.bodies[at]?.module}`),
    body,
  ]);
  return [
    h(
      "div",
      { class: "heading" },
      h("h2", {}, f.name[number] ?? "?"),
      path && h("p", {}, "The way of one path is marked. ", h("a", { href: "#/paths" }, "All paths")),
    ),
    h(
      "dl",
      { class: "facts" },
      facts.filter(([, shown]) => shown).map(([name, shown]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown))),
    ),
    details.doubts.length > 0 &&
      h(
        "ul",
        { class: "notes" },
        details.doubts.map((doubt) => h("li", {}, explained(index, doubt))),
      ),
    details.bodies.length === 0 &&
      h("p", {}, "It has no code of its own: all copies were inlined into other functions."),
    titled,
    calls(index, "Called by", details.callers, doubtful),
  ];
}
