// Source lines with counts, costs, outcomes of branches and heat.

import { compare, count, grouped, heat, mean, percent } from "./amounts";
import { linesBefore } from "./compare";
import { loadFile } from "./data";
import { h, type Child } from "./dom";
import type { Amount, Index, SourceFile, SourceLine } from "./model";
import { fileName, functionLink } from "./names";

function branches(line: SourceLine): Child {
  return line.branches.map((branch) => {
    const outcome = ([name, taken, to]: [string, Amount | null, number | null]) =>
      h(
        "span",
        { class: taken !== null && compare(taken, 0) === 0 ? "outcome never" : "outcome" },
        `${name} ${count(taken, line.doubtful)}`,
        to !== null && ` → ${to}`,
      );
    const column = branch.column > 0 ? `column ${branch.column}: ` : "";
    return h("li", {}, h("small", {}, column), branch.reached ? branch.outcomes.map(outcome) : "never reached");
  });
}

/// The loops that begin on a line, of which the hottest are shown.
function trips(line: SourceLine): Child {
  const shown = line.loops
    .slice(0, 3)
    .map(([entries, trips]) =>
      h(
        "li",
        {},
        h("small", {}, "loop: "),
        `${count(entries, line.doubtful)} entered, ${count(trips, line.doubtful)} trips, ${mean(trips, entries)} each`,
      ),
    );
  const more = line.loops.length - shown.length;
  return [shown, more > 0 && h("li", {}, h("small", {}, `and ${more} more loops, as copies of this line`))];
}

/// Lines as a table.
export interface Lines {
  element: HTMLElement;
  /// The row of a line.
  row: (line: number) => HTMLElement | null;
}

/// Rows of one group, which is filled when it comes near what is seen.
const GROUP = 200;
/// A file with fewer lines is filled at once, so that the browser's own search finds all of it.
const MOST_AT_ONCE = 6000;
/// The height of a line, in pixels, until it is known.
const HEIGHT = 21;

/// Lines `from` to `to` of a file as a table; `before` has counts of another run where they differ.
export function lines(
  file: SourceFile,
  from: number,
  to: number,
  most: Amount,
  whole: Amount,
  before: Map<number, Amount> | null = null,
): Lines {
  const known = new Map(file.lines.map((line) => [line.line, line]));
  const draw = (number: number): HTMLElement => {
    const line = known.get(number);
    const never = line && line.count !== null && compare(line.count, 0) === 0;
    const share = line && compare(line.cost, 0) > 0 ? percent(line.cost, whole) : "";
    const outcomes =
      line &&
      line.branches.length + line.loops.length > 0 &&
      h("ul", { class: "branches" }, trips(line), branches(line));
    return h(
      "tr",
      {
        "data-line": number,
        class: [line ? (never ? "never" : "ran") : "", `heat${line ? heat(line.cost, most) : 0}`].join(" "),
      },
      h("td", { class: "number" }, line && line.count !== null && count(line.count, line.doubtful)),
      before &&
        h(
          "td",
          { class: `number was${before.has(number) ? " differs" : ""}` },
          before.has(number) ? grouped(before.get(number) ?? 0) : line && line.count !== null && grouped(line.count),
        ),
      h("td", { class: "number part-of" }, share),
      h("th", { scope: "row" }, h("a", { href: `#L${number}`, "data-local": number }, number)),
      h("td", { class: "text" }, h("code", {}, file.text?.[number - 1] ?? ""), outcomes),
    );
  };
  const groups: { body: HTMLElement; fill: () => void }[] = [];
  for (let first = from; first <= to; first += GROUP) {
    const last = Math.min(to, first + GROUP - 1);
    const space = h("td", { colspan: before ? 5 : 4 });
    space.style.height = `${(last - first + 1) * HEIGHT}px`;
    const body = h("tbody", {}, h("tr", { "aria-hidden": "true" }, space));
    let filled = false;
    const fill = () => {
      if (filled) return;
      filled = true;
      body.replaceChildren(...Array.from({ length: last - first + 1 }, (_, at) => draw(first + at)));
    };
    groups.push({ body, fill });
  }
  if (to - from < MOST_AT_ONCE) {
    groups.forEach((group) => group.fill());
  } else {
    const near = new IntersectionObserver(
      (seen) =>
        seen
          .filter((entry) => entry.isIntersecting)
          .forEach((entry) => groups.find((group) => group.body === entry.target)?.fill()),
      { rootMargin: "1500px" },
    );
    groups.forEach((group) => near.observe(group.body));
  }
  const element = h(
    "table",
    { class: "lines" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Runs", before && "Before", "Share", "Line", "Source"]
          .filter((title) => title !== null)
          .map((title) => h("th", { scope: "col" }, title)),
      ),
    ),
    groups.map((group) => group.body),
  );
  const row = (line: number) => {
    groups[Math.floor((line - from) / GROUP)]?.fill();
    return element.querySelector<HTMLElement>(`[data-line="${line}"]`);
  };
  return { element, row };
}

export const lastLine = (file: SourceFile): number =>
  Math.max(file.text?.length ?? 0, ...file.lines.slice(-1).map((line) => line.line), 0);

export const hottest = (file: SourceFile): Amount =>
  file.lines.reduce((most: Amount, line) => (compare(line.cost, most) > 0 ? line.cost : most), 0);

/// The page of a file.
export async function source(index: Index, number: number, whole: Amount, at: number | null): Promise<Child[]> {
  const file = await loadFile(number);
  const path = index.files.paths[number] ?? "?";
  const before = await linesBefore(index, number);
  const { element: body, row } = lines(file, 1, lastLine(file), hottest(file), whole, before);
  const go = (line: number | undefined) => {
    body.querySelector(".here")?.classList.remove("here");
    const found = line === undefined ? null : row(line);
    found?.classList.add("here");
    found?.scrollIntoView({ block: "center" });
  };
  const hot = file.lines.slice().sort((a, b) => compare(b.cost, a.cost));
  const missed = file.lines
    .filter((line) => line.count !== null && compare(line.count, 0) === 0)
    .map((line) => line.line);
  let [nextHot, nextMissed] = [0, 0];
  const tools = h(
    "div",
    { class: "tools" },
    h(
      "button",
      { type: "button", click: () => go(hot[nextHot++ % Math.max(1, Math.min(hot.length, 20))]?.line) },
      "Next hottest",
    ),
    index.trace !== null && at !== null && h("a", { href: `#/trace/line/${number}/${at}` }, `When line ${at} ran`),
    missed.length > 0 &&
      h(
        "button",
        { type: "button", click: () => go(missed[nextMissed++ % missed.length]) },
        `Next never reached (${missed.length})`,
      ),
  );
  const aside = h(
    "nav",
    { class: "functions", "aria-label": "Functions of this file" },
    h("h2", {}, "Functions"),
    h(
      "ul",
      {},
      file.functions.map(([line, fn]) => h("li", {}, functionLink(index, fn), " ", h("small", {}, line))),
    ),
  );
  if (at !== null) queueMicrotask(() => requestAnimationFrame(() => go(at)));
  return [
    h("div", { class: "heading" }, h("h2", {}, fileName(index, number)), h("p", {}, h("small", {}, path)), tools),
    file.fault !== null &&
      h(
        "p",
        { class: "doubtful" },
        `This file may not be what was built: ${file.fault}. Counts stand on the lines that it had then.`,
      ),
    file.text === null &&
      h("p", { class: "doubtful" }, "The source is not on this machine: lines are shown without their text."),
    h("div", { class: "beside" }, file.functions.length > 0 && aside, h("div", { class: "wide" }, body)),
  ];
}
