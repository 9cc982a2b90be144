// A flame graph: frames as boxes, as wide as what they and all within them cost.

import { add, compare, count, percent, value } from "./amounts";
import { loadFlame } from "./data";
import { h, svg, type Child } from "./dom";
import type { Amount, Flame, Index } from "./model";

const ROW = 20;
const WIDTH = 1600;
/// Narrower boxes are not drawn: they would not be seen.
const NARROWEST = 0.6;

interface Tree {
  children: number[][];
  roots: number[];
  /// With all within.
  total: Amount[];
}

function grow(flame: Flame): Tree {
  const children: number[][] = flame.name.map(() => []);
  const roots: number[] = [];
  const total = flame.own.slice();
  flame.parent.forEach((parent, frame) => (parent < 0 ? roots : (children[parent] ?? [])).push(frame));
  // Frames stand behind those around them.
  for (let frame = flame.name.length - 1; frame >= 0; frame--) {
    const parent = flame.parent[frame] ?? -1;
    if (parent >= 0) total[parent] = add(total[parent] ?? 0, total[frame] ?? 0);
  }
  const largest = (a: number, b: number) => compare(total[b] ?? 0, total[a] ?? 0);
  [roots, ...children].forEach((list) => list.sort(largest));
  return { children, roots, total };
}

/// The page of the flame graph.
export async function flamePage(index: Index): Promise<Child[]> {
  const flame = await loadFlame();
  const { children, roots, total } = grow(flame);
  const whole = roots.reduce((sum: Amount, frame) => add(sum, total[frame] ?? 0), 0);
  const name = (frame: number) => flame.names[flame.name[frame] ?? -1] ?? "?";
  let top: number | null = null;
  let wanted = "";
  const picture = svg("svg", { class: "boxes", role: "group", "aria-label": "Flame graph" });
  const said = h("p", { class: "status", role: "status" });

  function around(frame: number): number[] {
    const list: number[] = [];
    for (let at = flame.parent[frame] ?? -1; at >= 0; at = flame.parent[at] ?? -1) list.unshift(at);
    return list;
  }

  function box(frame: number, x: number, width: number, depth: number): SVGElement {
    const label = name(frame);
    const letters = Math.floor((width - 6) / 7.3);
    const found = wanted !== "" && label.toLowerCase().includes(wanted);
    const share = percent(total[frame] ?? 0, whole) || "0%";
    const says = `${label}: ${count(total[frame])} ${index.kind}, ${share}; itself ${count(flame.own[frame])}`;
    const choose = () => {
      top = top === frame ? null : frame;
      redraw();
    };
    return svg(
      "g",
      {
        class: `box tone${(flame.name[frame] ?? 0) % 6}${found ? " found" : ""}`,
        tabindex: 0,
        role: "button",
        "data-total": total[frame],
        click: choose,
        keydown: (event) => ["Enter", " "].includes((event as KeyboardEvent).key) && (event.preventDefault(), choose()),
      },
      svg("title", {}, says),
      svg("rect", { x: x.toFixed(2), y: depth * ROW, width: Math.max(0.5, width - 0.5).toFixed(2), height: ROW - 1 }),
      letters > 2 &&
        svg(
          "text",
          { x: (x + 4).toFixed(2), y: depth * ROW + 14 },
          label.length > letters ? `${label.slice(0, letters - 1)}…` : label,
        ),
    );
  }

  function redraw(): void {
    const boxes: SVGElement[] = [];
    let deepest = 0;
    const pile = top === null ? [] : around(top);
    pile.forEach((frame, depth) => boxes.push(box(frame, 0, WIDTH, depth)));
    const open: { frame: number; x: number; width: number; depth: number }[] = [];
    const place = (frames: number[], x: number, width: number, of: Amount, depth: number) => {
      let at = x;
      for (const frame of frames) {
        const wide = value(of) > 0 ? (width * value(total[frame])) / value(of) : 0;
        if (wide < NARROWEST) break;
        open.push({ frame, x: at, width: wide, depth });
        at += wide;
      }
    };
    if (top === null) place(roots, 0, WIDTH, whole, 0);
    else place([top], 0, WIDTH, total[top] ?? 0, pile.length);
    for (let next = open.pop(); next; next = open.pop()) {
      const { frame, x, width, depth } = next;
      deepest = Math.max(deepest, depth + 1);
      boxes.push(box(frame, x, width, depth));
      place(children[frame] ?? [], x, width, total[frame] ?? 0, depth + 1);
    }
    picture.setAttribute("viewBox", `0 0 ${WIDTH} ${Math.max(1, deepest) * ROW}`);
    picture.replaceChildren(...boxes);
    // What is found counts once, however often it is under itself.
    const matching = flame.name.map((_, frame) => wanted !== "" && name(frame).toLowerCase().includes(wanted));
    const outermost = flame.name
      .map((_, frame) => frame)
      .filter((frame) => matching[frame] && !around(frame).some((at) => matching[at]));
    const sum = outermost.reduce((sum: Amount, frame) => add(sum, total[frame] ?? 0), 0);
    said.textContent =
      wanted === "" ? "" : `${count(sum)} ${index.kind} within what is found, ${percent(sum, whole) || "0%"}`;
  }

  const search = h("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the flame graph",
    input: () => ((wanted = search.value.toLowerCase()), redraw()),
  });
  redraw();
  return [
    h("div", { class: "heading" }, h("h2", {}, `Flame graph of ${index.kind}`)),
    h(
      "p",
      {},
      "A box is a function; what stands below it ran within it. [several callers] stands for functions of which it " +
        "is not known which was under way. A click widens a box, and another one goes back.",
    ),
    h("div", { class: "above" }, search, said),
    h("div", { class: "wide" }, picture),
  ];
}
