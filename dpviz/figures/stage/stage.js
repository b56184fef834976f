// Draw a figure (plotly's JSON) on a canvas, step by step, without dependencies and in any page:
//
//   if (!lacks(figure)) { const stage = new Stage(canvas, figure); stage.show(3, 400); }
//
// The unchanging parts are drawn once, to off-screen layers; a step copies these two and draws the changing marks.
import { at } from "./read.js";
import { CAP, fitted, forced, halved, stroke, write } from "./paint.js";
import { axes, frame, grid } from "./axes.js";
import { DRAW, boxes, extent } from "./marks.js";
import { Film, escaped, range } from "./film.js";
import { annotation, shape } from "./notes.js";
import { acted, ease } from "./events.js";
import { way } from "./glide.js";

const FORCED = "(forced-colors: active)";
const HEAD = 17, TAIL = 13.5, LOW = 11; // font sizes of a caption, and of one that needs two lines
const MOVES = 0.7; // share of an event without acts during which its marks move
const SMALL = 0.34, FAINT = 0.45; // size of the marks of a small picture; opacity of what never moves there
const LENS = 0.23, LEAST = 1.8, MOST = 20; // a lens' radius as a share of the plane's shorter side; its enlargements

export class Stage extends Film {
  /** `failed` receives an error while drawing; `zoom` maps "xaxis", "yaxis" to ranges; `scale` enlarges all, and
   * `sharp` multiplies the dots. */
  constructor(
    canvas,
    figure,
    {
      step,
      zoom = null,
      scale = 1,
      sharp = 1,
      failed = (error) => {
        throw error;
      },
    } = {},
  ) {
    super(matchMedia(FORCED).matches ? forced(figure) : figure);
    Object.assign(this, { canvas, original: figure, failed, ranges: zoom, scale, sharp });
    Object.assign(this, { drawn: -1, ready: "", width: 0 });
    [this.ground, this.crowd, this.calm, this.over] = [0, 1, 2, 3].map(() => document.createElement("canvas"));
    this.step = this.clamp(step ?? this.last);
    this.watch();
    this.resize();
  }

  watch() {
    const again = () => {
        this.ready = "";
        this.paint();
      },
      system = matchMedia(FORCED),
      recolor = () => {
        this.read(system.matches ? forced(this.original) : this.original);
        again();
      };
    const sized = new ResizeObserver(() => this.resize());
    let density = null;
    const dense = () => {
      density?.removeEventListener("change", dense);
      density = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
      density.addEventListener("change", dense);
      this.resize(true);
    };
    this.close = () => {
      cancelAnimationFrame(this.tick);
      sized.disconnect();
      density?.removeEventListener("change", dense);
      system.removeEventListener("change", recolor);
      document.fonts.removeEventListener("loadingdone", again);
    };
    sized.observe(this.canvas.parentElement);
    system.addEventListener("change", recolor);
    document.fonts.addEventListener("loadingdone", again);
    dense(); // draws, and closes the stage if that fails
  }

  /** Fit the picture to its width. */
  resize(always = false) {
    const width = this.canvas.parentElement?.clientWidth / this.scale,
      dots = devicePixelRatio * this.scale * this.sharp;
    if (!width || (width === this.width && !always)) return;
    Object.assign(this, { width, height: this.tall(width) });
    for (const one of [this.canvas, this.ground, this.crowd, this.calm, this.over]) {
      one.width = Math.round(this.width * dots);
      one.height = Math.round(this.height * dots);
      one.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
    }
    Object.assign(this.canvas.style, {
      width: `${this.width * this.scale}px`,
      height: `${this.height * this.scale}px`,
    });
    this.ready = "";
    this.paint();
  }

  /** Show a step; if it is a neighboring one, its marks move there in `ms` milliseconds, through all its events. */
  show(step, ms = 0) {
    const before = this.step,
      next = this.clamp(step);
    if (next === before && !this.between && (this.drawn === next || this.tick)) return;
    const rests = !this.tick && !this.between && !this.film;
    const same = this.group(next) === this.group(this.drawn) && this.drawn >= 0 && rests;
    this.step = next;
    if (same) this.drawn = next;
    else if (ms > 0 && Math.abs(next - before) === 1 && this.layoutAt(next) === this.layoutAt(before) && this.width)
      this.glide(before, next, ms);
    else this.paint();
  }

  /** Show other ranges, or the figure's own (null). */
  zoom(ranges) {
    this.ranges = ranges;
    this.ready = "";
    this.paint();
  }

  glide(before, next, ms) {
    const step = Math.max(before, next), all = this.events(step).reduce((sum, event) => sum + event.ms, 0);
    const long = next > before && this.events(step).some((event) => event.acts) ? Math.max(ms, all) : ms;
    let begin;
    const tick = (now) => {
      begin ??= now;
      const u = (now - begin) / long;
      this.step = next;
      if (u >= 1) return this.paint();
      const [i, share] = this.at(step, next > before ? u : 1 - u);
      this.seek(step, i, share);
      this.step = next;
      this.tick = requestAnimationFrame(tick);
    };
    cancelAnimationFrame(this.tick);
    this.tick = requestAnimationFrame(tick);
  }

  /** Draw a moment of a `Reel`; a meter moves by what is paid, another figure without a film in one event. */
  moment(step, { event, share, pays, paid, many }) {
    if (event >= many - 1 && share >= 1) return this.show(step);
    if (this.film) {
      const own = this.events(step).length === many;
      return this.seek(step, ...(own ? [event, share] : this.at(step, (event + share) / many)));
    }
    const meter = this.layout.meta?.meter;
    if (step === 0 && (meter ? paid < 1 : event < pays)) return this.bare();
    if (meter) return paid < 1 ? this.seek(step, 0, paid) : this.show(step);
    if (event < pays) return this.show(Math.max(step - 1, 0));
    return event > pays ? this.show(step) : this.seek(step, 0, share);
  }

  /** Draw a share of event number `i` of those that lead to a step; the whole last one is the step's own picture. */
  seek(step, i, share) {
    cancelAnimationFrame(this.tick);
    this.tick = 0;
    this.step = this.clamp(step);
    const events = this.events(this.step), event = events[i];
    if (!this.width || (share >= 1 && i === events.length - 1)) return this.paint();
    this.between = true;
    this.drawn = Math.max(this.step - 1, 0); // the last step whose events are over
    this.picture(event, share, () => {
      const trace = (k, at) => this.trace(k, this.clamp(at)), { looks } = this.layout.meta ?? {};
      if (event.acts) return acted(event, this.step, share, { trace, looks, axes: this.axes }).map((t) => [t, 1]);
      const pays = events.findLastIndex((one) => one.pays !== 0), moves = pays < 0 ? events.length - 1 : pays;
      if (i !== moves) return this.still(i < moves ? this.step - 1 : this.step); // one event moves, not each of them
      if (this.step === 0) return this.still();
      const u = this.layout.meta?.meter ? share : ease(Math.min(1, share / MOVES));
      return this.ways().flatMap((one) => one(u));
    });
  }

  /** Return the ways of the marks from the previous step to this one. */
  ways() {
    if (this.going?.step !== this.step) {
      const [before, now] = [this.step - 1, this.step];
      this.going = { step: now, all: this.parts.moving.map((i) => way(this.trace(i, before), this.trace(i, now))) };
    }
    return this.going.all;
  }

  still(step = this.step) {
    if (step < 0) return [];
    const shown = this.parts.moving.filter((i) => !this.hides(this.step) || !this.data[i].meta?.end);
    return shown.map((i) => [this.trace(i, step), 1]);
  }

  /** Draw the first step's picture without its marks, as before the first release. */
  bare() {
    cancelAnimationFrame(this.tick);
    Object.assign(this, { tick: 0, step: 0, drawn: -1, between: true });
    if (this.width) this.picture(this.events(0)[0], 0, () => []);
  }

  /** Draw the requested step now. */
  paint() {
    cancelAnimationFrame(this.tick);
    this.tick = 0;
    if (!this.width) return;
    this.picture(this.events(this.step).at(-1), 1, () => this.still());
    this.drawn = this.step;
    this.between = false;
  }

  /** Draw what `traces` returns, with the caption of an event, of which a share is over. */
  picture(event, share, traces) {
    try {
      this.whole = share >= 1 && event === this.events(this.step).at(-1);
      this.layers();
      const c = this.canvas.getContext("2d"), size = [0, 0, this.width, this.height], [from, to] = event.dim ?? [1, 1];
      c.clearRect(...size);
      c.drawImage(this.ground, ...size);
      c.globalAlpha = from + (to - from) * share;
      c.drawImage(this.crowd, ...size);
      c.globalAlpha = 1;
      const moving = traces();
      const moves = moving.findIndex(([t]) => !t.rests), rests = moves < 0 ? moving.length : moves;
      if (rests) c.drawImage(this.rest(event, moving.slice(0, rests)), ...size);
      moving.slice(rests).forEach(([t, opacity]) => this.draw(c, t, opacity));
      if (event.lens) this.enlarge(c, event.lens, share, moving);
      c.drawImage(this.over, ...size);
      if (this.film && !this.layout.meta.quiet) this.captioned(c, event);
    } catch (error) {
      this.close();
      this.failed(error);
    }
  }

  /** Return the layer of the lowest marks of an event, as far as they rest while it happens; they are drawn once. */
  rest(event, marks) {
    if (this.rests !== event) {
      const c = this.calm.getContext("2d");
      c.clearRect(0, 0, this.width, this.height);
      marks.forEach(([t, opacity]) => this.draw(c, t, opacity));
      this.rests = event;
    }
    return this.calm;
  }

  /** Draw a part of the picture enlarged, in a corner. */
  enlarge(c, [x, y, radius, [right, top]], share, moving) {
    const { x: X, y: Y } = this.axes, [px, py] = [X.p(x), Y.p(y)], full = LENS * Math.min(X.length, Y.length);
    const near = Math.max(Math.abs(X.p(x + radius) - px), full / MOST), edge = full + 6;
    const [cx, cy] = [X.start + (right ? X.length - edge : edge), Y.start + (top ? edge : Y.length - edge)];
    const away = Math.hypot(cx - px, cy - py), room = Math.min(full, away - near - edge / 8);
    const R = room * ease(Math.min(1, share * 5)), times = R / near;
    if (!(times > LEAST)) return;
    const through = (axis, from, to) => ({ ...axis, p: (v) => to + (axis.p(v) - from) * times });
    const axes = [through(X, px, cx), through(Y, py, cy)], ink = this.font.color;
    c.save();
    c.beginPath();
    c.arc(px, py, near, 0, 7);
    c.moveTo(px + ((cx - px) / away) * near, py + ((cy - py) / away) * near);
    c.lineTo(cx, cy);
    stroke(c, ink, 1);
    c.beginPath();
    c.arc(cx, cy, R, 0, 7);
    c.fillStyle = this.layout.plot_bgcolor ?? "#fff";
    c.fill();
    c.clip();
    const below = this.parts.below.map((i) => [this.trace(i, this.step), 0.6]);
    for (const [t, opacity] of [...below, ...moving]) {
      c.save();
      c.globalAlpha = opacity * (t.opacity ?? 1);
      if (t.type === "scatter") DRAW.scatter(c, t, ...axes, { font: this.font });
      c.restore();
    }
    c.beginPath();
    c.arc(cx, cy, R, 0, 7);
    stroke(c, ink, 3);
    write(c, `${Math.round(times)} ×`, cx, cy + R - 8, { ...this.font, halo: this.layout.plot_bgcolor }, "middle");
    c.restore();
  }

  /** Write an event's caption in place of a title. */
  captioned(c, event) {
    if (this.fit?.event !== event) { // measuring words takes as long as drawing many marks
      const room = this.width - 4, ink = { ...this.font, ...this.layout.title?.font };
      const gray = this.layout.modebar?.color ?? ink.color, head = `<b>${escaped(event.head)}</b>`;
      const big = fitted(c, head, { ...ink, size: HEAD }, room), plain = { ...ink, size: TAIL, color: gray };
      this.fit = { event, head, big, tail: escaped(event.tail), high: 0 };
      this.fit.small = fitted(c, this.fit.tail, plain, room);
      if (this.fit.small.size < LOW) { // two lines that can be read, in place of one that cannot
        this.fit.tail = halved(this.fit.tail);
        this.fit.small = fitted(c, this.fit.tail, { ...plain, size: LOW }, room);
        this.fit.high = 3;
      }
    }
    const { head, big, tail, small, high } = this.fit;
    write(c, head, 0, CAP * HEAD + 5 - high, big);
    write(c, tail, 0, CAP * HEAD + (high ? 17 : 25), small);
  }

  layers() {
    // the parts below and above the moving traces, redrawn only if the size, the zoom, an axis or the end changes
    const ended = !this.hides(this.step) && (!this.film || this.early || this.layout.meta.quiet || this.whole);
    const layout = this.layoutAt(this.step),
      key = JSON.stringify([this.width, devicePixelRatio, this.ranges, ended, this.frames[this.step]?.layout]);
    if (this.ready === key) return;
    Object.assign(this, { ready: key, fit: null, rests: null });
    const own = this.frames[this.step]?.layout ?? {},
      ranges = { ...this.ranges };
    for (const axis in own) if (own[axis].range) delete ranges[axis];
    const all = (this.axes = axes(
      layout,
      [...this.data, ...this.words],
      this.width,
      this.height,
      this.font,
      ranges,
      extent,
    ));
    const [c, p, o] = [this.ground, this.crowd, this.over].map((one) => one.getContext("2d"));
    [c, p, o].forEach((one) => one.clearRect(0, 0, this.width, this.height));
    const sides = Object.values(all).filter((axis) => axis.id),
      partner = (axis) => all[axis.spec.anchor ?? (axis.across ? "y" : "x")] ?? (axis.across ? all.y : all.x);
    for (const X of sides.filter((axis) => axis.across)) {
      c.fillStyle = layout.plot_bgcolor ?? "#fff";
      c.fillRect(X.start, partner(X).start, X.length, partner(X).length);
    }
    sides.forEach((axis) => grid(c, axis, partner(axis)));
    const shown = (i) => ended || !this.data[i].meta?.end;
    this.parts.below.forEach((i) => this.draw(p, this.trace(i, this.step), 1));
    this.parts.above.filter(shown).forEach((i) => this.draw(o, this.trace(i, this.step), 1));
    sides.forEach((axis) => frame(o, axis, partner(axis)));
    (layout.shapes ?? []).forEach((one) => shape(o, one, all));
    if (!this.film) this.title(o, layout.title ?? {}, all.area);
    (layout.annotations ?? []).forEach((one) => annotation(o, one, all, this.font));
  }

  /** Draw a step's marks alone into a small picture at [x, y] of width w and height h; its plane keeps its shape. */
  small(c, step, [x, y, w, h]) {
    const layout = this.layoutAt(step), words = [...this.data, ...this.words], whole = this.axes;
    const all = axes(layout, words, this.width, this.height, this.font, {}, extent), { area } = all;
    const times = Math.min(w / area.width, h / area.height), near = times / SMALL;
    const shrunk = (axis) => {
      const to = (v) => (v - (axis.across ? area.x : area.y)) * near, p = (v) => to(axis.p(v));
      const size = { start: to(axis.start), length: axis.length * near };
      return Object.assign(Object.create(axis), size, { p, p0: (v) => to(axis.p0(v)) });
    };
    const shown = (i) => step === this.last || !this.data[i].meta?.end;
    const marks = [...this.parts.moving, ...this.parts.above].filter(shown).map((i) => this.trace(i, step));
    c.save();
    c.beginPath();
    c.rect(x, y, w, h);
    c.clip();
    c.fillStyle = layout.plot_bgcolor ?? "#fff";
    c.fillRect(x, y, w, h);
    c.translate(x + (w - area.width * times) / 2, y + (h - area.height * times) / 2);
    c.scale(SMALL, SMALL);
    this.axes = Object.fromEntries(Object.entries(all).map(([id, axis]) => [id, axis.spec ? shrunk(axis) : axis]));
    this.parts.below.forEach((i) => this.draw(c, this.trace(i, step), FAINT));
    for (const t of marks) if (t.mode !== "text") this.draw(c, t, 1);
    this.axes = whole;
    c.restore();
  }

  title(c, title, area) {
    if (!title.text) return;
    const font = { ...this.font, size: 1.4 * this.font.size, ...title.font },
      x = title.x ?? 0.5;
    const left = title.xref === "paper" ? area.x + x * area.width : x * this.width;
    const align = { left: "start", right: "end" }[title.xanchor] ?? (x < 1 / 3 ? "start" : "middle");
    const right = this.width - left, room = { start: right, end: left, middle: 2 * Math.min(left, right) }[align];
    const fit = fitted(c, title.text, font, room);
    write(c, title.text, left, (title.pad?.t ?? 0) + CAP * font.size, fit, align);
  }

  draw(c, t, opacity) {
    if (t.visible === false || t.visible === "legendonly" || opacity <= 0) return;
    const X = this.axes[t.xaxis ?? "x"],
      Y = this.axes[t.yaxis ?? "y"];
    c.save();
    c.beginPath();
    c.rect(X.start, Y.start, X.length, Y.length);
    c.clip();
    c.globalAlpha = opacity * (t.opacity ?? 1);
    DRAW[t.type](c, t, X, Y, { font: this.font, layout: this.layout, area: this.axes.area });
    c.restore();
  }

  /** Return the step that a click at this place leads to, if any: that of the smallest region there, or of a bar. */
  hit(px, py) {
    if (!this.axes) return undefined;
    [px, py] = [px / this.scale, py / this.scale];
    const { x: X, y: Y } = this.axes,
      regions = this.layout.meta?.regions,
      [x, y] = [X.v(px), Y.v(py)];
    if (px < X.start || px > X.start + X.length || py < Y.start || py > Y.start + Y.length) return undefined;
    const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
    const around = (regions?.[this.step] ?? regions?.[0] ?? []).filter(
      ([x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1,
    );
    if (around.length) return around.sort((a, b) => area(a) - area(b))[0][4];
    for (const i of range(0, this.data.length).reverse()) {
      const t = this.trace(i, this.step),
        steps = t.type === "bar" && t.customdata;
      if (!steps) continue;
      const inside = (a, b, v) => Math.min(a, b) <= v && v <= Math.max(a, b);
      const bar = boxes(t, this.axes[t.xaxis ?? "x"], this.axes[t.yaxis ?? "y"], this.layout).find(
        ({ x0, x1, y0, y1 }) => inside(x0, x1, px) && inside(y0, y1, py),
      );
      const clear = bar && /,\s*0\)$/.test(at(t.marker?.color, bar.i) ?? ""); // not grown yet
      if (bar && !clear && Number.isInteger(at(steps, bar.i))) return at(steps, bar.i);
    }
    return undefined;
  }
}
