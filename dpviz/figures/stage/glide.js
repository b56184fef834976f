// Between two steps: marks move where the data say where they came from, everything else fades.
//
// A trace of a frame says it in `meta.from = {trace, index}`: mark i comes from mark index[i] of that trace in the step
// before; -1: from nowhere. A trace of one mark is the same mark in every step.
import { at, equal, finite, isList } from "./read.js";
import { blend, rgba } from "./paint.js";

const MOST = 5000; // marks that are moved; more jump
const between = (a, b, u) => a + u * (b - a);
const lone = (t) => (t.x?.length === 1 && finite(t.x[0]) && finite(t.y?.[0]) && !String(t.mode).includes("lines") ? t : null);
const pairs = (a, b, u) => Array.from(b, (v, i) => (finite(v) && finite(at(a, i)) ? between(at(a, i), v, u) : v));

const from = (origin, t, u) => {
  const x = Array.from(t.x ?? []), y = Array.from(t.y ?? []);
  t.meta.from.index.forEach((k, i) => {
    if (k < 0 || !finite(origin.x?.[k]) || !finite(origin.y?.[k]) || !finite(x[i])) return;
    x[i] = between(origin.x[k], x[i], u);
    y[i] = between(origin.y[k], y[i], u);
  });
  return { ...t, x, y };
};

const bars = (a, b, u) => { // as many bars as before: each grows or shrinks, and takes its new color
  const same = ["x", "y"].every((key) => a[key]?.length === b[key]?.length && Array.prototype.every.call(a[key] ?? [], (v, i) => typeof v === typeof b[key][i] && v !== null && b[key][i] !== null));
  if (!same) return null;
  const numbers = (key) => (isList(b[key]) && a[key]?.length === b[key].length ? pairs(a[key], b[key], u) : b[key]);
  const [from, to] = [a.marker?.color, b.marker?.color];
  const color = isList(to) && from?.length === to.length ? Array.from(to, (v, i) => (finite(v) ? between(from[i], v, u) : blend(from[i], v, u))) : to;
  return { ...b, x: numbers("x"), y: numbers("y"), base: numbers("base"), width: numbers("width"), marker: { ...b.marker, color } };
};

const grown = (a, b, u) => { // a line that goes on: its new part is drawn little by little
  const n = a.x?.length, m = b.x?.length;
  if (!(n > 0 && m > n) || b.fill === "toself" || !String(b.mode).includes("lines") || a.x[n - 1] !== b.x[n - 1] || a.y[n - 1] !== b.y[n - 1]) return null;
  const end = n - 1 + u * (m - n), whole = Math.floor(end), rest = end - whole, cut = (v) => {
    const head = Array.from(v.slice(0, whole + 1));
    return rest && whole + 1 < m && finite(v[whole + 1]) ? [...head, between(v[whole], v[whole + 1], rest)] : head;
  };
  return { ...b, x: cut(b.x), y: cut(b.y) };
};

/**
 * Return how trace number `i` goes from `a` to `b`: a function of the part `u` of the way, giving [trace, opacity] pairs.
 * `before` gives the traces of the earlier step by number.
 */
export const way = (i, a, b, before) => {
  if (equal(a, b)) return () => [[b, 1]];
  const source = b.meta?.from;
  if (source && b.x?.length <= MOST) {
    const origin = before(source.trace);
    return (u) => (source.trace === i ? [[from(origin, b, u), 1]] : [[a, 1 - u], [from(origin, b, u), 1]]);
  }
  if (lone(a) && lone(b)) return (u) => [[{ ...b, x: pairs(a.x, b.x, u), y: pairs(a.y, b.y, u) }, 1]];
  if (b.type === "bar" && bars(a, b, 0)) return (u) => [[bars(a, b, u), 1]];
  if (grown(a, b, 0)) return (u) => [[grown(a, b, u), 1]];
  // What both steps show must not pale on the way: opaque marks overlap, clear ones cross.
  const clear = (at(b.marker?.opacity, 0) ?? 1) < 1 || (b.fillcolor && rgba(b.fillcolor)[3] < 1);
  return (u) => (clear ? [[a, 1 - u], [b, u]] : [[a, Math.min(1, 2 - 2 * u)], [b, Math.min(1, 2 * u)]]);
};
