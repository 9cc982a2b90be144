// The paths that executed most: a click lights a path's way through a function.

import { compare, count, grouped, percent } from "./amounts";
import { loadPaths } from "./data";
import { h, type Child } from "./dom";
import type { Amount, Index, Path, PathPart } from "./model";
import { fileName } from "./names";
import { table, type Column } from "./table";

/// Lines in short: `4-6 9`, with the file's name where it changes.
function route(index: Index, lines: [number, number][]): string {
  let text = "";
  let [file, first, last] = [-1, 0, 0];
  const end = () => {
    if (last > first) text += `-${last}`;
  };
  for (const [at, line] of lines) {
    if (at === file && (line === last || line === last + 1)) {
      last = line;
      continue;
    }
    end();
    text += `${text ? " " : ""}${at === file ? "" : `${fileName(index, at)}:`}${line}`;
    [file, first, last] = [at, line, line];
  }
  end();
  return text;
}

function story(index: Index, path: Path, at: number): Child {
  const line = (part: PathPart) => {
    const name = part.function === null ? "?" : (index.functions.name[part.function] ?? "?");
    const link = part.function === null ? name : h("a", { href: `#/function/${part.function}/path/${at}` }, name);
    const item = h(
      "li",
      { class: part.context ? "context" : null },
      part.context && "after ",
      link,
      " ",
      h("small", {}, route(index, part.lines)),
    );
    item.style.paddingLeft = `${Math.min(part.depth, 12) * 1.25}rem`;
    return item;
  };
  const shown = path.parts.slice(0, 12);
  const more = path.parts.length - shown.length;
  return h(
    "ul",
    { class: "story" },
    shown.map(line),
    more > 0 && h("li", {}, h("small", {}, `and ${more} more parts`)),
  );
}

/// The page of paths.
export async function pathsPage(index: Index, whole: Amount): Promise<Child[]> {
  const paths = await loadPaths();
  const of = (row: number) => paths[row] as Path;
  const names = (path: Path) =>
    path.parts.map((part) => (part.function === null ? "" : (index.functions.name[part.function] ?? ""))).join(" ");
  const before: Column = {
    title: "Before",
    number: true,
    cell: (row) => [
      of(row).before !== null && grouped(of(row).before ?? 0),
      compare(of(row).before ?? 0, 0) === 0 && h("small", {}, " only now"),
      compare(of(row).count, 0) === 0 && h("small", {}, " only before"),
    ],
    order: (a, b) => compare(of(a).before ?? 0, of(b).before ?? 0),
  };
  return [
    h(
      "p",
      {},
      `${grouped(index.paths ?? 0)} paths ran. These executed most; `,
      "a click on a function shows the path's way through it.",
    ),
    table({
      caption: "Hottest paths",
      rows: paths.length,
      sorted: 0,
      page: 40,
      text: (row) => names(of(row)),
      columns: [
        {
          title: "Instructions",
          number: true,
          cell: (row) => count(of(row).instructions, of(row).doubtful),
          order: (a, b) => compare(of(a).instructions, of(b).instructions),
        },
        { title: "Share", number: true, cell: (row) => percent(of(row).instructions, whole) },
        {
          title: "Times",
          number: true,
          cell: (row) => count(of(row).count, of(row).doubtful),
          order: (a, b) => compare(of(a).count, of(b).count),
        },
        ...(paths.some((path) => path.before !== null) ? [before] : []),
        { title: "Path", cell: (row) => story(index, of(row), row), className: "name" },
      ],
    }),
  ];
}

/// The blocks of a function that a path takes, in order.
export async function blocksOf(path: number, fn: number): Promise<number[]> {
  const parts = (await loadPaths())[path]?.parts ?? [];
  return parts.filter((part) => part.function === fn).flatMap((part) => part.blocks);
}
