// What things are called, and where their pages are.

import { h, type Child } from "./dom";
import { STATE, type Index, type Place, type Remark } from "./model";

export const fileName = (index: Index, file: number): string => {
  const path = index.files.paths[file] ?? "?";
  return path.slice(path.lastIndexOf("/") + 1);
};

export const functionLink = (index: Index, number: number): HTMLElement =>
  h("a", { href: `#/function/${number}` }, index.functions.name[number] ?? "?");

export const fileLink = (index: Index, file: number): HTMLElement =>
  h("a", { href: `#/file/${file}`, title: index.files.paths[file] }, fileName(index, file));

export const placeLink = (index: Index, place: Place): Child =>
  place &&
  h(
    "a",
    { href: `#/file/${place[0]}/${place[1]}`, title: index.files.paths[place[0]] },
    `${fileName(index, place[0])}:${place[1]}`,
  );

export const placeOf = (index: Index, number: number): Place => {
  const file = index.functions.file[number] ?? -1;
  return file < 0 ? null : [file, index.functions.line[number] ?? 0];
};

export const isDoubtful = (index: Index, number: number): boolean => index.functions.state[number] === STATE.doubtful;

/// A remark, which unfolds what its code means.
export function explained(index: Index, [sentence, code]: Remark, before = ""): Child {
  const parts = code === null ? undefined : index.explanations[code];
  const whole = before + sentence;
  const text = whole.charAt(0).toUpperCase() + whole.slice(1);
  if (code === null || parts === undefined) return text;
  const quoted = (part: string) => part.split("`").map((piece, at) => (at % 2 === 1 ? h("code", {}, piece) : piece));
  const named = ["Why", "What to do", "Still true"].map((name, at) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, quoted(parts[at] ?? ""))),
  );
  return h("details", {}, h("summary", {}, text, " ", h("code", {}, code)), h("dl", { class: "explained" }, named));
}
