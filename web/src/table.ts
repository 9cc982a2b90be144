// Tables of many rows: sorted by a click on a heading, narrowed by a search, shown in parts.

import { h, type Child } from "./dom";

export interface Column {
  title: string;
  /// Numbers stand on the right, and begin with the largest.
  number?: boolean;
  cell: (row: number) => Child;
  /// Orders two rows.
  order?: (a: number, b: number) => number;
  className?: string;
}

export interface TableOptions {
  caption: string;
  columns: Column[];
  rows: number;
  /// The column that rows are sorted by at first.
  sorted?: number;
  /// The text that a search looks through.
  text?: (row: number) => string;
  /// How many rows are shown at once.
  page?: number;
}

export function table(options: TableOptions): HTMLElement {
  const { columns, rows, text } = options;
  const page = options.page ?? 100;
  const all = Array.from({ length: rows }, (_, row) => row);
  let [by, descending] = [options.sorted ?? -1, true];
  let wanted = "";
  let shown = page;

  const body = h("tbody");
  const heads = columns.map((column, number) => {
    const button = column.order
      ? h("button", { type: "button", class: "sort", click: () => sort(number) }, column.title)
      : column.title;
    return h("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  const status = h("span", { class: "status", role: "status" });
  const more = h("button", { type: "button", click: () => ((shown += 10 * page), draw()) }, "Show more");
  const search = h("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": `Filter ${options.caption}`,
    input: () => ((wanted = search.value.toLowerCase()), (shown = page), draw()),
  });

  function sort(column: number): void {
    if (by === column) descending = !descending;
    else [by, descending] = [column, columns[column]?.number ?? false];
    draw();
  }

  function draw(): void {
    let found = wanted && text ? all.filter((row) => text(row).toLowerCase().includes(wanted)) : all.slice();
    const order = columns[by]?.order;
    if (order) found.sort((a, b) => (descending ? order(b, a) : order(a, b)) || a - b);
    heads.forEach((head, number) => {
      if (number === by) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const total = found.length;
    found = found.slice(0, shown);
    const cells = (row: number) =>
      columns.map((column) =>
        h(
          "td",
          { class: [column.number && "number", column.className].filter(Boolean).join(" ") || null },
          column.cell(row),
        ),
      );
    body.replaceChildren(...found.map((row) => h("tr", {}, cells(row))));
    more.hidden = total <= shown;
    status.textContent = total > found.length || wanted ? `${found.length} of ${total}` : "";
  }

  draw();
  return h(
    "section",
    { class: "rows" },
    h("div", { class: "above" }, h("h2", {}, options.caption), text && rows > 12 && search, status),
    h(
      "div",
      { class: "wide" },
      h("table", {}, h("caption", {}, options.caption), h("thead", {}, h("tr", {}, heads)), body),
    ),
    more,
  );
}
