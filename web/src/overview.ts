// The overview: what the program did, and tables of functions, loops and files.

import { add, compare, count, grouped, mean, percent } from "./amounts";
import { h, type Child } from "./dom";
import { STATE, type Amount, type Index } from "./model";
import { explained, fileLink, fileName, functionLink, isDoubtful, placeLink, placeOf } from "./names";
import { table } from "./table";

/// More files than these are only counted.
const MOST_EDITED = 5;

/// How the threads of a trace ended: a signal's line is where one begins to look.
function ends(index: Index): Child {
  if (index.trace === null || index.trace.threads.length === 0) return null;
  const { threads, more } = index.trace;
  const rows = threads.map(({ title, part, end, signal, place }) => {
    const link = h("a", { href: `#/trace/${part}` }, title);
    const where = place && ` at ${fileName(index, place[0])}:${place[1]}`;
    return h(
      "li",
      { class: signal ? "doubtful" : null },
      link,
      signal ? `: a signal ended what was under way${where ?? ""}; ${end}` : `: ${end}`,
    );
  });
  return h(
    "section",
    { class: "unit" },
    h("h2", {}, "How it ended"),
    h("ul", { class: "notes" }, rows, more > 0 && h("li", {}, `and ${grouped(more)} more threads`)),
    h("p", {}, h("a", { href: `#/trace/${threads[0]?.part ?? 0}` }, "The last steps, and all before them")),
  );
}

/// How much of something ran, as a bar.
const bar = (ran: number, all: number, of: string): Child =>
  h("meter", { min: 0, max: all, value: ran, "aria-label": `Lines run of ${of}` });

function whatRan(index: Index): Child {
  const units = index.units.map((unit) => {
    const totals = unit.totals.map(([name, amount, remark]) =>
      h("div", { class: "total" }, h("h3", {}, name), h("b", {}, count(amount, !unit.exact)), h("small", {}, remark)),
    );
    const doubts = unit.doubts.map(([reason, functions]) =>
      h("li", {}, explained(index, reason, `${grouped(functions)} ${functions === 1 ? "function" : "functions"}: `)),
    );
    return h(
      "section",
      { class: "unit" },
      h("h2", {}, unit.name, " ", h("small", {}, unit.method)),
      unit.exact
        ? h("p", { class: "exact" }, "Exact: every count is the number of times that it happened.")
        : h("p", { class: "doubtful" }, "Not all exact: what is in doubt is marked with ~."),
      (doubts.length > 0 || unit.notes.length > 0) &&
        h(
          "ul",
          { class: "notes" },
          doubts,
          unit.notes.map((note) => h("li", {}, explained(index, note))),
        ),
      h("div", { class: "totals" }, totals),
    );
  });
  const facts = index.facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  const { faults } = index.files;
  const edited = faults.length > 0 && [
    h(
      "p",
      { class: "doubtful" },
      "Counts stand on the lines that the sources had when they were built. ",
      faults.length === 1 ? "One file is" : `${grouped(faults.length)} files are`,
      " not as they were then: ",
      faults.slice(0, MOST_EDITED).map(([file, why], at) => [at > 0 && ", ", fileLink(index, file), ` (${why})`]),
      faults.length > MOST_EDITED && ", …",
    ),
  ];
  return [h("dl", { class: "facts" }, facts), edited, ends(index), units];
}

export const wholeOf = (index: Index): Amount => index.functions.own.reduce(add, 0);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function functions(index: Index): HTMLElement {
  const f = index.functions;
  const whole = wholeOf(index);
  const by = (amounts: (Amount | null)[]) => (a: number, b: number) => compare(amounts[a] ?? 0, amounts[b] ?? 0);
  const amount = (amounts: (Amount | null)[]) => (row: number) => {
    if (f.state[row] === STATE.uncounted) return "";
    if (f.state[row] === STATE.inlined && amounts !== f.entries && amounts !== f.inlined) return "";
    return amounts[row] === null ? "" : count(amounts[row], isDoubtful(index, row));
  };
  const { inclusive } = f;
  return table({
    caption: "Functions",
    rows: f.name.length,
    sorted: 0,
    text: (row) => f.name[row] ?? "",
    columns: [
      { title: capital(index.kind), number: true, cell: amount(f.own), order: by(f.own) },
      { title: "Share", number: true, cell: (row) => percent(f.own[row] ?? 0, whole) },
      ...(inclusive ? [{ title: "Inclusive", number: true, cell: amount(inclusive), order: by(inclusive) }] : []),
      { title: "Entries", number: true, cell: amount(f.entries), order: by(f.entries) },
      {
        title: "Inlined",
        number: true,
        cell: (row) => (compare(f.inlined[row] ?? 0, 0) ? amount(f.inlined)(row) : ""),
        order: by(f.inlined),
      },
      {
        title: "Blocks run",
        number: true,
        cell: (row) =>
          ((f.blocks[row] ?? 0) > 0 && f.state[row] === STATE.vouched) || f.state[row] === STATE.doubtful
            ? `${grouped((f.blocks[row] ?? 0) - (f.unreached[row] ?? 0))} of ${grouped(f.blocks[row] ?? 0)}`
            : "",
        order: (a, b) => (f.unreached[a] ?? 0) - (f.unreached[b] ?? 0),
      },
      {
        title: "Function",
        cell: (row) => functionLink(index, row),
        order: (a, b) => (f.name[a] ?? "").localeCompare(f.name[b] ?? ""),
        className: "name",
      },
      { title: "Where", cell: (row) => placeLink(index, placeOf(index, row)), className: "place" },
    ],
  });
}

function loops(index: Index): Child {
  const all = index.loops;
  if (all.length === 0) return null;
  return table({
    caption: "Hottest loops",
    rows: all.length,
    page: 12,
    sorted: 0,
    columns: [
      {
        title: "Instructions",
        number: true,
        cell: (row) => count(all[row]?.instructions, all[row]?.doubtful),
        order: (a, b) => compare(all[a]?.instructions ?? 0, all[b]?.instructions ?? 0),
      },
      {
        title: "Entries",
        number: true,
        cell: (row) => count(all[row]?.entries, all[row]?.doubtful),
        order: (a, b) => compare(all[a]?.entries ?? 0, all[b]?.entries ?? 0),
      },
      {
        title: "Trips",
        number: true,
        cell: (row) => count(all[row]?.trips, all[row]?.doubtful),
        order: (a, b) => compare(all[a]?.trips ?? 0, all[b]?.trips ?? 0),
      },
      { title: "Per entry", number: true, cell: (row) => mean(all[row]?.trips ?? 0, all[row]?.entries ?? 0) },
      {
        title: "Function",
        cell: (row) => [all[row]?.of && `${all[row]?.of} in `, functionLink(index, all[row]?.function ?? 0)],
        className: "name",
      },
      { title: "Where", cell: (row) => placeLink(index, all[row]?.place ?? null), className: "place" },
    ],
  });
}

function files(index: Index): Child {
  const f = index.files;
  const rows = f.paths
    .map((_, file) => file)
    .filter((file) => (f.lines[file] ?? 0) > 0 || compare(f.cost[file] ?? 0, 0) > 0);
  const whole = f.cost.reduce(add, 0);
  const of = (row: number) => rows[row] ?? 0;
  const [ran, lines] = [f.ran, f.lines].map((list) => (row: number) => list[of(row)] ?? 0) as [
    (row: number) => number,
    (row: number) => number,
  ];
  return table({
    caption: "Source files",
    rows: rows.length,
    sorted: 0,
    text: (row) => f.paths[of(row)] ?? "",
    columns: [
      {
        title: capital(index.kind),
        number: true,
        cell: (row) => grouped(f.cost[of(row)] ?? 0),
        order: (a, b) => compare(f.cost[of(a)] ?? 0, f.cost[of(b)] ?? 0),
      },
      { title: "Share", number: true, cell: (row) => percent(f.cost[of(row)] ?? 0, whole) },
      {
        title: "Lines run",
        number: true,
        cell: (row) =>
          lines(row) > 0 && [
            `${grouped(ran(row))} of ${grouped(lines(row))} `,
            bar(ran(row), lines(row), f.paths[of(row)] ?? "?"),
          ],
        order: (a, b) => (f.ran[of(a)] ?? 0) - (f.ran[of(b)] ?? 0),
      },
      {
        title: "File",
        cell: (row) => [fileLink(index, of(row)), " ", h("small", {}, f.paths[of(row)] ?? "")],
        order: (a, b) => (f.paths[of(a)] ?? "").localeCompare(f.paths[of(b)] ?? ""),
        className: "name",
      },
    ],
  });
}

export const overview = (index: Index): Child[] => [whatRan(index), functions(index), loops(index), files(index)];
