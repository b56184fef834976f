// The steps of a figure: its data with each frame's changes. Both the canvas and plotly draw from them.
import { isObject, merge, unpack } from "./read.js";
import { DRAW } from "./marks.js";
import { reached } from "./reel.js";

const LAYERS = Object.keys(DRAW);
export const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const MOMENT = 900; // milliseconds of a step without events of its own
export const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

export class Film {
  constructor(figure) {
    this.read(figure);
  }

  read(figure) {
    this.data = unpack(figure.data ?? []);
    this.layout = unpack(figure.layout ?? {});
    this.frames = figure.frames ?? [];
    this.open = new Map(); // unpacked frames
    this.font = { size: 12, family: "sans-serif", color: "#444", ...this.layout.font };
    const moving = new Set(this.frames.flatMap((f) => f.traces ?? f.data.map((_, k) => k)));
    const order = range(0, this.data.length).sort(
      (i, j) => LAYERS.indexOf(this.type(i)) - LAYERS.indexOf(this.type(j)) || i - j,
    );
    const places = order.map((i, place) => (moving.has(i) ? place : -1)).filter((place) => place >= 0);
    const [first, end] = places.length ? [places[0], places.at(-1) + 1] : [order.length, order.length];
    this.parts = { below: order.slice(0, first), moving: order.slice(first, end), above: order.slice(end) };
    const named = (values) => (Array.isArray(values) && values.some((v) => typeof v === "string") ? values : undefined);
    this.words = this.frames
      .flatMap((f) => f.data)
      .map(({ x, y }) => ({ x: named(x), y: named(y) }))
      .filter((t) => t.x || t.y);
  }

  get last() {
    return Math.max(this.frames.length - 1, 0);
  }
  clamp(step) {
    return Math.max(0, Math.min(this.last, step));
  }
  type(i) {
    return this.data[i].type ?? "scatter";
  }
  /** Return a name that is the same for steps that look the same. */
  group(step) {
    return this.frames[step]?.group ?? String(step);
  }

  /** Return the events of a run's film, by step, if the figure has any. */
  get film() {
    return this.layout.meta?.film;
  }
  /** Return the events that lead to a step. */
  events(step) {
    return this.film?.[step] ?? [{ ms: MOMENT }];
  }
  /** Return the number of the event, and the share of it, at a share of the time of a step's events. */
  at(step, share) {
    return reached(this.events(step), share);
  }

  /** Return all events in order: {step, number of the event there, number of events there, milliseconds}. */
  get course() {
    const all = (step) => this.events(step).map(({ ms }, event, { length: many }) => ({ step, event, many, ms }));
    return (this.told ??= range(0, this.last + 1).flatMap(all));
  }
  /** Return the step, and the moment of it, at a share of a tick of a clock that several films share; null before the
   *  first event. `ends` says how many events are over at the end of each tick. */
  placed(ends, tick, share) {
    const [from, to] = [tick > 0 ? ends[tick - 1] : 0, ends[tick]];
    if (!to || (!from && share <= 0)) return null;
    const passed = this.course.slice(from, to), rests = !passed.length || share >= 1;
    const [i, part] = rests ? [to - from - 1, 1] : reached(passed, share);
    const { step, event, many } = this.course[from + i];
    return [step, { event, share: part, pays: many - 1, paid: 1, many }];
  }

  frame(step) {
    if (!this.open.has(step) && this.frames[step]) this.open.set(step, unpack(this.frames[step]));
    return this.open.get(step);
  }

  /** Return trace number `i` as it is at a step. */
  trace(i, step) {
    const f = this.frame(step),
      k = f ? (f.traces ? f.traces.indexOf(i) : f.data[i] ? i : -1) : -1;
    return { type: "scatter", ...(k < 0 ? this.data[i] : merge({ ...this.data[i], meta: undefined }, f.data[k])) };
  }

  layoutAt(step) {
    return isObject(this.frames[step]?.layout) ? merge(this.layout, this.frame(step).layout) : this.layout;
  }

  /** Return the height of a picture of this width: planes with `meta.ar` keep their shape. */
  tall(width) {
    const { meta, margin: m, height = 300 } = this.layout;
    return meta?.ar ? Math.round(Math.min(meta.h, (width - m.l - m.r) * meta.ar + m.t + m.b)) : height;
  }

  /** Return {data, layout} of a step, for plotly to draw the same picture. */
  shown(step, width) {
    const { meta: { film, ...meta } = {}, ...rest } = this.layoutAt(step), ended = !this.hides(step);
    const layout = { ...structuredClone(rest), meta, width, height: this.tall(width) }, words = film?.[step].at(-1);
    if (words && !meta.quiet) layout.title = { ...layout.title, text: `<b>${escaped(words.head)}</b>` };
    const all = range(0, this.data.length).map((i) => this.trace(i, step));
    return { data: all.map((t) => (ended || !t.meta?.end ? t : { ...t, visible: false })), layout };
  }

  /** Return whether a step's picture leaves out what only the last one shows, such as the centers of KMeans. */
  hides(step) {
    return Boolean(this.film) && !this.layout.meta.quiet && !this.early && step !== this.last;
  }
}
