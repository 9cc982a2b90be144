// How amounts look, and how they compare.

import type { Amount } from "./model";

export const value = (amount: Amount | null | undefined): number => Number(amount ?? 0);

export function compare(a: Amount, b: Amount): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export function add(a: Amount, b: Amount): Amount {
  const sum = value(a) + value(b);
  return typeof a === "number" && typeof b === "number" && sum <= Number.MAX_SAFE_INTEGER
    ? sum
    : String(BigInt(a) + BigInt(b));
}

export const grouped = (amount: Amount): string => String(amount).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/// A count, marked where it is not vouched for; `?` where it is not known.
export const count = (amount: Amount | null | undefined, doubtful = false): string =>
  amount === null || amount === undefined ? "?" : `${doubtful ? "~" : ""}${grouped(amount)}`;

/// A share in percent, as the report has it: 100 % only if all is there. Nothing where there is nothing.
export function percent(part: Amount, whole: Amount): string {
  if (compare(whole, 0) === 0 || compare(part, 0) === 0) return "";
  const share = (value(part) * 100) / value(whole);
  if (share < 0.05) return "<0.1%";
  return `${(compare(part, whole) < 0 ? Math.min(share, 99.9) : share).toFixed(1)}%`;
}

/// 0 to 9 by the logarithm of a share: the class of a heat colour.
export function heat(part: Amount, most: Amount): number {
  const [x, y] = [value(part), value(most)];
  if (x <= 0 || y <= 0) return 0;
  return Math.max(1, Math.min(9, Math.round(9 + 3 * Math.log10(x / y))));
}

/// How often on average, with one digit.
export const mean = (part: Amount, whole: Amount): string =>
  compare(whole, 0) === 0 ? "-" : (value(part) / value(whole)).toLocaleString("en", { maximumFractionDigits: 1 });
