// Attributes that the canvas draws exactly like plotly. Figures with others are left to plotly, so none is wrong.
import { isList, isObject } from "./read.js";
import { FORMAT } from "./axes.js";
import { DRAW, SYMBOLS } from "./marks.js";

const MARKS =
  "type name x y xaxis yaxis meta uid visible showlegend hoverinfo hovertemplate hovertext hoverlabel customdata " +
  "ids text textfont.* textposition cliponaxis opacity error_y.type error_y.array error_y.arrayminus " +
  "error_y.symmetric error_y.color error_y.thickness error_y.width error_y.visible";
const KNOWN = {
  scatter:
    `${MARKS} mode fill fillcolor line.color line.width line.dash marker.color marker.size marker.opacity ` +
    "marker.symbol marker.line.color marker.line.width marker.colorscale marker.cmin marker.cmax",
  bar:
    `${MARKS} orientation base width textangle insidetextanchor marker.color marker.opacity marker.colorscale ` +
    "marker.cmin marker.cmax marker.line.color marker.line.width marker.pattern.shape marker.pattern.size " +
    "marker.pattern.solidity",
  heatmap:
    "type name x y z xaxis yaxis meta uid visible showlegend hoverinfo hovertemplate colorscale showscale zmin " +
    "zmax xgap ygap",
  layout:
    "template.* height width margin.* meta uid font.* title.* paper_bgcolor plot_bgcolor showlegend hovermode " +
    "modebar.* shapes annotations bargap barmode uniformtext.* dragmode uirevision",
  axis:
    "anchor domain range autorange type title.text title.font.* title.standoff visible color gridcolor gridwidth " +
    "linecolor showline showgrid zeroline fixedrange tickfont.* ticks ticklen tickcolor nticks tick0 dtick tickvals " +
    "ticktext tickformat showticklabels constrain constraintoward scaleanchor tickmode",
  shape: "type x0 x1 y0 y1 xref yref line.color line.width line.dash fillcolor opacity layer visible name",
  annotation:
    "text x y xref yref xanchor yanchor xshift yshift showarrow font.* bgcolor bordercolor borderwidth borderpad " +
    "opacity align visible name",
};
const SETS = Object.fromEntries(Object.entries(KNOWN).map(([kind, words]) => [kind, new Set(words.split(" "))]));
const AXIS = /^[xy]axis\d*$/;
const every = (v, allowed) =>
  isList(v) ? Array.prototype.every.call(v, (one) => allowed.includes(one)) : v === undefined || allowed.includes(v);

/** Return the first unknown attribute, if any. */
const strange = (v, kind, path = "") => {
  for (const key in v) {
    const here = path + key;
    if (v[key] === null || v[key] === undefined || SETS[kind].has(here) || SETS[kind].has(`${path}*`)) continue;
    if (!isObject(v[key]) || v[key].bdata !== undefined) return `${kind} ${here}`;
    const inner = SETS[kind].has(`${here}.*`) ? "" : strange(v[key], kind, `${here}.`);
    if (inner) return inner;
  }
  return "";
};

const trace = (t, whole) => {
  const type = t.type ?? "scatter";
  if (!DRAW[type]) return `trace ${type}`;
  if (!every(t.marker?.symbol, SYMBOLS)) return `marker ${t.marker.symbol}`;
  if (!every(t.fill, ["none", "toself"])) return `fill ${t.fill}`;
  if (type === "bar" && !every(t.textposition, ["inside", "outside", "none"]) && t.text)
    return `text ${t.textposition}`;
  if (whole && type === "heatmap" && (t.showscale !== false || !isList(t.colorscale))) return "color bar";
  if (t.xaxis && !/^x\d*$/.test(t.xaxis)) return `axis ${t.xaxis}`;
  return strange(t, type);
};

const layout = (l, i) => {
  for (const key in l) {
    if (!AXIS.test(key)) continue;
    const axis = l[key];
    // the zero line of the figure, not of a frame
    if (i === 0 && axis.visible !== false && axis.zeroline !== false) return "zero line";
    if (!every(axis.type, ["-", "linear", "log", "category"])) return `axis ${axis.type}`;
    if (axis.tickformat && !FORMAT.test(axis.tickformat)) return `tick format ${axis.tickformat}`;
    if (typeof axis.dtick === "string" && isNaN(Number(axis.dtick))) return `tick distance ${axis.dtick}`;
    if (axis.scaleanchor && (axis.scaleanchor !== "x" || axis.constrain !== "domain")) return "equal scales by range";
    const word = strange(axis, "axis");
    if (word) return word;
  }
  const rest = Object.fromEntries(Object.entries(l).filter(([key]) => !AXIS.test(key)));
  const notes = (l.annotations ?? []).map((a) => (a.showarrow !== false ? "arrow" : strange(a, "annotation")));
  const shapes = (l.shapes ?? []).map((s) =>
    every(s.type, ["rect", "line", "circle"]) && every(s.layer, ["above"]) ? strange(s, "shape") : `shape ${s.type}`,
  );
  return strange(rest, "layout") || [...notes, ...shapes].find(Boolean) || "";
};

/** Name, in a word or two, a part of a figure that the canvas cannot draw; return "" if it can draw them all. */
export const lacks = ({ data = [], layout: base = {}, frames = [] }) => {
  const bars = data.filter((t) => t.type === "bar" && t.visible !== false).length;
  if (bars > 1 && base.barmode !== "overlay") return "bars beside bars";
  if (base.showlegend !== false && (base.showlegend || data.length > 1)) return "legend";
  const merged = frames.flatMap((f) => f.data.map((t, k) => ({ type: data[f.traces?.[k] ?? k]?.type, ...t })));
  return (
    data.map((t) => trace(t, true)).find(Boolean) ||
    merged.map((t) => trace(t, false)).find(Boolean) ||
    [base, ...frames.map((f) => f.layout ?? {})].map(layout).find(Boolean) ||
    ""
  );
};
