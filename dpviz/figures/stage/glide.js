// Between two steps, marks move if the data give their previous places; everything else fades.
//
// A frame's trace gives each mark's previous place in `meta.from = {x, y}`; NaN if it had none. A trace of
// one mark is the same mark in every step.
import { at, equal, finite, isList } from "./read.js";
import { blend, rgba } from "./paint.js";

const MOST = 5000; // marks that are moved; more jump
const between = (a, b, u) => a + u * (b - a);
const lone = (t) =>
  t.x?.length === 1 && finite(t.x[0]) && finite(t.y?.[0]) && !String(t.mode).includes("lines") ? t : null;
const pairs = (a, b, u) => Array.from(b, (v, i) => (finite(v) && finite(at(a, i)) ? between(at(a, i), v, u) : v));

const from = (origin, t, u) => {
  const go = (key) =>
    Array.from(t[key] ?? [], (v, i) =>
      finite(origin.x[i]) && finite(origin.y[i]) && finite(v) ? between(origin[key][i], v, u) : v,
    );
  return { ...t, x: go("x"), y: go("y") };
};
const became = (a, origin) => {
  // whether the moving marks start where those of the previous step were, so that none of those remains
  const places = new Set(Array.from(a.x ?? [], (x, i) => `${x},${a.y?.[i]}`));
  return Array.from(origin.x, (x, i) => !finite(x) || places.has(`${x},${origin.y[i]}`)).every(Boolean);
};

const bars = (a, b, u) => { // as many bars as before: each grows or shrinks, and takes its new color
  const same = ["x", "y"].every(
    (key) =>
      a[key]?.length === b[key]?.length &&
      Array.prototype.every.call(
        a[key] ?? [],
        (v, i) => typeof v === typeof b[key][i] && v !== null && b[key][i] !== null,
      ),
  );
  if (!same) return null;
  const numbers = (key) => (isList(b[key]) && a[key]?.length === b[key].length ? pairs(a[key], b[key], u) : b[key]);
  const [from, to] = [a.marker?.color, b.marker?.color];
  const color =
    isList(to) && from?.length === to.length
      ? Array.from(to, (v, i) => (finite(v) ? between(from[i], v, u) : blend(from[i], v, u)))
      : to;
  return {
    ...b,
    x: numbers("x"),
    y: numbers("y"),
    base: numbers("base"),
    width: numbers("width"),
    marker: { ...b.marker, color },
  };
};

const grown = (a, b, u) => { // a line that continues: its new part is drawn gradually
  const n = a.x?.length, m = b.x?.length;
  if (
    !(n > 0 && m > n) ||
    b.fill === "toself" ||
    !String(b.mode).includes("lines") ||
    a.x[n - 1] !== b.x[n - 1] ||
    a.y[n - 1] !== b.y[n - 1]
  )
    return null;
  const end = n - 1 + u * (m - n), whole = Math.floor(end), rest = end - whole, cut = (v) => {
    const head = Array.from(v.slice(0, whole + 1));
    return rest && whole + 1 < m && finite(v[whole + 1]) ? [...head, between(v[whole], v[whole + 1], rest)] : head;
  };
  return { ...b, x: cut(b.x), y: cut(b.y) };
};

/** Return the transition of a trace from `a` to `b`: a function of the fraction `u` giving [trace, opacity] pairs. */
export const way = (a, b) => {
  const origin = b.meta?.from;
  if (origin?.x?.length === b.x?.length && b.x?.length <= MOST && origin.x.some(finite)) {
    const gone = became(a, origin);
    return (u) => (gone ? [[from(origin, b, u), 1]] : [[a, 1 - u], [from(origin, b, u), 1]]);
  }
  const { meta: m, ...was } = a, { meta: n, ...will } = b;
  if (equal(was, will)) return () => [[b, 1]];
  if (lone(a) && lone(b)) return (u) => [[{ ...b, x: pairs(a.x, b.x, u), y: pairs(a.y, b.y, u) }, 1]];
  if (b.type === "bar" && bars(a, b, 0)) return (u) => [[bars(a, b, u), 1]];
  if (grown(a, b, 0)) return (u) => [[grown(a, b, u), 1]];
  // Marks that both steps show must not fade in between: opaque marks overlap, clear ones cross.
  const clear = (at(b.marker?.opacity, 0) ?? 1) < 1 || (b.fillcolor && rgba(b.fillcolor)[3] < 1);
  return (u) => (clear ? [[a, 1 - u], [b, u]] : [[a, Math.min(1, 2 - 2 * u)], [b, Math.min(1, 2 * u)]]);
};
