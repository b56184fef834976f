// Draw traces: points, lines, areas, bars, cells. Sizes and rounding follow plotly, the reference.
import { at, finite, isList } from "./read.js";
import { LINE, lines, rgba, shade, stroke, textSize, write } from "./paint.js";

const polygon =
  (...corners) =>
  (c, r) =>
    corners.forEach(([x, y], i) => (i ? c.lineTo(x * r, y * r) : c.moveTo(x * r, y * r))) ?? c.closePath();
const segments =
  (...ends) =>
  (c, r) =>
    ends.forEach(([x0, y0, x1, y1]) => {
      c.moveTo(x0 * r, y0 * r);
      c.lineTo(x1 * r, y1 * r);
    });
const T = 2 / Math.sqrt(3), H = Math.sqrt(3) / 2, X = 0.8 / Math.SQRT2;
const FILLED = {
  circle: (c, r) => c.arc(0, 0, r, 0, 2 * Math.PI),
  square: (c, r) => c.rect(-r, -r, 2 * r, 2 * r),
  diamond: polygon([1.3, 0], [0, 1.3], [-1.3, 0], [0, -1.3]),
  cross: polygon(
    [1.2, 0.4],
    [0.4, 0.4],
    [0.4, 1.2],
    [-0.4, 1.2],
    [-0.4, 0.4],
    [-1.2, 0.4],
    [-1.2, -0.4],
    [-0.4, -0.4],
    [-0.4, -1.2],
    [0.4, -1.2],
    [0.4, -0.4],
    [1.2, -0.4],
  ),
  x: polygon(
    [0, X],
    [X, 2 * X],
    [2 * X, X],
    [X, 0],
    [2 * X, -X],
    [X, -2 * X],
    [0, -X],
    [-X, -2 * X],
    [-2 * X, -X],
    [-X, 0],
    [-2 * X, X],
    [-X, 2 * X],
  ),
  "triangle-up": polygon([-T, 0.5], [T, 0.5], [0, -1]),
  "triangle-down": polygon([-T, -0.5], [T, -0.5], [0, 1]),
  "triangle-left": polygon([0.5, -T], [0.5, T], [-1, 0]),
  "triangle-right": polygon([-0.5, -T], [-0.5, T], [1, 0]),
  hexagon: polygon([H, -0.5], [H, 0.5], [0, 1], [-H, 0.5], [-H, -0.5], [0, -1]),
  star: polygon(
    [0.315, -0.4326],
    [1.3314, -0.4326],
    [0.5082, 0.1652],
    [0.8232, 1.1326],
    [0, 0.5348],
    [-0.8232, 1.1326],
    [-0.5082, 0.1652],
    [-1.3314, -0.4326],
    [-0.315, -0.4326],
    [0, -1.4],
  ),
};
const THIN = {
  "line-ew": segments([-1.4, 0, 1.4, 0]),
  "line-ns": segments([0, -1.4, 0, 1.4]),
  "x-thin": segments([-1, -1, 1, 1], [-1, 1, 1, -1]),
  "cross-thin": segments([-1.4, 0, 1.4, 0], [0, -1.4, 0, 1.4]),
};
const OUTLINES = { ...FILLED, ...THIN };
const read = new Map(); // symbols by name: [outline, open or open-dot]
const symbolOf = (name = "circle") => {
  if (!read.has(name)) read.set(name, String(name).split(/-(open|open-dot)$/));
  return read.get(name);
};
export const SYMBOLS = Object.keys(OUTLINES).flatMap((name) => [name, `${name}-open`, `${name}-open-dot`]);

const DEFAULT = "#1f77b4";

const outline = (c, t, x, y) => { // the line through the points, with gaps where a point is missing
  let down = false;
  for (let i = 0; i < x.length; i++) {
    const here = finite(x[i]) && finite(y[i]);
    if (here) c[down ? "lineTo" : "moveTo"](x[i], y[i]);
    down = here;
  }
};

const markers = (c, t, x, y) => {
  const m = t.marker ?? {},
    line = m.line ?? {},
    bubble = isList(m.size),
    base = c.globalAlpha,
    color = m.color ?? t.line?.color ?? DEFAULT;
  const edge = line.color ?? (t.line?.color && t.line.color !== m.color ? t.line.color : bubble ? "#fff" : "#444");
  for (let i = 0; i < x.length; i++) {
    if (!finite(x[i]) || !finite(y[i])) continue;
    const [symbol, open] = symbolOf(at(m.symbol, i) ?? undefined);
    const fill = shadeOf(m, at(color, i));
    const width = at(line.width, i) ?? (bubble ? 1 : 0), radius = (at(m.size, i) ?? 6) / 2;
    if (!(radius > 0)) continue;
    c.globalAlpha = base * (at(m.opacity, i) ?? (bubble ? 0.7 : 1));
    c.beginPath();
    if (symbol === "circle" && open !== "open-dot") c.arc(x[i], y[i], radius, 0, 2 * Math.PI);
    else { // a transform takes longer than drawing the mark
      c.translate(x[i], y[i]);
      OUTLINES[symbol](c, radius);
      if (open === "open-dot") polygon([0, 0.5], [0.5, 0], [0, -0.5], [-0.5, 0])(c, 1);
      c.translate(-x[i], -y[i]);
    }
    if (!open && FILLED[symbol]) { c.fillStyle = fill; c.fill(); }
    if (open || width) stroke(c, open ? fill : shadeOf(line, at(edge, i)), width || 1);
  }
  c.globalAlpha = base;
};

const shadeOf = (m, color) =>
  typeof color === "number" ? shade(m.colorscale, color, m.cmin ?? 0, m.cmax ?? 1) : color;

const words = (c, t, x, y, font) => {
  const marked = (t.mode ?? "").includes("markers");
  for (let i = 0; i < x.length; i++) {
    const text = at(t.text, i);
    if (!text || !finite(x[i]) || !finite(y[i])) continue;
    const own = t.textfont ?? {},
      mine = { ...font, size: at(own.size, i) ?? font.size, color: at(own.color, i) ?? font.color };
    mine.halo = own.shadow?.split(" ").pop(); // the color of a CSS shadow
    const place = at(t.textposition, i) ?? "middle center", room = marked ? (at(t.marker?.size, i) ?? 6) / 1.6 + 1 : 0;
    const side = place.includes("left") ? -1 : place.includes("right") ? 1 : 0,
      down = place.includes("top") ? -1 : place.includes("bottom") ? 1 : 0;
    const tall = 1 + (lines(text).length - 1) * LINE;
    const baseline = y[i] + 0.75 * mine.size + down * room + ((down - 1) * tall * mine.size) / 2;
    write(c, text, x[i] + side * room, baseline, mine, ["end", "middle", "start"][side + 1]);
  }
};

const whiskers = (c, e, x, y, value, axis) => { // error bars upward and downward, with caps
  if (!e || e.visible === false || !isList(e.array)) return;
  const down = e.symmetric === false ? (e.arrayminus ?? []) : e.array;
  c.beginPath();
  x.forEach((px, i) => {
    if (!finite(px) || !finite(e.array[i])) return;
    const ends = [value[i] - (down[i] ?? 0), value[i] + e.array[i]].map((v) => axis.p(v)), cap = e.width ?? 4;
    if (!ends.every(finite)) return;
    c.moveTo(px, ends[0]);
    c.lineTo(px, ends[1]);
    for (const end of ends) { c.moveTo(px - cap, end); c.lineTo(px + cap, end); }
  });
  stroke(c, e.color ?? "#444", e.thickness ?? 2);
};

const scatter = (c, t, X, Y, { font }) => {
  const x = Array.from(t.x ?? [], X.p),
    y = Array.from(t.y ?? [], Y.p),
    mode = t.mode ?? (x.length < 20 ? "lines+markers" : "lines");
  c.beginPath();
  outline(c, t, x, y);
  if (t.fill === "toself") { c.fillStyle = t.fillcolor ?? "rgba(31,119,180,0.5)"; c.fill("nonzero"); }
  whiskers(c, t.error_y, x, y, t.y ?? [], Y);
  if (mode.includes("lines")) {
    c.beginPath();
    outline(c, t, x, y);
    c.lineJoin = "round";
    stroke(c, t.line?.color ?? t.marker?.color ?? DEFAULT, t.line?.width ?? 2, t.line?.dash);
    c.lineJoin = "miter";
  }
  const free = t.cliponaxis === false; // marks and words may cross the edge if their points lie within it
  if (free) {
    unclip(c);
    x.forEach((px, i) => { if (outside(px, X) || outside(y[i], Y)) x[i] = NaN; });
  }
  if (mode.includes("markers")) markers(c, t, x, y);
  if (mode.includes("text")) words(c, t, x, y, font);
};
const outside = (v, axis) => v < axis.start - 0.01 || v > axis.start + axis.length + 0.01; // in pixels
const unclip = (c) => { const alpha = c.globalAlpha; c.restore(); c.save(); c.globalAlpha = alpha; };

/** Return one box {x0, x1, y0, y1, i} per bar, in pixels; x0 (y1 if upright) is its start. */
export const boxes = (t, X, Y, layout) => {
  const flat = t.orientation === "h", along = flat ? Y : X, up = flat ? X : Y, gap = layout.bargap ?? 0.2, found = [];
  const size = (flat ? t.x : t.y) ?? [],
    where = Array.from((flat ? t.y : t.x) ?? size.map((_, i) => i), (v) => along.line(v));
  const sorted = [...new Set(where.filter(finite))].sort((a, b) => a - b), line = t.marker?.line?.width ?? 0;
  const apart = Math.min(...sorted.slice(1).map((v, i) => v - sorted[i]), Infinity),
    wide = (1 - gap) * (apart === Infinity ? 1 : apart);
  const clear = isList(t.marker?.color)
    ? 1
    : rgba(typeof t.marker?.color === "string" ? t.marker.color : "#000")[3] * (at(t.marker?.opacity, 0) ?? 1);
  const snap = (v) => (gap === 0 ? Math.round(v) - ((line / 2) % 1) : v);
  const fix = (v, other) =>
    clear < 1 || line || Math.abs(v - other) >= 2 ? snap(v) : v > other ? Math.ceil(v) : Math.floor(v);
  for (let i = 0; i < size.length; i++) {
    const from = Number(at(t.base, i) ?? 0), width = at(t.width, i) ?? wide;
    if (!finite(where[i]) || size[i] === null || !finite(Number(size[i]))) continue;
    const a = along.p0(where[i] - width / 2), b = along.p0(where[i] + width / 2);
    const s = up.p0(up.line(from) === -Infinity ? Math.min(up.low, up.high) : up.line(from)),
      e = up.p(from + Number(size[i]));
    if (!finite(e)) continue;
    const u0 = fix(s, e), u1 = fix(e, u0), v0 = fix(a, b), v1 = fix(b, v0);
    found.push(flat ? { x0: u0, x1: u1, y0: v0, y1: v1, i } : { x0: v0, x1: v1, y0: u1, y1: u0, i });
  }
  return found;
};

const hatches = new Map();
const hatch = (c, shape, color, size, solidity, origin) => {
  const scale = c.getTransform().a, key = [shape, size, solidity, color, scale].join();
  const side = shape === "/" || shape === "\\" || shape === "x" ? size * Math.SQRT2 : size;
  if (!hatches.has(key)) {
    const tile = document.createElement("canvas"),
      pen = tile.getContext("2d"),
      n = Math.max(1, Math.round(side * scale));
    tile.width = tile.height = n;
    pen.scale(n / side, n / side);
    pen.beginPath();
    for (const shift of [-side, 0, side]) {
      if (shape === "/" || shape === "x") { pen.moveTo(shift - side, 2 * side); pen.lineTo(shift + 2 * side, -side); }
      if (shape === "\\" || shape === "x") { pen.moveTo(shift - side, -side); pen.lineTo(shift + 2 * side, 2 * side); }
    }
    if (shape === "-" || shape === "+") { pen.moveTo(0, side / 2); pen.lineTo(side, side / 2); }
    if (shape === "|" || shape === "+") { pen.moveTo(side / 2, 0); pen.lineTo(side / 2, side); }
    stroke(pen, color, solidity * size);
    hatches.set(key, [tile, side / n]);
  }
  const [tile, zoom] = hatches.get(key), pattern = c.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().translate(origin.x, origin.y).scale(zoom));
  return pattern;
};

const bar = (c, t, X, Y, { font, layout, area }) => {
  const m = t.marker ?? {},
    line = m.line ?? {},
    p = m.pattern ?? {},
    base = c.globalAlpha,
    found = boxes(t, X, Y, layout);
  for (const { x0, x1, y0, y1, i } of found) {
    const shape = at(p.shape, i), color = shadeOf(m, at(m.color, i) ?? DEFAULT), width = at(line.width, i) ?? 0;
    c.globalAlpha = base * (at(m.opacity, i) ?? 1);
    c.beginPath();
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.fillStyle = shape ? hatch(c, shape, color, at(p.size, i) ?? 8, p.solidity ?? 0.3, area) : color;
    c.fill();
    stroke(c, at(line.color, i) ?? "#444", width);
  }
  c.globalAlpha = base;
  if (t.error_y) whiskers(c, t.error_y, Array.from(t.x, X.p), [], t.y, Y);
  if (t.cliponaxis === false) unclip(c);
  if (t.text) captions(c, t, found, font, layout.uniformtext);
};

const captions = (c, t, found, font, uniform) => { // the words on or beside the bars
  const own = t.textfont ?? {}, told = found.filter(({ i }) => at(t.text, i));
  const fontOf = (i) => ({ ...font, size: at(own.size, i) ?? font.size, color: at(own.color, i) ?? font.color });
  const beside = t.textposition === "outside", flat = t.orientation === "h", PAD = 3;
  const fits = told.map(({ x0, x1, y0, y1, i }) => {
    const size = textSize(c, t.text[i], fontOf(i)), room = [Math.abs(x1 - x0) - 2 * PAD, Math.abs(y1 - y0) - 2 * PAD];
    return beside ? 1 : Math.min(1, room[0] / size.width, room[1] / size.height);
  });
  const big = (i) => fits[i] * fontOf(told[i].i).size >= (uniform?.minsize ?? 0),
    least = Math.min(...fits.filter((_, i) => big(i)));
  told.forEach(({ x0, x1, y0, y1, i }, k) => {
    if (uniform?.mode === "hide" && !big(k)) return;
    const mine = fontOf(i), size = mine.size * (uniform?.mode ? least : fits[k]), small = { ...mine, size };
    if (!(size > 0)) return;
    const tall = textSize(c, t.text[i], small), middle = (y0 + y1) / 2 - tall.height / 2 + tall.up;
    if (beside && flat)
      return write(c, t.text[i], x1 + (x1 < x0 ? -PAD : PAD), middle, small, x1 < x0 ? "end" : "start");
    if (beside) return write(c, t.text[i], (x0 + x1) / 2, y0 - PAD - tall.height + tall.up, small, "middle");
    const anchor = t.insidetextanchor ?? "end";
    if (flat && anchor !== "middle")
      return write(c, t.text[i], anchor === "end" ? x1 - PAD : x0 + PAD, middle, small, anchor);
    write(
      c,
      t.text[i],
      (x0 + x1) / 2,
      flat || anchor === "middle" ? middle : anchor === "end" ? y0 + PAD + tall.up : y1 - PAD - tall.height + tall.up,
      small,
      "middle",
    );
  });
};

const edges = (values, axis, count) => { // edges of cells around the given middles, in pixels
  const v = Array.from({ length: count }, (_, i) => (isList(values) ? axis.line(values[i]) : i)),
    half = (i) => (v.length > 1 ? (v[i] - v[i - 1]) / 2 : 0.5);
  return Array.from({ length: count + 1 }, (_, i) =>
    axis.p0(i === 0 ? v[0] - half(1) : i === count ? v[i - 1] + half(i - 1) : v[i] - half(i)),
  );
};
const heatmap = (c, t, X, Y) => {
  const z = t.z ?? [],
    numbers = z.flatMap((row) => Array.from(row)).filter(finite),
    [gapX, gapY] = [t.xgap ?? 0, t.ygap ?? 0];
  if (!numbers.length) return;
  const low = t.zmin ?? Math.min(...numbers),
    high = t.zmax ?? Math.max(...numbers),
    xs = edges(t.x, X, z[0].length),
    ys = edges(t.y, Y, z.length);
  z.forEach((row, j) => row.forEach((value, i) => {
    if (!finite(value)) return;
    const [left, right] = [xs[i], xs[i + 1]].sort((a, b) => a - b).map(Math.round),
      [top, down] = [ys[j], ys[j + 1]].sort((a, b) => a - b).map(Math.round);
    c.fillStyle = shade(t.colorscale, value, low, high);
    c.fillRect(left + Math.floor(gapX / 2), top + Math.floor(gapY / 2), right - left - gapX, down - top - gapY);
  }));
};

/** Drawing functions by type, lowest layer first: bars cover cells and points cover bars in any order of traces. */
export const DRAW = { heatmap, bar, scatter };

/** Return the range that fits an axis's traces, for an axis without one; `length` is the axis's, in pixels. */
export const extent = (axis, traces, length) => {
  if (axis.type === "category") return [-0.5, Math.max(axis.names.length, 1) - 0.5];
  const lows = [], highs = [], room = 0.05 * length; // [value, free pixels beyond it]
  const reach = (a, b, before = 0, after = 0) => { lows.push([a, before]); highs.push([b, after]); };
  for (const t of traces) {
    const values = Array.from(t[axis.across ? "x" : "y"] ?? [], (v) => axis.line(v)).filter(finite),
      along = (t.orientation === "h") !== axis.across;
    if (t.type === "heatmap") {
      const n = axis.across ? (t.z?.[0]?.length ?? 0) : (t.z?.length ?? 0),
        v = values.length ? values : Array.from({ length: n }, (_, i) => i);
      if (v.length)
        reach(
          Math.min(...v) - 0.5 * ((v[1] ?? v[0] + 1) - v[0]),
          Math.max(...v) + 0.5 * (v.at(-1) - (v.at(-2) ?? v.at(-1) - 1) || 1),
        );
    } else if (!values.length) continue;
    else if (t.type === "bar" && along) {
      const sorted = [...new Set(values)].sort((a, b) => a - b),
        apart = Math.min(...sorted.slice(1).map((v, i) => v - sorted[i]), Infinity);
      const half = (finite(t.width) ? t.width : apart === Infinity ? 1 : apart) / 2;
      reach(sorted[0] - half, sorted.at(-1) + half);
    } else if (t.type === "bar") {
      const ends = values.map((v, i) => v + Number(at(t.base, i) ?? 0)),
        low = Math.min(0, ...ends),
        high = Math.max(0, ...ends);
      reach(low, high, low < 0 ? room : 0, high > 0 ? room : 0);
    } else {
      const mode = t.mode ?? (values.length < 20 ? "lines+markers" : "lines"), marked = mode.includes("markers");
      const bare = axis.across && !marked && !mode.includes("text") && !t.error_y;
      const free = bare ? 0 : room + (marked ? (at(t.marker?.size, 0) ?? 6) / 1.6 : 0);
      reach(values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b)), free, free);
    }
  }
  const low = Math.min(...lows.map(([v]) => v)), high = Math.max(...highs.map(([v]) => v));
  if (low > high) return axis.across ? [-1, 6] : [-1, 4];
  if (low === high) return [low - 1, high + 1];
  let scale = 0, range; // as plotly: the two ends that need the most units a pixel
  for (const [a, before] of lows)
    for (const [b, after] of highs) {
      const units = (b - a) / Math.max(length - before - after, 1);
      if (units > scale) [scale, range] = [units, [a - units * before, b + units * after]];
    }
  return range;
};
