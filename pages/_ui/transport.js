// Drives ordinary plotly figures that own frames. State lives on the window by id, so that it survives a remount.
const ICONS = {
  first: "M3 2h2v12H3zM14 2v12L6 8z", back: "M12 2v12L4 8z", play: "M4 2v12l9-6z", pause: "M4 2h3v12H4zM9 2h3v12H9z",
  next: "M4 2v12l8-6z", last: "M11 2h2v12h-2zM2 2v12l8-6z",
};
const NOW = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };
const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
const states = (window.__dpvizTransport ??= {});

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-transport");
  const last = data.titles.length - 1;
  const kept = (states[data.id] ??= { runs: {}, zoom: {}, hooked: new WeakSet() });
  kept.stop?.(); // called again for a new run: the one before must not go on moving the figures
  // Each run has its own step, so that a late render of the run before cannot move this one's figures.
  const state = (kept.runs[data.titles.join("\n")] ??= { step: last, playing: false });
  if (kept.zoomOf !== data.zoomOf) kept.zoom = {};
  kept.zoomOf = data.zoomOf;

  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Steps of the run");
  root.innerHTML = `<div class="row">
    <span class="badge">DEMO</span>
    <button class="ends" data-do="first" aria-label="First step">${icon("first")}</button>
    <button data-do="back" aria-label="Step back">${icon("back")}</button>
    <button class="play" data-do="play" aria-label="Play">${icon("play")}</button>
    <button data-do="next" aria-label="Step forward">${icon("next")}</button>
    <button class="ends" data-do="last" aria-label="Last step">${icon("last")}</button>
    <div class="track"><input type="range" min="0" max="${last}" step="1" aria-label="Step">
      <div class="ticks">${data.marks.map((m) => `<i style="left:${last ? (100 * m) / last : 0}%"></i>`).join("")}</div></div>
    <select aria-label="Speed"><option value="1800">½×</option><option value="900" selected>1×</option><option value="450">2×</option></select>
  </div><output aria-live="polite"></output>`;
  const range = root.querySelector("input"), words = root.querySelector("output"), speed = root.querySelector("select");
  const playButton = root.querySelector(".play");

  const graphs = () => [...document.querySelectorAll(`${data.scope} .js-plotly-plot`)]
    .filter((g) => g._transitionData && g._transitionData._frames && g._transitionData._frames.length);

  // Frames that look the same share a group: only panels whose group changes are redrawn.
  const group = (g, step) => g._transitionData._frameHash[String(step)]?.group;
  // One redraw at a time: an animation that another one overtakes leaves bars half way.
  const draw = (g) => {
    const wanted = g.__dpvizStep;
    if (g.__dpvizBusy || wanted === undefined) return;
    const shown = g.__dpvizDrawn ?? g._transitionData._frames.length - 1; // a fresh figure shows its last frame
    if (!window.Plotly || group(g, shown) === group(g, wanted)) {
      g.__dpvizDrawn = wanted;
      return;
    }
    const busy = (g.__dpvizBusy = {});
    window.Plotly.animate(g, [String(wanted)], NOW).catch(() => {}).then(() => {
      if (g.__dpvizBusy !== busy) { // the figure was replaced meanwhile, and may now show a frame of the old one's step
        g.__dpvizDrawn = -1;
        return draw(g);
      }
      g.__dpvizBusy = null;
      g.__dpvizDrawn = wanted;
      draw(g);
    });
  };
  const apply = (g) => { g.__dpvizStep = state.step; draw(g); };
  const fit = (g) => {
    const meta = g.layout && g.layout.meta, width = g.clientWidth;
    if (!meta || !meta.ar || !width) return;
    const m = g.layout.margin;
    const height = Math.round(Math.min(meta.h, (width - m.l - m.r) * meta.ar + m.t + m.b));
    if (g.__dpvizWidth === width && g.layout.height === height) return;
    g.__dpvizWidth = width;
    for (let e = g, i = 0; e && i < 4; e = e.parentElement, i++)
      for (const [k, v] of [["height", `${height}px`], ["min-height", "0"], ["flex", "none"]]) e.style.setProperty(k, v, "important");
    // The domains again, too: plotly keeps those that it fitted to an earlier width.
    if (window.Plotly) window.Plotly.relayout(g, { height, "xaxis.domain": [0, 1], "yaxis.domain": [0, 1] });
  };
  const show = () => {
    range.value = state.step;
    const title = data.titles[state.step] ?? "";
    range.setAttribute("aria-valuetext", title);
    const [head, ...rest] = title.split(" · ");
    words.replaceChildren();
    const strong = document.createElement("b");
    strong.textContent = head;
    words.append(strong, rest.length ? ` ${rest.join(" · ")}` : "");
    playButton.innerHTML = icon(state.playing ? "pause" : "play");
    playButton.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    words.setAttribute("aria-live", state.playing ? "off" : "polite");
  };
  // Rows of the ledger's table are lit once their release has happened; the last one is marked.
  const light = () => {
    const rows = [...document.querySelectorAll(`${data.scope} tr[data-frame]`)];
    const done = rows.filter((row) => Number(row.dataset.frame) <= state.step).length;
    rows.forEach((row, i) => {
      row.classList.toggle("lit", i < done);
      if (i === done - 1) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
  };
  const go = (step) => {
    state.step = Math.max(0, Math.min(last, step));
    graphs().forEach(apply);
    light();
    show();
  };
  let timer = 0;
  const pause = () => { state.playing = false; clearTimeout(timer); show(); };
  const tick = () => {
    if (state.step >= last) return pause();
    go(state.step + 1);
    timer = setTimeout(tick, Number(speed.value));
  };
  const play = () => {
    if (state.playing) return pause();
    state.playing = true;
    if (state.step >= last) go(0);
    show();
    timer = setTimeout(tick, Number(speed.value));
  };
  const actions = { first: () => go(0), back: () => go(state.step - 1), next: () => go(state.step + 1), last: () => go(last), play };

  root.onclick = (event) => {
    const action = event.target.closest("button")?.dataset.do;
    if (!action) return;
    if (action !== "play" && state.playing) pause();
    actions[action]();
  };
  range.oninput = () => { if (state.playing) pause(); go(Number(range.value)); };
  root.onkeydown = (event) => {
    const key = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" }[event.key];
    if (!key || event.target === speed) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (key !== "play" && state.playing) pause();
    actions[key]();
  };

  // Zoom by dragging with a mouse; a finger scrolls the page. A new figure gets the old zoom.
  const fine = matchMedia("(pointer: fine)").matches;
  const zoomable = (g) => g.layout.xaxis && g.layout.xaxis.fixedrange === false;
  const remember = (g, index, event) => {
    const keys = Object.keys(event).filter((key) => /^[xy]axis\.range/.test(key));
    if (zoomable(g) && keys.length) kept.zoom[index] = Object.fromEntries(keys.map((key) => [key, event[key]]));
  };
  const settle = (g, index) => {
    if (!window.Plotly || !zoomable(g)) return;
    if (!fine) window.Plotly.relayout(g, { dragmode: false, "xaxis.fixedrange": true, "yaxis.fixedrange": true });
    else if (kept.zoom[index]) window.Plotly.relayout(g, { ...kept.zoom[index] });
  };
  kept.step = () => state.step;
  kept.jump = (step) => { if (state.playing) pause(); go(step); };
  const hook = (g, index) => {
    kept.hooked.add(g);
    g.on("plotly_click", (event) => {
      const frame = event.points[0] && event.points[0].customdata;
      if (Number.isInteger(frame)) kept.jump(frame);
    });
    g.addEventListener("click", (event) => { // inside a box that the figure names: go to the frame of the smallest one
      const regions = g.layout.meta && g.layout.meta.regions;
      if (!regions) return;
      const { xaxis, yaxis } = g._fullLayout, edge = g.getBoundingClientRect();
      const x = xaxis.p2d(event.clientX - edge.left - xaxis._offset);
      const y = yaxis.p2d(event.clientY - edge.top - yaxis._offset);
      const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
      const [hit] = (regions[kept.step()] ?? regions[0])
        .filter(([x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1)
        .sort((a, b) => area(a) - area(b));
      if (hit) kept.jump(hit[4]);
    });
    g.on("plotly_react", () => {
      g.__dpvizDrawn = g.__dpvizBusy ? -1 : undefined;
      g.__dpvizStep = g.__dpvizBusy = undefined;
      settle(g, index);
    });
    g.on("plotly_relayout", (event) => remember(g, index, event));
    settle(g, index);
  };
  const watch = () => {
    graphs().forEach((g, index) => {
      if (!kept.hooked.has(g)) hook(g, index);
      if (g.__dpvizStep !== state.step) apply(g);
    });
    document.querySelectorAll(".js-plotly-plot").forEach(fit); // planes without frames, too
    light();
  };
  const interval = setInterval(watch, 250);
  let begin = 0;
  watch();
  show();
  if (data.autoplay && !kept.started && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    kept.started = true;
    state.step = 0;
    begin = setInterval(() => { if (graphs().length) { clearInterval(begin); go(0); play(); } }, 200);
  } else if (state.playing) {
    timer = setTimeout(tick, Number(speed.value));
  }
  return (kept.stop = () => [interval, begin, timer].forEach(clearInterval)); // timeouts share the timers' numbers
}
