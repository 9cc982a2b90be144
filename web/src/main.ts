// The page of `cotree html`: draws what the address says.

import { comparePage } from "./compare";
import { loadIndex } from "./data";
import { h, type Child } from "./dom";
import { flamePage } from "./flame";
import { functionPage } from "./function";
import type { Index } from "./model";
import { fileName } from "./names";
import { overview, wholeOf } from "./overview";
import { blocksOf, pathsPage } from "./paths";
import { source } from "./source";
import { tracePage } from "./trace";

const bar = document.getElementById("bar") as HTMLElement;
const main = document.getElementById("main") as HTMLElement;
let drawing = 0;

function turnTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("cotree-theme", next);
  } catch {
    // The browser keeps nothing for pages from a disk.
  }
}

function heading(title: string, home: boolean): void {
  const named = index?.units.map((unit) => unit.name).join(", ") ?? "cotree";
  document.title = home ? named : `${title} – ${named}`;
  bar.replaceChildren(
    h(
      "nav",
      { class: "crumbs", "aria-label": "Where this is" },
      home
        ? [
            h("h1", {}, named),
            h("a", { href: "#/flame" }, "Flame graph"),
            index && index.paths !== null && h("a", { href: "#/paths" }, "Paths"),
            index && index.trace !== null && h("a", { href: "#/trace" }, "Trace"),
            index && index.before !== null && h("a", { href: "#/compare" }, "Compare"),
          ]
        : [h("a", { class: "home", href: "#/" }, named), h("h1", {}, title)],
    ),
    h(
      "div",
      { class: "tools" },
      h("button", { type: "button", click: turnTheme, title: "Light or dark" }, "Light/dark"),
    ),
  );
}

let index: Index | undefined;

async function show(): Promise<void> {
  const turn = ++drawing;
  // A line of the page itself.
  const [kind = "", ...rest] = decodeURIComponent(location.hash.replace(/^#\/?/, "")).split("/");
  if (/^L\d+$/.test(kind)) return;
  const number = Number(rest[0]);
  let content: Child[];
  let title = "";
  try {
    index ??= await loadIndex();
    const whole = wholeOf(index);
    if (kind === "function") {
      title = index.functions.name[number] ?? "?";
      const path = rest[1] === "path" ? await blocksOf(Number(rest[2]), number) : null;
      content = await functionPage(index, number, whole, path);
    } else if (kind === "file") {
      title = fileName(index, number);
      content = await source(index, number, whole, rest[1] === undefined ? null : Number(rest[1]));
    } else if (kind === "paths") {
      title = "Paths";
      content = await pathsPage(index, whole);
    } else if (kind === "trace" && index.trace !== null) {
      title = "Trace";
      content = await tracePage(index, whole, rest);
    } else if (kind === "compare" && index.before !== null) {
      title = "Compare";
      content = await comparePage(index);
    } else if (kind === "flame") {
      title = "Flame graph";
      content = await flamePage(index);
    } else {
      content = overview(index);
    }
  } catch (error) {
    content = [
      h(
        "p",
        { class: "doubtful", role: "alert" },
        `This can't be shown: ${error instanceof Error ? error.message : error}.`,
      ),
    ];
  }
  // The reader has gone on meanwhile.
  if (turn !== drawing) return;
  heading(title, kind === "");
  main.replaceChildren(h("div", { class: `view ${kind || "overview"}` }, content));
  document.documentElement.dataset.shown = location.hash || "#/";
  if (rest[1] === undefined) scrollTo(0, 0);
}

addEventListener("hashchange", () => void show());
main.addEventListener("click", (event) => {
  // Numbers of lines mark their line, and stay on the page.
  const local = (event.target as Element).closest<HTMLElement>("[data-local]");
  const [, kind, number] = location.hash.split("/");
  if (local && kind === "file") {
    event.preventDefault();
    location.hash = `#/file/${number}/${local.dataset.local}`;
  }
});
void show();
