// Drives the panels of a page step by step. State lives on the window by id, so that it survives a remount.
const ICONS = {
  first: "M3 2h2v12H3zM14 2v12L6 8z", back: "M12 2v12L4 8z", play: "M4 2v12l9-6z", pause: "M4 2h3v12H4zM9 2h3v12H9z",
  next: "M4 2v12l8-6z", last: "M11 2h2v12h-2zM2 2v12l8-6z",
  look: "M7 1a6 6 0 1 0 3.5 10.9l3.3 3.3 1.4-1.4-3.3-3.3A6 6 0 0 0 7 1zm0 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
};
const GLIDE = 300; // milliseconds from a step to its neighbor, at most half of the time a step is shown
const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
const states = (window.__dpvizTransport ??= {});
const seen = (window.__dpvizSeen ??= {}); // run -> the step last shown, on any page

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-transport");
  const last = data.titles.length - 1;
  const kept = (states[data.id] ??= { runs: {}, looking: false });
  kept.stop?.(); // called again for a new run: the previous one must stop moving the figures
  // Each run has its own step, so that a late render of the previous run cannot move this one's figures.
  const run = data.run || data.titles.join("\n");
  const state = (kept.runs[run] ??= { step: last, playing: false });
  const asked = data.opened && kept.opened !== data.opened; // opened by an address: go to its step, once
  if (asked) {
    kept.opened = data.opened;
    state.playing = false;
    state.step = data.play ? 0 : Math.min(data.step ?? (data.within ? seen[run] : last) ?? last, last);
    state.beyond = !data.play && data.step > last ? data.step : null; // said until the player moves
  }

  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.what);
  root.innerHTML = `<div class="all"><div class="row">
    <span class="badge">${data.mode}</span>
    <button class="ends" data-do="first" aria-label="First step">${icon("first")}</button>
    <button data-do="back" aria-label="Step back">${icon("back")}</button>
    <button class="play" data-do="play" aria-label="Play">${icon("play")}</button>
    <button data-do="next" aria-label="Step forward">${icon("next")}</button>
    <button class="ends" data-do="last" aria-label="Last step">${icon("last")}</button>
    <div class="track"><input type="range" min="0" max="${last}" step="1" aria-label="Step">
      <div class="ticks">${
        data.marks.map((m) => `<i style="left:${last ? (100 * m) / last : 0}%"></i>`).join("")
      }</div></div>
    <select aria-label="Speed"><option value="1800">½×</option
      ><option value="900" selected>1×</option><option value="450">2×</option></select>
  </div><div class="say"><output aria-live="polite"></output>
    <button class="look" data-do="look"
      title="Hover for values, zoom, save the picture">${icon("look")}<span>Zoom and hover</span></button></div></div>`;
  const range = root.querySelector("input"), words = root.querySelector("output"), speed = root.querySelector("select");
  const playButton = root.querySelector(".play"), lookButton = root.querySelector(".look");

  const panels = () =>
    [...document.querySelectorAll(`${data.scope} .dpviz-stage`)]
      .map((root) => root.panel)
      .filter((panel) => panel?.frames);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const show = () => {
    range.value = state.step;
    const title = data.titles[state.step] ?? "";
    range.setAttribute("aria-valuetext", title);
    const [head, ...rest] = title.split(" · ");
    words.replaceChildren();
    const strong = document.createElement("b");
    strong.textContent = head;
    words.append(strong, rest.length ? ` ${rest.join(" · ")}` : "");
    if (state.beyond) words.append(` This link names step ${state.beyond}, but the last one is ${last}.`);
    playButton.innerHTML = icon(state.playing ? "pause" : "play");
    playButton.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    seen[run] = state.step;
    if (!state.playing && data.main) window.__dpvizAddress?.step?.(state.step, last);
    words.setAttribute("aria-live", state.playing ? "off" : "polite");
    lookButton.setAttribute("aria-pressed", kept.looking);
  };
  // Highlight the rows of the ledger's table that are released by now, and mark the last one.
  const light = () => {
    const rows = [...document.querySelectorAll(`${data.scope} tr[data-frame]`)];
    const done = rows.filter((row) => Number(row.dataset.frame) <= state.step).length;
    rows.forEach((row, i) => {
      row.classList.toggle("lit", i < done);
      if (i === done - 1) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    for (const cell of document.querySelectorAll(`${data.scope} [data-said]`)) { // words that follow the step
      const text = JSON.parse(cell.dataset.said)[state.step] ?? "";
      if (cell.textContent !== text) cell.textContent = text;
    }
  };
  // Lines of pseudo-code that run at this step. On a phone, where the plane comes first, the list is folded once.
  const lines = () => {
    for (const box of document.querySelectorAll(`${data.scope} .dp-now`)) {
      if (!box.dataset.folded) box.open = !matchMedia("(max-width: 640px)").matches;
      box.dataset.folded = true;
      const now = data.lines?.[state.step] ?? [];
      [...box.querySelectorAll("li")].forEach((line, i) => {
        line.classList.toggle("lit", now.includes(i));
        if (i === now[0]) line.setAttribute("aria-current", "step");
        else line.removeAttribute("aria-current");
      });
      const part = box.closest("[data-testid=stElementContainer]"), line = box.querySelector("[aria-current]");
      if (part && line && part.scrollHeight > part.clientHeight)
        part.scrollTop += line.getBoundingClientRect().top - part.getBoundingClientRect().top - part.clientHeight / 2;
    }
  };
  const draw = (panel, ms = 0) => panel.show(state.step, { ms: still.matches ? 0 : ms, playing: state.playing });
  const go = (step, ms = 0) => {
    state.step = Math.max(0, Math.min(last, step));
    state.beyond = null;
    panels().forEach((panel) => draw(panel, Math.min(ms, Number(speed.value) / 2)));
    light();
    lines();
    show();
  };
  let timer = 0;
  const pause = () => {
    state.playing = false;
    clearTimeout(timer);
    panels().forEach((panel) => draw(panel, GLIDE));
    show();
  };
  const tick = () => {
    if (state.step >= last) return pause();
    go(state.step + 1, 2 * GLIDE);
    timer = setTimeout(tick, Number(speed.value));
  };
  const play = () => {
    if (state.playing) return pause();
    state.playing = true;
    if (state.step >= last) go(0);
    show();
    timer = setTimeout(tick, Number(speed.value));
  };
  const look = () => {
    kept.looking = !kept.looking;
    panels().forEach((panel) => panel.press(kept.looking));
    show();
  };
  const actions = {
    first: () => go(0),
    back: () => go(state.step - 1, GLIDE),
    next: () => go(state.step + 1, GLIDE),
    last: () => go(last),
    play,
    look,
  };

  root.onclick = (event) => {
    const action = event.target.closest("button")?.dataset.do;
    if (!action) return;
    if (action !== "play" && action !== "look" && state.playing) pause();
    actions[action]();
  };
  range.oninput = () => {
    const step = Number(range.value); // read the step first, because pausing resets the range
    if (state.playing) pause();
    go(step);
  };
  root.onkeydown = (event) => {
    const key = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" }[event.key];
    if (!key || event.target === speed) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (key !== "play" && state.playing) pause();
    actions[key]();
  };

  // A panel that appears, or appears again, requests its step; a click in a panel may lead to another step.
  const within = (event) => event.target.closest?.(data.scope);
  const come = (event) => {
    const panel = event.target.panel;
    if (!within(event) || !panel.frames) return;
    draw(panel);
    if (kept.looking) panel.press(true);
  };
  const jump = (event) => {
    if (!within(event)) return;
    if (state.playing) pause();
    go(event.detail, GLIDE);
    root.focus({ preventScroll: true }); // the arrow keys go on from here
  };
  document.addEventListener("dpviz-panel", come);
  document.addEventListener("dpviz-jump", jump);
  const interval = setInterval(() => { light(); lines(); }, 250); // table and list may be drawn at any time
  let begin = 0;
  panels().forEach((panel) => { draw(panel); panel.press(kept.looking); });
  light();
  lines();
  show();
  if (asked && data.play && !still.matches) {
    state.step = 0;
    begin = setInterval(() => { if (panels().length) { clearInterval(begin); go(0); play(); } }, 200);
  } else if (state.playing) {
    timer = setTimeout(tick, Number(speed.value));
  }
  return (kept.stop = () => {
    [interval, begin, timer].forEach(clearInterval); // clearInterval also clears timeouts
    document.removeEventListener("dpviz-panel", come);
    document.removeEventListener("dpviz-jump", jump);
  });
}
