// What is drawn of a body: blocks, and loops that are folded into one node.

import { add } from "./amounts";
import type { Amount, Body } from "./model";

export interface DrawnNode {
  /// `b` and the block, `l` and the loop, or `exit`.
  id: string;
  blocks: number[];
  /// The loop that is folded.
  loop: number | null;
}

export interface DrawnEdge {
  from: string;
  to: string;
  kinds: string[];
  count: Amount | null;
  /// In the other run, if there is one of the same build.
  before: Amount | null;
  back: boolean;
}

export interface Drawn {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
}

/// The outermost folded loop that a block is in.
function foldedAround(body: Body, block: number, folded: ReadonlySet<number>): number | null {
  let found: number | null = null;
  for (let at = body.blocks[block]?.within ?? null; at !== null; at = body.loops[at]?.parent ?? null) {
    if (folded.has(at)) found = at;
  }
  return found;
}

export function draw(body: Body, folded: ReadonlySet<number>, before: (Amount | null)[] | null): Drawn {
  const nodes = new Map<string, DrawnNode>();
  const ids = body.blocks.map((_, block) => {
    const loop = foldedAround(body, block, folded);
    const id = loop === null ? `b${block}` : `l${loop}`;
    const node = nodes.get(id) ?? { id, blocks: [], loop };
    node.blocks.push(block);
    nodes.set(id, node);
    return id;
  });
  const edges = new Map<string, DrawnEdge>();
  const sum = (a: Amount | null, b: Amount | null) => (a === null || b === null ? null : add(a, b));
  for (const [number, edge] of body.edges.entries()) {
    const other = before?.[number] ?? null;
    const from = ids[edge.from];
    const to = edge.to === null ? "exit" : ids[edge.to];
    if (from === undefined || to === undefined) continue;
    if (from === to && from.startsWith("l")) continue;
    const key = `${from} ${to}`;
    const known = edges.get(key);
    if (known) {
      known.kinds.push(edge.kind);
      known.count = sum(known.count, edge.count);
      known.before = sum(known.before, other);
    } else {
      edges.set(key, { from, to, kinds: [edge.kind], count: edge.count, before: other, back: edge.back });
    }
  }
  if (body.edges.some((edge) => edge.to === null)) nodes.set("exit", { id: "exit", blocks: [], loop: null });
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/// The way that follows the most frequent edge out of each node, from the entry on.
export function hotPath(drawn: Drawn): Set<DrawnEdge> {
  const path = new Set<DrawnEdge>();
  const seen = new Set<string>();
  let at = drawn.nodes.find((node) => node.blocks.includes(0))?.id;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const out = drawn.edges.filter((edge) => edge.from === at && edge.count !== null && Number(edge.count) > 0);
    // Out of a loop that has been gone round already.
    const next = out.filter((edge) => !seen.has(edge.to)).sort((a, b) => Number(b.count) - Number(a.count))[0];
    if (!next) break;
    path.add(next);
    at = next.to;
  }
  return path;
}
