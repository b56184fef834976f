// Draw one event of a film as a function of the share of it that is over. `dpviz.figures.kit.events` describes acts.
import { at, finite, isList } from "./read.js";
import { blend } from "./paint.js";

const clamp = (v) => Math.max(0, Math.min(1, v));
const mix = (a, b, u) => a + (b - a) * u;
/** Return a number from 0 to 1 that looks random, the same in every picture. */
const chance = (i) => (((Math.sin(i * 127.1 + 11.7) * 43758.5453) % 1) + 1) % 1;
export const ease = (u) => (u < 0.5 ? 4 * u ** 3 : 1 - (2 - 2 * u) ** 3 / 2);
const TURNS = 34; // radians that a shaking mark's angle passes in an event
const STILL = 0.3; // share of an event during which numbers wait before they roll
const NEAR = 12; // pixels up to which a mark's way leaves no streak
const STREAK = 0.6; // opacity of a streak, as a share of that of its mark
const DEFAULT = { type: "scatter", mode: "markers" };
const picked = new WeakMap(); // places of marks that are named by their numbers

/** Return the traces of a share of an event, the first at the bottom; `trace(i, step)` gives the figure's own. */
export const acted = (event, step, share, { trace, looks, axes }) => {
  const done = []; // the places of the marks of each act, to which later ones refer
  return event.acts.flatMap((act, number) => {
    const v = over(act, share), part = (i) => begun(act, v, i + 3 * step);
    const own = act.layer === undefined ? { ...DEFAULT, ...looks[act.look] } : trace(act.layer, step + (act.at ?? 0));
    const points = (ref) => {
      if (!ref) return null;
      const whole = ref.act !== undefined ? done[ref.act] : ref.x ? ref : trace(ref.layer, step + (ref.at ?? 0));
      if (!ref.index) return whole;
      if (!picked.has(ref)) { // the same in all frames of an event
        const pick = (values) => Float64Array.from(ref.index, (i) => at(values, i) ?? NaN);
        picked.set(ref, { x: pick(whole.x ?? []), y: pick(whole.y ?? []) });
      }
      return picked.get(ref);
    };
    const to = points(act.to) ?? own, from = points(act.from) ?? (act.to || act.at ? null : own.meta?.from);
    done[number] = to;
    if (!from && Object.keys(act).every((key) => key === "layer" || key === "at")) return [{ ...own, rests: true }];
    if (act.run) return [ran(own, to, v)];
    if (act.count) return [counted(own, act, to, v, step)];
    const full = act.fill === undefined ? null : arrivals(event.acts[act.fill], share, step);
    const shown = { ...own, meta: undefined, opacity: (own.opacity ?? 1) * (act.opacity ? mix(...act.opacity, v) : 1) };
    const [x, y, sizes, lines] = places(act, own, to, from, v, part, full, axes);
    if (act.size || full) shown.marker = { ...shown.marker, size: sizes };
    if (act.color) shown.marker = { ...shown.marker, color: blend(...act.color, v) };
    const color = isList(shown.marker?.color) ? shown.marker.color[0] : shown.marker?.color;
    const line = { ...shown, mode: "lines", x: lines[0], y: lines[1], line: { width: 1, ...own.line, color } };
    if (act.rays) return [line];
    return lines[0].length ? [{ ...line, opacity: STREAK * shown.opacity }, { ...shown, x, y }] : [{ ...shown, x, y }];
  });
};

/** Return [x, y, sizes, [x, y] of lines] of the marks of an act. */
const places = (act, own, to, from, v, part, full, axes) => {
  const n = to.x?.length ?? 0, [x, y, sizes] = [0, 0, 0].map(() => new Float64Array(n)), lines = [[], []];
  const [X, Y] = [axes[own.xaxis ?? "x"], axes[own.yaxis ?? "y"]];
  const [ux, uy] = [X, Y].map((axis) => (axis.high - axis.low) / axis.length); // units a pixel
  const [sx, sy] = act.shift ?? [0, 0], still = own.marker?.size, [less, more] = act.size ?? [0, null];
  const calm = (1 - v) ** 2; // what is left of the shaking
  const draw = (x0, y0, x1, y1) => { lines[0].push(x0, x1, NaN); lines[1].push(y0, y1, NaN); };
  for (let i = 0; i < n; i++) {
    const p = part(i), u = ease(p), [x1, y1] = [to.x[i], to.y[i]];
    const moves = from && finite(from.x[i]) && finite(from.y[i]);
    const [x0, y0] = moves ? [from.x[i], from.y[i]] : [x1, y1];
    if (act.rays) {
      if (moves) draw(x0, y0, mix(x0, x1, u), mix(y0, y1, u));
      continue;
    }
    [x[i], y[i]] = [mix(x0, x1, u) + u * sx, mix(y0, y1, u) + u * sy - uy * (act.fall ?? 0) * u];
    if (act.streak && p > 0 && p < 1 && moves && Math.hypot((x1 - x0) / ux, (y1 - y0) / uy) > NEAR) {
      const late = Math.max(0, u - act.streak);
      draw(mix(x0, x1, late), mix(y0, y1, late), x[i], y[i]);
    }
    const far = act.shake ? at(act.shake, i) * calm : 0;
    x[i] += ux * far * Math.sin(v * TURNS + i * 1.7);
    y[i] += uy * far * Math.cos(v * TURNS * 0.8 + i * 2.3);
    if ((act.gone && (p <= 0 || p >= 1)) || !finite(x1)) x[i] = NaN;
    const area = (size) => (at(size, i) ?? at(still, i) ?? 6) ** 2; // areas change evenly
    const grown = full ? (full(i) ?? v) : u, tremble = act.shake ? 1 + 0.4 * calm * Math.sin(v * TURNS + i * 1.7) : 1;
    sizes[i] = tremble * Math.sqrt(Math.max(0, mix(area(less), area(more), grown)));
  }
  return [x, y, sizes, lines];
};

/** Return the share of an act that is over, and that of one of its marks. */
const over = ({ span: [begin, end] = [0, 1] }, share) => clamp((share - begin) / (end - begin));
const begun = ({ wave = 0 }, v, i) => (wave ? clamp((v - wave * chance(i)) / (1 - wave)) : v);

/** Return a function: mark i -> the share of an act's marks that have arrived there; undefined if none goes there. */
const arrivals = (act, share, step) => {
  const v = over(act, share), come = new Map(), all = new Map();
  act.to.index.forEach((i, k) => {
    all.set(i, (all.get(i) ?? 0) + 1);
    if (begun(act, v, k + 3 * step) >= 1) come.set(i, (come.get(i) ?? 0) + 1);
  });
  return (i) => (all.has(i) ? (come.get(i) ?? 0) / all.get(i) : undefined);
};

/** Return one mark that runs over points, ever slower, and stops at the last. */
const ran = (own, to, v) => {
  const last = to.x.length - 1, place = last * (1 - (1 - v) ** 2), i = Math.min(last, Math.floor(place)), u = place - i;
  const next = Math.min(last, i + 1), go = (values) => [mix(values[i], values[next], ease(u))];
  return { ...own, x: go(to.x), y: go(to.y) };
};

/** Return numbers that stand still for a while, so that they can be read, and then roll from the first to the last. */
const counted = (own, act, to, v, step) => {
  const [before, after] = act.count, u = ease(clamp((v - STILL) / (1 - STILL)));
  const text = Array.from(after, (b, i) => {
    const a = at(before, i) ?? b, roll = u * (1 - u) * 0.16 * Math.abs(b) * Math.sin(v * TURNS + i + step);
    return Math.round(mix(a, b, u) + roll).toLocaleString("en-US");
  }).map((words) => `<b>${words}</b>`);
  const color = act.color ? blend(...act.color, u) : own.textfont?.color;
  return { ...own, x: to.x, y: to.y, mode: "text", text, textfont: { ...own.textfont, color } };
};
