// The control-flow graph of a body: laid out in layers by dagre, with counts on blocks and edges.

import { Graph, layout } from "@dagrejs/dagre";
import { add, compare, count, grouped, heat, value } from "./amounts";
import { h, svg } from "./dom";
import type { BodyBefore } from "./compare";
import { draw, hotPath, type DrawnEdge, type DrawnNode } from "./layout";
import type { Amount, Body } from "./model";

/// With more blocks than that, loops are folded at first.
const MOST_UNFOLDED = 200;
const CHARACTER = 7.3;

export interface GraphOptions {
  doubtful: boolean;
  /// The blocks of a path that is to be seen, in order.
  path: number[] | null;
  /// Counts of the run that this one is compared with.
  before: BodyBefore | null;
  /// The lines of a block, in short.
  where: (block: number) => string;
  /// A block is looked at, or none.
  onBlocks: (blocks: number[]) => void;
}

export interface GraphView {
  element: HTMLElement;
  /// Marks the blocks.
  mark: (blocks: number[]) => void;
}

export function graph(body: Body, options: GraphOptions): GraphView {
  const folded = new Set<number>();
  const foldAll = () => body.loops.forEach((_, loop) => folded.add(loop));
  if (body.blocks.length > MOST_UNFOLDED) foldAll();

  const picture = svg("svg", { class: "graph", role: "img", tabindex: 0, "aria-label": "Control-flow graph" });
  const view = { x: 0, y: 0, width: 1, height: 1 };
  let whole = { ...view };
  const show = () => picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (by: number, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    view.x = x - (x - view.x) * by;
    view.y = y - (y - view.y) * by;
    view.width *= by;
    view.height *= by;
    show();
  };
  const fit = () => (Object.assign(view, whole), show());
  const move = (x: number, y: number) => ((view.x += x * view.width), (view.y += y * view.height), show());

  const executed = (node: DrawnNode): Amount =>
    node.blocks.reduce((sum: Amount, block) => {
      const { count, instructions } = body.blocks[block] ?? { count: 0, instructions: 0 };
      return add(sum, String(BigInt(count ?? 0) * BigInt(instructions)));
    }, 0);

  const nodesOf = new Map<number, Element>();
  const { path: way, before } = options;
  const taken = new Set(way?.map((block, at) => `${block} ${way[at + 1]}`));

  /// What a count was in the other run, if that differs.
  const was = (now: Amount | null | undefined, then: Amount | null | undefined) =>
    now === null || now === undefined || then === null || then === undefined || compare(now, then) === 0
      ? ""
      : ` (was ${grouped(then)})`;
  const labelOf = (edge: DrawnEdge) => count(edge.count, options.doubtful) + was(edge.count, edge.before);
  const differs = (edge: DrawnEdge) => was(edge.count, edge.before) !== "";

  function redraw(): void {
    nodesOf.clear();
    const drawn = draw(body, folded, before && before.edges);
    const hot = hotPath(drawn);
    const blocksOf = new Map(drawn.nodes.map((node) => [node.id, node.blocks]));
    const takes = (from: string, to: string) =>
      (blocksOf.get(from) ?? []).some((block) =>
        (blocksOf.get(to) ?? []).some((next) => taken.has(`${block} ${next}`)),
      );
    const laidOut = new Graph({ multigraph: false });
    laidOut.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 44, edgesep: 14, marginx: 16, marginy: 16 });
    laidOut.setDefaultEdgeLabel(() => ({}));
    const titles = new Map<string, string[]>();
    for (const node of drawn.nodes) {
      const first = node.blocks[0] ?? 0;
      const lines =
        node.id === "exit"
          ? ["exit"]
          : node.loop !== null
            ? [
                `loop of ${node.blocks.length} blocks`,
                options.where(body.loops[node.loop]?.header ?? first),
                `trips: ${count(body.loops[node.loop]?.counts?.[1], options.doubtful)}`,
              ]
            : [
                `b${first}  ${count(body.blocks[first]?.count, options.doubtful)}` +
                  was(body.blocks[first]?.count, before?.blocks[first]),
                options.where(first),
              ].filter(Boolean);
      titles.set(node.id, lines);
      const width = Math.max(48, ...lines.map((line) => line.length * CHARACTER + 20));
      laidOut.setNode(node.id, { width, height: 12 + 17 * lines.length });
    }
    for (const edge of drawn.edges) {
      const label = labelOf(edge);
      laidOut.setEdge(edge.from, edge.to, { width: label.length * CHARACTER, height: 14, labelpos: "c" });
    }
    layout(laidOut);
    const most = drawn.nodes.map(executed).reduce((a, b) => (compare(a, b) > 0 ? a : b), 0);
    const edges = drawn.edges.map((edge) => {
      const placed = laidOut.edge(edge.from, edge.to) as {
        points?: { x: number; y: number }[];
        x?: number;
        y?: number;
      };
      const points = placed.points ?? [];
      let { x, y } = placed;
      let path = points
        .map((point, number) => `${number ? "L" : "M"}${point.x.toFixed(1)},${point.y.toFixed(1)}`)
        .join("");
      if (edge.from === edge.to) {
        // From a node to itself: an arc at its right side.
        const node = laidOut.node(edge.from) as { x: number; y: number; width: number; height: number };
        const [side, bend] = [node.x + node.width / 2, node.height / 4];
        const [from, to] = [`${side + 30},${node.y + 2 * bend}`, `${side + 30},${node.y - 2 * bend}`];
        path = `M${side},${node.y + bend}C${from} ${to} ${side},${node.y - bend}`;
        [x, y] = [side + 28 + (CHARACTER * labelOf(edge).length) / 2, node.y];
      }
      const never = edge.count !== null && compare(edge.count, 0) === 0;
      const kinds = [...new Set(edge.kinds)].join(", ");
      return svg(
        "g",
        {
          class: [
            "edge",
            way ? takes(edge.from, edge.to) && "taken" : hot.has(edge) && "hot",
            differs(edge) && "differs",
            never && "never",
            edge.back && "back",
          ]
            .filter(Boolean)
            .join(" "),
        },
        svg("path", { d: path, "marker-end": "url(#arrow)" }),
        x !== undefined && y !== undefined && svg("text", { x, y: y + 4, "text-anchor": "middle" }, labelOf(edge)),
        svg("title", {}, `${edge.from} to ${edge.to}: ${kinds}, ${labelOf(edge)}`),
      );
    });
    const nodes = drawn.nodes.map((node) => {
      const { x, y, width, height } = laidOut.node(node.id) as { x: number; y: number; width: number; height: number };
      const lines = titles.get(node.id) ?? [];
      const never = node.blocks.length > 0 && node.blocks.every((block) => value(body.blocks[block]?.count) === 0);
      const open = () => {
        if (node.loop === null) options.onBlocks(node.blocks);
        else {
          folded.delete(node.loop);
          redraw();
        }
      };
      const element = svg(
        "g",
        {
          class: [
            `node heat${heat(executed(node), most)}`,
            never && "never",
            node.loop !== null && "folded",
            way && node.blocks.some((block) => way.includes(block)) && "taken",
          ]
            .filter(Boolean)
            .join(" "),
          transform: `translate(${(x - width / 2).toFixed(1)},${(y - height / 2).toFixed(1)})`,
          "data-blocks": node.blocks.join(" "),
          click: open,
          pointerenter: () => options.onBlocks(node.blocks),
          pointerleave: () => options.onBlocks([]),
        },
        svg("rect", { width, height, rx: node.id === "exit" ? height / 2 : 5 }),
        lines.map((line, number) => svg("text", { x: 10, y: 18 + 17 * number }, line)),
      );
      node.blocks.forEach((block) => nodesOf.set(block, element));
      return element;
    });
    const arrow = svg(
      "marker",
      {
        id: "arrow",
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 9,
        markerHeight: 9,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
      },
      svg("path", { d: "M0,0L8,4L0,8z" }),
    );
    picture.replaceChildren(svg("defs", {}, arrow), ...edges, ...nodes);
    const size = laidOut.graph() as { width?: number; height?: number };
    whole = { x: 0, y: 0, width: Math.max(1, size.width ?? 1), height: Math.max(1, size.height ?? 1) };
    // Large graphs begin at their entry, at a size that can be read.
    Object.assign(view, whole);
    const shown = { width: picture.clientWidth || 900, height: picture.clientHeight || 600 };
    if (whole.width > 1.6 * shown.width || whole.height > 1.6 * shown.height) {
      const entry = laidOut.node(drawn.nodes.find((node) => node.blocks.includes(0))?.id ?? "b0") as
        { x: number } | undefined;
      view.width = shown.width * 1.2;
      view.height = shown.height * 1.2;
      view.x = (entry?.x ?? 0) - view.width / 2;
      view.y = 0;
    }
    show();
  }

  picture.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = picture.getBoundingClientRect();
      const x = view.x + ((event.clientX - box.left) / box.width) * view.width;
      const y = view.y + ((event.clientY - box.top) / box.height) * view.height;
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, x, y);
    },
    { passive: false },
  );
  let dragged: { x: number; y: number } | null = null;
  picture.addEventListener("pointerdown", (event) => (dragged = { x: event.clientX, y: event.clientY }));
  picture.addEventListener("pointermove", (event) => {
    if (!dragged || event.buttons === 0) return;
    const box = picture.getBoundingClientRect();
    move((dragged.x - event.clientX) / box.width, (dragged.y - event.clientY) / box.height);
    dragged = { x: event.clientX, y: event.clientY };
  });
  picture.addEventListener("pointerup", () => (dragged = null));
  const keys: Record<string, () => void> = {
    "+": () => zoom(1 / 1.25),
    "-": () => zoom(1.25),
    "0": fit,
    ArrowLeft: () => move(-0.1, 0),
    ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, -0.1),
    ArrowDown: () => move(0, 0.1),
  };
  picture.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  const tool = (name: string, act: () => void, title?: string) =>
    h("button", { type: "button", click: act, title }, name);
  const element = h(
    "section",
    { class: "drawing" },
    h(
      "div",
      { class: "tools" },
      tool("+", () => zoom(1 / 1.25), "Zoom in (+)"),
      tool("−", () => zoom(1.25), "Zoom out (-)"),
      tool("Whole graph", fit, "Show all of it (0)"),
      body.loops.length > 0 && tool("Fold loops", () => (foldAll(), redraw())),
      body.loops.length > 0 && tool("Unfold loops", () => (folded.clear(), redraw())),
      h("small", {}, `${body.blocks.length} blocks, ${body.edges.length} edges. Ctrl and the wheel zoom.`),
    ),
    picture,
  );
  requestAnimationFrame(redraw);
  return {
    element,
    mark: (blocks) => {
      picture.querySelectorAll(".marked").forEach((node) => node.classList.remove("marked"));
      blocks.forEach((block) => nodesOf.get(block)?.classList.add("marked"));
    },
  };
}
