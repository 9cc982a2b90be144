// Loads the scripts below `data/`: the browser lets a page from a disk load scripts, and no other files.

import type { Details, Flame, Index, Path, SourceFile } from "./model";

const waiting = new Map<string, { resolve: (packed: string) => void; reject: (why: Error) => void }>();
const loaded = new Map<string, Promise<unknown>>();

/// What each script calls.
(globalThis as unknown as { cotreeData: (name: string, packed: string) => void }).cotreeData = (name, packed) => {
  waiting.get(name)?.resolve(packed);
  waiting.delete(name);
};

async function unpack(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/// Loads a script; what it gives is kept, unless the caller does so.
export function load(name: string, keep = true): Promise<unknown> {
  const known = loaded.get(name);
  if (known) return known;
  const script = document.createElement("script");
  const packed = new Promise<string>((resolve, reject) => {
    const fail = () => reject(new Error(`data/${name}.js can't be read`));
    waiting.set(name, { resolve, reject });
    script.addEventListener("error", fail);
    // A script that ran and gave nothing is damaged.
    script.addEventListener("load", () => setTimeout(() => waiting.has(name) && fail()));
  });
  script.src = `data/${name}.js`;
  document.head.append(script);
  const data = packed.then(unpack).finally(() => script.remove());
  loaded.set(name, data);
  data.then(
    () => keep || loaded.delete(name),
    () => loaded.delete(name),
  );
  return data;
}

export const loadIndex = () => load("index") as Promise<Index>;

export async function loadFunction(index: Index, number: number): Promise<Details> {
  const group = (await load(`functions/${Math.floor(number / index.per_script)}`)) as Details[];
  const details = group[number % index.per_script];
  if (!details) throw new Error(`there is no function ${number}`);
  return details;
}

export const loadPaths = () => load("paths") as Promise<Path[]>;

export const loadFlame = () => load("flame") as Promise<Flame>;

export const loadFile = (number: number) => load(`files/${number}`) as Promise<SourceFile>;
