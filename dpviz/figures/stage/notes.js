// Draw shapes and annotations over the traces, in data or paper coordinates.
import { finite } from "./read.js";
import { stroke, textSize, write } from "./paint.js";

const PAPER = /^paper$/, DOMAIN = / domain$/;

/** Return the pixel of a position in data units (log10 if `logged`), as a fraction of an axis, or of the paper. */
const place = (v, ref, kind, all, logged = false) => {
  const axis = all[(ref ?? kind).replace(DOMAIN, "")] ?? all[kind], across = kind === "x";
  if (!PAPER.test(ref ?? "") && !DOMAIN.test(ref ?? ""))
    return logged && axis.type === "log" ? axis.p0(v) : axis.p(v);
  const [start, length] = PAPER.test(ref)
    ? across
      ? [all.area.x, all.area.width]
      : [all.area.y, all.area.height]
    : [axis.start, axis.length];
  return across ? start + v * length : start + (1 - v) * length;
};

export const shape = (c, s, all) => {
  if (s.visible === false) return;
  const [x0, x1] = [s.x0, s.x1].map((v) => place(v, s.xref, "x", all)),
    [y0, y1] = [s.y0, s.y1].map((v) => place(v, s.yref, "y", all));
  if (![x0, x1, y0, y1].every(finite)) return;
  const X = all[(s.xref ?? "x").replace(DOMAIN, "")] ?? all.x,
    Y = all[(s.yref ?? "y").replace(DOMAIN, "")] ?? all.y,
    width = s.line?.width ?? 2;
  c.save();
  c.globalAlpha = s.opacity ?? 1;
  c.beginPath();
  if (!PAPER.test(s.xref ?? "") && !PAPER.test(s.yref ?? "")) {
    c.rect(X.start, Y.start, X.length, Y.length);
    c.clip();
    c.beginPath();
  }
  if (s.type === "line") {
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
  } else if (s.type === "circle")
    c.ellipse((x0 + x1) / 2, (y0 + y1) / 2, Math.abs(x1 - x0) / 2, Math.abs(y1 - y0) / 2, 0, 0, 2 * Math.PI);
  else c.rect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
  if (s.fillcolor && s.type !== "line") { c.fillStyle = s.fillcolor; c.fill(); }
  stroke(c, s.line?.color ?? "#444", width, s.line?.dash);
  c.restore();
};

const SHIFT = { left: 0, center: 0.5, right: 1, top: 0, middle: 0.5, bottom: 1 };
const anchor = (given, ref, v, ends) =>
  SHIFT[given] ?? (PAPER.test(ref ?? "") ? SHIFT[v < 1 / 3 ? ends[0] : v > 2 / 3 ? ends[1] : "middle"] : 0.5);

export const annotation = (c, a, all, base) => {
  if (a.visible === false || !a.text) return;
  const font = { ...base, ...a.font },
    size = textSize(c, a.text, font),
    border = a.borderwidth ?? 1,
    full = border + (a.borderpad ?? 1);
  const width = Math.round(size.width + 2 * full), height = Math.round(size.height + 2 * full);
  const put = (v, ref, kind) => place(v, ref, kind, all, true);
  const x = put(a.x, a.xref, "x") + (a.xshift ?? 0) - width * anchor(a.xanchor, a.xref, a.x, ["left", "right"]);
  const y = put(a.y, a.yref, "y") - (a.yshift ?? 0) - height * anchor(a.yanchor, a.yref, a.y, ["bottom", "top"]);
  if (!finite(x) || !finite(y)) return;
  const [left, top] = [Math.round(x), Math.round(y)];
  c.save();
  c.globalAlpha = a.opacity ?? 1;
  c.beginPath();
  c.rect(left + border / 2, top + border / 2, width - border, height - border);
  if (a.bgcolor) { c.fillStyle = a.bgcolor; c.fill(); }
  if (a.bordercolor) stroke(c, a.bordercolor, border);
  const align = { left: "start", right: "end" }[a.align] ?? "middle",
    at = { start: full, middle: width / 2, end: width - full }[align];
  write(c, a.text, left + at, top + full + size.up, font, align);
  c.restore();
};
