// Axes: map values to pixels, and choose ticks and labels as plotly does.
import { at, isList } from "./read.js";
import { CAP, LINE, MIDDLE, fitted, textSize, write } from "./paint.js";

const STEPS = [2, 5, 10],
  DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9],
  PREFIX = { "-6": "μ", "-3": "m", 3: "k", 6: "M", 9: "B", 12: "T" };
const TOWARD = { left: 0, center: 0.5, right: 1, top: 0, middle: 0.5, bottom: 1 };
const LABEL = { size: 12, color: "#444", family: "sans-serif" };

const shown = (v, digits, exponent) => {
  const text = Math.abs(v * 10 ** -exponent).toFixed(Math.max(0, digits + exponent));
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const power = Number(short) && exponent ? (PREFIX[exponent] ?? `e${exponent}`) : "";
  return `${v < 0 && Number(short) ? "−" : ""}${short}${power}`;
};
/** Format a number for an axis whose ticks are this far apart and whose values reach `most`. */
const numeral = (v, step, most, extra = 0) => {
  const power = Math.floor(Math.log10(most || 1) + 0.01),
    exponent = Math.abs(power) > 3 ? 3 * Math.round((power - 1) / 3) : 0;
  return shown(v, 2 - Math.floor(Math.log10(step) + 0.01) + extra, exponent);
};
export const FORMAT = /^(,?)(?:\.(\d+))?([%fd])$/;
const formatted = (v, format) => {
  const [, comma, digits, kind] = FORMAT.exec(format), n = kind === "d" ? 0 : Number(digits ?? 6);
  const text = Math.abs(kind === "%" ? 100 * v : v).toLocaleString("en-US", {
    minimumFractionDigits: n,
    maximumFractionDigits: n,
    useGrouping: !!comma,
  });
  return `${v < 0 ? "−" : ""}${text}${kind === "%" ? "%" : ""}`;
};

/** One axis: `p` maps a value to pixels, `v` pixels to a value; range and positions are linear (log10 where log). */
class Axis {
  constructor(id, spec, font, traces) {
    Object.assign(this, {
      id,
      spec,
      across: id[0] === "x",
      font: { ...LABEL, family: font.family, color: font.color, ...spec.tickfont },
    });
    this.titleFont = { ...font, size: 1.2 * font.size, ...spec.title?.font };
    const values = traces.flatMap((t) => Array.from(t[this.across ? "x" : "y"] ?? []));
    const words =
      spec.type === "category" || (!spec.type && values.some((v) => typeof v === "string" && isNaN(Number(v))));
    this.type = spec.type === "log" ? "log" : words ? "category" : "linear";
    this.names = this.type === "category" ? [...new Set(values.filter((v) => v !== null))] : [];
  }

  line(v) {
    if (v === null || v === undefined || v === "") return NaN;
    return this.type === "category" && typeof v === "string"
      ? this.names.indexOf(v)
      : this.type === "log"
        ? Math.log10(v)
        : Number(v);
  }

  place(start, length, [low, high]) {
    const scale = length / (high - low || 1), flip = !this.across;
    Object.assign(this, { start, length, low, high });
    this.p0 = flip ? (v) => start + (high - v) * scale : (v) => start + (v - low) * scale;
    this.p = (v) => this.p0(this.line(v));
    this.v = (pixel) => (flip ? high - (pixel - start) / scale : low + (pixel - start) / scale);
    return this;
  }

  ticks() {
    const { spec, type, low, high } = this,
      bottom = Math.min(low, high),
      top = Math.max(low, high),
      slack = 1e-4 * (top - bottom);
    const inside = (v) => v >= bottom - slack && v <= top + slack;
    if (isList(spec.tickvals)) {
      const found = Array.from(spec.tickvals, (v, i) => ({
        v: this.line(v),
        text: at(spec.ticktext ?? spec.tickvals, i),
      }));
      return found.filter((tick) => inside(tick.v));
    }
    const room =
      spec.nticks ||
      (type === "category"
        ? this.length / (LINE * this.font.size)
        : Math.min(9, Math.max(4, this.length / (this.across ? 80 : 40))) + 1);
    const rough = (top - bottom) / room;
    if (!(rough > 0) || !Number.isFinite(rough)) return [];
    if (type === "log" && !spec.dtick) return this.powers(rough, inside, bottom, top);
    const base = 10 ** Math.floor(Math.log10(rough));
    let step = Number(spec.dtick) || base * STEPS.find((m) => m >= rough / base - 1e-9),
      first = Number(spec.tick0) || 0;
    if (type === "category") step = Math.ceil(Math.max(rough, 1));
    const found = [], start = Math.ceil((bottom - slack - first) / step);
    for (let i = start; found.length < 1000 && inside(first + i * step); i++) {
      const v = first + i * step;
      if (type === "category") {
        if (this.names[v] !== undefined) found.push({ v, text: this.names[v] });
      } else if (type === "log") found.push({ v, text: numeral(10 ** v, 10 ** v, 10 ** v, 4) });
      else
        found.push({
          v,
          text: spec.tickformat
            ? formatted(v, spec.tickformat)
            : numeral(v, step, Math.max(Math.abs(low), Math.abs(high))),
        });
    }
    return found;
  }

  powers(rough, inside, bottom, top) {
    const label = (v) => (this.spec.tickformat ? formatted(v, this.spec.tickformat) : numeral(v, v, v, 4));
    if (rough <= 0.7 && top - bottom < 1) { // there may be no power of ten in range: use linear steps
      const far = 10 ** top - 10 ** bottom,
        wide = (far * rough) / (1.5 * (top - bottom)),
        base = 10 ** Math.floor(Math.log10(wide));
      const step = base * STEPS.find((m) => m >= wide / base - 1e-9), found = [];
      for (let v = Math.ceil(10 ** bottom / step) * step; v <= 10 ** top * 1.0001; v += step)
        found.push({ v: Math.log10(v), text: numeral(v, step, 10 ** top) });
      return found;
    }
    const marks = rough > 0.7 ? [1] : rough > 0.3 ? [1, 2, 5] : DIGITS,
      every = rough > 0.7 ? Math.ceil(rough) : 1,
      found = [];
    for (let power = Math.floor(bottom / every) * every; power <= top; power += every)
      for (const mark of marks) {
        const v = power + Math.log10(mark);
        if (inside(v))
          found.push(mark === 1 ? { v, text: label(10 ** power) } : { v, text: String(mark), small: true });
      }
    return found;
  }
}

/** Return the axes of a figure by id ("x", "y2"), placed in a picture of this size; `zoom` overrides ranges. */
export const axes = (layout, traces, width, height, font, zoom, extent) => {
  const m = { l: 80, r: 80, t: 100, b: 80, ...layout.margin };
  const area = { x: m.l, y: m.t, width: Math.max(width - m.l - m.r, 10), height: Math.max(height - m.t - m.b, 10) };
  const named = { x: layout.xaxis ?? {}, y: layout.yaxis ?? {} };
  for (const key in layout) if (/^[xy]axis\d+$/.test(key)) named[key.replace("axis", "")] = layout[key];
  const all = {};
  for (const id in named) {
    const spec = named[id],
      mine = traces.filter((t) => (t[id[0] + "axis"] ?? id[0]) === id),
      axis = new Axis(id, spec, font, mine);
    const auto = !spec.range || spec.autorange === true || spec.autorange === "reversed";
    const [from, to] = spec.domain ?? [0, 1], length = (to - from) * (axis.across ? area.width : area.height);
    const given = zoom?.[id[0] + "axis" + id.slice(1)] ?? (auto ? extent(axis, mine, length) : spec.range);
    const back = spec.autorange === "reversed" ? [given[1], given[0]] : given;
    axis.place(axis.across ? area.x + from * area.width : area.y + (1 - to) * area.height, length, back.map(Number));
    all[id] = axis;
  }
  const { x, y } = all;
  if (y.spec.scaleanchor === "x") { // equal scales: the longer axis gives up room, on the side it is not constrained to
    const units = [x, y].map((axis) => Math.abs(axis.high - axis.low)),
      scale = Math.min(x.length / units[0], y.length / units[1]);
    [x, y].forEach((axis, i) => {
      const spare = axis.length - scale * units[i];
      axis.place(axis.start + spare * (TOWARD[axis.spec.constraintoward] ?? 0.5), scale * units[i], [
        axis.low,
        axis.high,
      ]);
    });
  }
  return { ...all, area };
};

const crisp = (v) => Math.round(v - 0.5) + 0.5;

export const grid = (c, axis, other) => {
  if (axis.spec.visible === false || axis.spec.showgrid === false) return;
  c.beginPath();
  for (const { v } of axis.ticks()) {
    const p = axis.p0(v);
    if (p - axis.start < 1 || axis.start + axis.length - p < 1) continue; // an axis line is there
    if (axis.across) { c.moveTo(crisp(p), other.start); c.lineTo(crisp(p), other.start + other.length); }
    else { c.moveTo(other.start, crisp(p)); c.lineTo(other.start + other.length, crisp(p)); }
  }
  c.strokeStyle = axis.spec.gridcolor ?? "#eee";
  c.lineWidth = 1;
  c.stroke();
};

/** Draw line, ticks, labels and title of an axis below (or left of) the other one's range. */
export const frame = (c, axis, other) => {
  const { spec, across, font } = axis;
  if (spec.visible === false) return;
  const edge = across ? other.start + other.length : other.start,
    ticks = axis.ticks(),
    outside = spec.ticks === "outside";
  if (spec.showline) {
    c.beginPath();
    if (across) { c.moveTo(axis.start - 1, edge + 0.5); c.lineTo(axis.start + axis.length, edge + 0.5); }
    else { c.moveTo(edge - 0.5, axis.start); c.lineTo(edge - 0.5, axis.start + axis.length); }
    c.strokeStyle = spec.linecolor ?? "#444";
    c.lineWidth = 1;
    c.stroke();
  }
  const length = outside ? spec.ticklen ?? 5 : 0;
  c.beginPath();
  if (outside) for (const { v } of ticks) {
    const p = crisp(axis.p0(v));
    if (across) { c.moveTo(p, edge + 0.5); c.lineTo(p, edge + 0.5 + length); }
    else { c.moveTo(edge - 0.5, p); c.lineTo(edge - 0.5 - length, p); }
  }
  c.strokeStyle = spec.tickcolor ?? "#444";
  c.lineWidth = 1;
  c.stroke();
  let depth = 0;
  if (spec.showticklabels !== false) {
    const gap = length + (outside || spec.showline ? 0.2 * font.size : 0) + 0.5,
      sizes = ticks.map((tick) => textSize(c, tick.text, font));
    const turned = across && crowded(axis, ticks, sizes);
    ticks.forEach((tick, i) => {
      const p = axis.p0(tick.v), mine = tick.small ? { ...font, size: 0.75 * font.size } : font;
      if (turned) slanted(c, tick.text, p, edge + gap, mine);
      else if (across) write(c, tick.text, p, edge + gap + mine.size, mine, "middle");
      else
        write(
          c,
          tick.text,
          edge - gap,
          p + MIDDLE * mine.size - ((sizes[i].count - 1) * LINE * mine.size) / 2,
          mine,
          "end",
        );
    });
    const widest = Math.max(0, ...sizes.map((s) => s.width));
    depth =
      gap +
      (across
        ? turned
          ? 0.5 * widest + font.size
          : Math.max(0, ...sizes.map((s) => s.height - s.up)) + font.size
        : widest);
  }
  if (!spec.title?.text) return;
  const away = depth + (spec.title.standoff ?? 10), middle = axis.start + axis.length / 2;
  const width = c.canvas.width / c.getTransform().a; // above the vertical axis is the title of the picture
  const room = across ? 2 * Math.min(middle, width - middle) : axis.length;
  const title = fitted(c, spec.title.text, axis.titleFont, room);
  if (across) return write(c, spec.title.text, middle, edge + away + CAP * title.size, title, "middle");
  c.save();
  c.translate(edge - away - MIDDLE * title.size, middle);
  c.rotate(-Math.PI / 2);
  write(c, spec.title.text, 0, 0, title, "middle");
  c.restore();
};

const crowded = (axis, ticks, sizes) =>
  ticks.some(
    ({ v }, i) => i && Math.abs(axis.p0(v) - axis.p0(ticks[i - 1].v)) < (sizes[i].width + sizes[i - 1].width) / 2 + 2,
  );
const slanted = (c, text, x, y, font) => {
  c.save();
  c.translate(x, y + 0.5 * font.size);
  c.rotate(Math.PI / 6);
  write(c, text, 0, 0, font);
  c.restore();
};
