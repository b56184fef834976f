// Draw a figure (plotly's JSON) on a canvas, step by step, without dependencies and in any page:
//
//   if (!lacks(figure)) { const stage = new Stage(canvas, figure); stage.show(3, 400); }
//
// The unchanging parts are drawn once, to off-screen layers; a step copies these two and draws the changing marks.
import { at } from "./read.js";
import { CAP, fitted, forced, write } from "./paint.js";
import { axes, frame, grid } from "./axes.js";
import { DRAW, boxes, extent } from "./marks.js";
import { Film, range } from "./film.js";
import { annotation, shape } from "./notes.js";
import { way } from "./glide.js";

const FORCED = "(forced-colors: active)";
const ease = (u) => (u < 0.5 ? 4 * u ** 3 : 1 - (2 - 2 * u) ** 3 / 2);

export class Stage extends Film {
  /** `failed` receives an error while drawing; `zoom` maps "xaxis", "yaxis" to ranges; `scale` enlarges all. */
  constructor(
    canvas,
    figure,
    {
      step,
      zoom = null,
      scale = 1,
      failed = (error) => {
        throw error;
      },
    } = {},
  ) {
    super(matchMedia(FORCED).matches ? forced(figure) : figure);
    Object.assign(this, { canvas, original: figure, failed, ranges: zoom, scale, drawn: -1, ready: "", width: 0 });
    [this.ground, this.over] = [0, 1].map(() => document.createElement("canvas"));
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
      dots = devicePixelRatio * this.scale;
    if (!width || (width === this.width && !always)) return;
    Object.assign(this, { width, height: this.tall(width) });
    for (const one of [this.canvas, this.ground, this.over]) {
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

  /** Show a step; if it is a neighboring one, its marks move there in `ms` milliseconds. */
  show(step, ms = 0) {
    const before = this.step,
      next = this.clamp(step);
    if (next === before && (this.drawn === next || this.tick)) return;
    const same = this.group(next) === this.group(this.drawn) && this.drawn >= 0 && !this.tick;
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
    const [low, high] = [Math.min(before, next), Math.max(before, next)];
    const ways = this.parts.moving.map((i) => way(this.trace(i, low), this.trace(i, high)));
    let begin;
    const tick = (now) => {
      begin ??= now;
      const u = (now - begin) / ms;
      if (u >= 1) return this.paint();
      const part = ease(next > before ? u : 1 - u);
      this.picture(ways.flatMap((one) => one(part)));
      this.tick = requestAnimationFrame(tick);
    };
    cancelAnimationFrame(this.tick);
    this.tick = requestAnimationFrame(tick);
  }

  /** Draw the requested step now. */
  paint() {
    cancelAnimationFrame(this.tick);
    this.tick = 0;
    if (!this.width) return;
    this.picture(this.parts.moving.map((i) => [this.trace(i, this.step), 1]));
    this.drawn = this.step;
  }

  picture(traces) {
    try {
      this.layers();
      const c = this.canvas.getContext("2d");
      c.clearRect(0, 0, this.width, this.height);
      c.drawImage(this.ground, 0, 0, this.width, this.height);
      traces.forEach(([t, opacity]) => this.draw(c, t, opacity));
      c.drawImage(this.over, 0, 0, this.width, this.height);
    } catch (error) {
      this.close();
      this.failed(error);
    }
  }

  layers() {
    // the parts below and above the moving traces, redrawn only if the size, the zoom or an axis changes
    const layout = this.layoutAt(this.step),
      key = JSON.stringify([this.width, devicePixelRatio, this.ranges, this.frames[this.step]?.layout]);
    if (this.ready === key) return;
    this.ready = key;
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
    const [c, o] = [this.ground, this.over].map((one) => one.getContext("2d"));
    [c, o].forEach((one) => one.clearRect(0, 0, this.width, this.height));
    const sides = Object.values(all).filter((axis) => axis.id),
      partner = (axis) => all[axis.spec.anchor ?? (axis.across ? "y" : "x")] ?? (axis.across ? all.y : all.x);
    for (const X of sides.filter((axis) => axis.across)) {
      c.fillStyle = layout.plot_bgcolor ?? "#fff";
      c.fillRect(X.start, partner(X).start, X.length, partner(X).length);
    }
    sides.forEach((axis) => grid(c, axis, partner(axis)));
    this.parts.below.forEach((i) => this.draw(c, this.trace(i, this.step), 1));
    this.parts.above.forEach((i) => this.draw(o, this.trace(i, this.step), 1));
    sides.forEach((axis) => frame(o, axis, partner(axis)));
    (layout.shapes ?? []).forEach((one) => shape(o, one, all));
    this.title(o, layout.title ?? {}, all.area);
    (layout.annotations ?? []).forEach((one) => annotation(o, one, all, this.font));
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
      if (bar && Number.isInteger(at(steps, bar.i))) return at(steps, bar.i);
    }
    return undefined;
  }
}
