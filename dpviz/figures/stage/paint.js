// Text with plotly's tags, dashes, colors, and the system's own colors where the visitor forces them.
import { holds, isList, isObject } from "./read.js";

export const LINE = 1.3; // distance from line to line, as a multiple of the font size
export const CAP = 0.7; // a capital's height
export const MIDDLE = 0.35; // and its middle
const LEAST = 0.65; // of a title's size, in a picture too small for it
const MARGIN = 4; // pixels free on either side of such a title
const COLOR = /(color:\s*)([^;"']+)/;
const SHIFTS = { sub: 0.3, sup: -0.6 };
const NAMED = { amp: "&", lt: "<", gt: ">", nbsp: "\u00a0", quot: '"' };

/** Return the lines of a text, each a list of runs {text, bold, italic, shift, color}. */
export const lines = (html) => {
  const found = [[]], open = [];
  for (const part of String(html ?? "").split(/(<[^<>]+>)/)) {
    const tag = /^<(\/?)\s*(\w+)[^<>]*>$/.exec(part);
    if (!tag) {
      const text = part.replace(/&(\w+);/g, (whole, name) => NAMED[name] ?? whole);
      const names = open.map(([name]) => name), shift = names.find((name) => name in SHIFTS);
      const style = { bold: names.includes("b"), italic: names.some((n) => n === "i" || n === "em"), shift };
      if (text) found.at(-1).push({ text, ...style, color: open.findLast(([, color]) => color)?.[1] });
    } else if (tag[2] === "br") found.push([]);
    else if (!tag[1]) open.push([tag[2], COLOR.exec(part)?.[2]]);
    else {
      const begun = open.findLastIndex(([name]) => name === tag[2]);
      if (begun >= 0) open.splice(begun, 1);
    }
  }
  return found;
};

const face = (font, run) =>
  `${run.italic ? "italic " : ""}${run.bold ? "bold " : ""}${font.size * (run.shift ? 0.7 : 1)}px ${font.family}`;
const widthOf = (c, font, runs) =>
  runs.reduce((sum, run) => { c.font = face(font, run); return sum + c.measureText(run.text).width; }, 0);

/** Return {width, height, up, count}: `up` is the height of the first line above its baseline. */
export const textSize = (c, html, font) => {
  const rows = lines(html);
  c.font = face(font, { bold: rows[0][0]?.bold });
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = c.measureText("x");
  const width = Math.max(...rows.map((runs) => widthOf(c, font, runs)));
  return { width, up, height: up + down + (rows.length - 1) * LINE * font.size, count: rows.length };
};

/** Return the font for a title, smaller if the title is wider than its room. */
export const fitted = (c, html, font, room) => {
  const { width } = textSize(c, html, font);
  return width <= room ? font : { ...font, size: font.size * Math.max(LEAST, (room - 2 * MARGIN) / width) };
};

/** Return a text in two lines of about the same length; a single word stays as it is. */
export const halved = (html) => {
  const breaks = [...html.matchAll(/ /g)].map(({ index }) => index);
  const middle = breaks.sort((a, b) => Math.abs(a - html.length / 2) - Math.abs(b - html.length / 2))[0];
  return middle === undefined ? html : `${html.slice(0, middle)}<br>${html.slice(middle + 1)}`;
};

/** Write a text; (x, y) is the start, middle or end of the first baseline. */
export const write = (c, html, x, y, font, align = "start") => {
  c.textAlign = "left";
  c.textBaseline = "alphabetic";
  lines(html).forEach((runs, row) => {
    let left = x - (align === "start" ? 0 : widthOf(c, font, runs) / (align === "end" ? 1 : 2));
    for (const run of runs) {
      c.font = face(font, run);
      c.fillStyle = run.color ?? font.color;
      const base = y + (row * LINE + (SHIFTS[run.shift] ?? 0)) * font.size;
      if (font.halo) {
        Object.assign(c, { strokeStyle: font.halo, lineWidth: 3.5, lineJoin: "round" });
        c.strokeText(run.text, left, base);
      }
      c.fillText(run.text, left, base);
      left += c.measureText(run.text).width;
    }
  });
};

/** Return a dash as a list of lengths in pixels. */
export const dashes = (dash, width) => {
  const unit = Math.max(width, 3);
  const named = { dot: [1, 1], dash: [3, 3], longdash: [5, 5], dashdot: [3, 1, 1, 1], longdashdot: [5, 2, 1, 2] }[dash];
  if (named) return named.map((length) => length * unit);
  return !dash || dash === "solid" ? [] : dash.split(/[ ,]+/).map(parseFloat);
};

export const stroke = (c, color, width, dash) => {
  if (!(width > 0)) return;
  c.strokeStyle = color;
  c.lineWidth = width;
  c.setLineDash(dashes(dash, width));
  c.stroke();
  c.setLineDash([]);
};

const known = new Map(), probe = () => (probe.c ??= document.createElement("canvas").getContext("2d"));
/** Return [red, green, blue, alpha] of a CSS color. */
export const rgba = (color) => {
  if (!known.has(color)) {
    const c = probe();
    c.fillStyle = "#444";
    c.fillStyle = color;
    const hex = /^#(..)(..)(..)$/.exec(c.fillStyle);
    known.set(color, hex ? [...hex.slice(1).map((h) => parseInt(h, 16)), 1] : c.fillStyle.match(/[\d.]+/g).map(Number));
  }
  return known.get(color);
};

/** Return the color at the fraction `u` between two colors. */
export const blend = (from, to, u) => {
  const [a, b] = [rgba(from), rgba(to)], mix = a.map((v, i) => v + u * (b[i] - v));
  return `rgba(${mix.slice(0, 3).map(Math.round)},${mix[3]})`;
};

/** Return the color of a value on a color scale. */
export const shade = (scale, value, low, high) => {
  const part = Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const next = scale.findIndex(([stop]) => stop >= part), [end, to] = scale[Math.max(next, 0)];
  if (next <= 0) return to;
  const [begin, from] = scale[next - 1];
  return blend(from, to, (part - begin) / (end - begin || 1));
};

// Forced colors: backgrounds and text take the system's colors, released marks that of links, hidden marks that of
// visited links. Released marks are filled and hidden ones hollow, as in every other mode.
const system = (color, ground) => {
  const [r, g, b, alpha] = rgba(color), light = (v) => 0.3 * v[0] + 0.59 * v[1] + 0.11 * v[2];
  const away = Math.abs(light([r, g, b]) - light(rgba(ground))), gray = Math.max(r, g, b) - Math.min(r, g, b) < 40;
  if (alpha === 0) return color;
  const name = gray
    ? away < 18
      ? "Canvas"
      : away < 60
        ? "GrayText"
        : "CanvasText"
    : b >= r
      ? "LinkText"
      : "VisitedText";
  const [x, y, z] = rgba(name), faint = !gray && away < 90 ? 0.5 : gray && name === "GrayText" ? 0.5 : 1;
  return `rgba(${x},${y},${z},${alpha * faint})`;
};

/** Return a figure in the system's colors. */
export const forced = (figure, ground = figure.layout?.plot_bgcolor ?? "#fff") => {
  const turn = (v) => (typeof v === "string" ? system(v, ground) : isList(v) ? Array.from(v, turn) : v);
  const walk = (v, key = "") => {
    if (/color$/.test(key)) return turn(v);
    if (key === "text" && typeof v === "string") return v.replace(COLOR, (_, name, color) => name + turn(color));
    if (key === "colorscale") return v.map(([stop, color]) => [stop, turn(color)]);
    if (isObject(v) && v.bdata === undefined)
      return Object.fromEntries(Object.entries(v).map(([k, w]) => [k, walk(w, k)]));
    return Array.isArray(v) && v.some(holds) ? v.map((w) => walk(w)) : v;
  };
  return walk(figure);
};
