// Drives the panels of a page step by step. State lives on the window by id, so that it survives a remount.
const ICONS = {
  first: "M3 2h2v12H3zM14 2v12L6 8z", back: "M12 2v12L4 8z", play: "M4 2v12l9-6z", pause: "M4 2h3v12H4zM9 2h3v12H9z",
  next: "M4 2v12l8-6z", last: "M11 2h2v12h-2zM2 2v12l8-6z",
  loop: "M11 1l4 3-4 3V5H4v3H2V3h9zM5 15l-4-3 4-3v2h7V8h2v5H5z",
  look: "M7 1a6 6 0 1 0 3.5 10.9l3.3 3.3 1.4-1.4-3.3-3.3A6 6 0 0 0 7 1zm0 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
};
const WIDE = 46; // least pixels of a small picture
const REST = 1500; // milliseconds that a film which is played again and again rests at its end
const GLIDE = 450; // milliseconds from a step, or an event, to its neighbor
const PREMIERE = "dpviz-premiere"; // in the browser's storage: a first visit plays the first round, once
const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
const states = (window.__dpvizTransport ??= {});
const seen = (window.__dpvizSeen ??= {}); // run -> the place last shown, on any page

/** Return whether nobody has seen a film in this browser yet, and note that now somebody does. */
const premiere = () => {
  try {
    const first = !localStorage.getItem(PREMIERE);
    localStorage.setItem(PREMIERE, "seen");
    return first;
  } catch { return false; } // blocked: every visit would be the first
};

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-transport");
  const last = data.titles.length - 1;
  const kept = (states[data.id] ??= { runs: {}, looking: false });
  kept.stop?.(); // called again for a new run: the previous one must stop moving the figures
  // Each run has its own step, so that a late render of the previous run cannot move this one's figures.
  const run = data.run || data.titles.join("\n");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const events = data.events ?? data.titles.map((title) => [{ ms: 900, says: title }]);
  const state = (kept.runs[run] ??= { at: last, playing: false });
  const asked = data.opened && kept.opened !== data.opened; // opened by an address: go to its step, once
  if (asked) {
    kept.opened = data.opened;
    state.playing = false;
    state.at = data.play ? 0 : Math.min(data.step ?? (data.within ? seen[run] : last) ?? last, last);
    state.beyond = !data.play && data.step > last ? data.step : null; // said until the player moves
  }
  const reel = new Reel(events, data.begins, (step, moment) => draw(step, moment));
  Object.assign(reel, { at: reel.clamp(state.at), still: still.matches });

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
    <div class="track"><canvas aria-hidden="true"></canvas><i class="later"></i>
      <input type="range" min="${reel.first}" max="${last}" step="any" aria-label="Step"><div class="ticks">${
        data.marks.map((m) => `<i style="left:${(100 * (m - reel.first)) / (last - reel.first || 1)}%"></i>`).join("")
      }</div></div>
    <select aria-label="Speed"><option value="0.5">½×</option
      ><option value="1" selected>1×</option><option value="2">2×</option><option value="4">4×</option></select>
    <button class="ends loop" data-do="loop" aria-label="Loop" title="Play again and again">${icon("loop")}</button>
  </div><div class="say${data.captioned ? " quiet" : ""}"><output aria-live="polite"></output>
    <button class="look" data-do="early" ${data.captioned && data.mode === "DEMO" ? "" : "hidden"}
      title="Show KMeans and the verdict before the last picture, too"><span>Answer from the start</span></button>
    <button class="look" data-do="look"
      title="Hover for values, zoom, save the picture">${icon("look")}<span>Zoom and hover</span></button></div></div>`;
  const range = root.querySelector("input"), words = root.querySelector("output"), speed = root.querySelector("select");
  const playButton = root.querySelector(".play"), lookButton = root.querySelector("[data-do=look]");
  const earlyButton = root.querySelector("[data-do=early]"), loopButton = root.querySelector("[data-do=loop]");
  speed.value = kept.pace ?? 1;
  const track = root.querySelector(".track"), later = root.querySelector(".later");

  const panels = () =>
    [...document.querySelectorAll(`${data.scope} .dpviz-stage`)]
      .map((root) => root.panel)
      .filter((panel) => panel?.frames);
  // Each frame changes no class and no words outside an event's first one, because both have the browser compute the
  // style of the whole page: its rules ask what an element holds, by parts of classes.
  let told = "";
  const show = (moment) => {
    const { step, event } = moment, title = events[step][event].says ?? data.titles[step] ?? "";
    const before = data.captioned && !kept.early && reel.at < last; // the verdict comes with the last picture
    range.value = reel.at;
    later.style.left = `${(100 * (reel.at - reel.first)) / (last - reel.first || 1)}%`;
    seen[run] = reel.at;
    document.documentElement.toggleAttribute("data-dp-before", before);
    const next = JSON.stringify([step, title, state.beyond, reel.playing, kept.looking, kept.early, kept.loop]);
    if (next === told) return;
    told = next;
    range.setAttribute("aria-valuetext", title);
    const [head, ...rest] = title.split(" · ");
    words.replaceChildren();
    const strong = document.createElement("b");
    strong.textContent = head;
    words.append(strong, rest.length ? ` ${rest.join(" · ")}` : "");
    if (state.beyond) words.append(` This link names step ${state.beyond}, but the last one is ${last}.`);
    playButton.innerHTML = icon(reel.playing ? "pause" : "play");
    playButton.setAttribute("aria-label", reel.playing ? "Pause" : "Play");
    if (!reel.playing && data.main) window.__dpvizAddress?.step?.(step, last);
    words.setAttribute("aria-live", reel.playing ? "off" : "polite");
    lookButton.setAttribute("aria-pressed", kept.looking);
    earlyButton.setAttribute("aria-pressed", Boolean(kept.early));
    loopButton.setAttribute("aria-pressed", Boolean(kept.loop));
  };
  // Highlight the rows of the ledger's table that are released by now, and mark the last one.
  const light = () => {
    const { step, event, share, pays } = reel.moment(), paid = event > pays || (event === pays && share >= 1);
    const rows = [...document.querySelectorAll(`${data.scope} tr[data-frame]`)];
    const done = rows.filter((row) => Number(row.dataset.frame) <= (paid ? step : step - 1)).length;
    rows.forEach((row, i) => {
      row.toggleAttribute("data-lit", i < done);
      if (i === done - 1) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    for (const cell of document.querySelectorAll(`${data.scope} [data-said]`)) { // words that follow the step
      const text = JSON.parse(cell.dataset.said)[step] ?? "";
      if (cell.textContent !== text) cell.firstChild ? (cell.firstChild.data = text) : cell.append(text);
    }
  };
  // Lines of pseudo-code that run at this step. On a phone, where the plane comes first, the list is folded once.
  const lines = () => {
    for (const box of document.querySelectorAll(`${data.scope} .dp-now`)) {
      if (!box.dataset.folded) box.open = !matchMedia("(max-width: 640px)").matches;
      box.dataset.folded = true;
      const { step, event } = reel.moment(), now = data.lines?.[step][event] ?? [];
      if (box.dataset.now === now.join()) continue; // measuring the list, below, has the browser lay out the page
      box.dataset.now = now.join();
      [...box.querySelectorAll("li")].forEach((line, i) => {
        line.toggleAttribute("data-lit", now.includes(i));
        if (i === now[0]) line.setAttribute("aria-current", "step");
        else line.removeAttribute("aria-current");
      });
      const part = streamlit.element(box), line = box.querySelector("[aria-current]");
      if (part && line && part.scrollHeight > part.clientHeight)
        part.scrollTop += line.getBoundingClientRect().top - part.getBoundingClientRect().top - part.clientHeight / 2;
    }
  };
  const one = (panel) => {
    if (panel.early !== Boolean(kept.early)) panel.reveal(Boolean(kept.early));
    const { step, ...moment } = reel.moment();
    panel.seek(step, moment, reel.playing);
  };
  let now = "";
  const draw = (step, moment) => {
    state.at = reel.at;
    panels().forEach(one);
    show({ step, ...moment });
    const next = [step, moment.event, moment.share >= 1, reel.playing].join();
    if (next !== now) {
      light();
      lines(); // last, because it has the browser lay out the page
    }
    now = next;
  };
  let begin = 0; // a timer that waits for the figures before it plays
  const go = (at, ms = 0) => {
    clearInterval(begin);
    state.beyond = null;
    reel.move(at, ms);
  };
  const pause = () => {
    clearInterval(begin);
    state.playing = false;
    reel.pause();
    reel.show();
  };
  const play = (until = last) => {
    clearInterval(begin);
    if (reel.playing) return pause();
    state.beyond = null;
    if (reel.at >= last) reel.at = reel.first;
    state.playing = true;
    reel.pace = Number(speed.value);
    reel.play(() => {
      pause();
      if (kept.loop && until === last) begin = setInterval(play, REST);
    }, until);
  };
  const forth = (places) => places.find((at) => at > reel.at + 1e-6) ?? last;
  const back = (places) => places.findLast((at) => at < reel.at - 1e-6) ?? reel.first;
  const steps = data.titles.map((_, step) => step);
  const look = () => {
    kept.looking = !kept.looking;
    panels().forEach((panel) => panel.press(kept.looking));
    reel.show();
  };
  const early = () => {
    kept.early = !kept.early;
    reel.show();
  };
  const loop = () => {
    clearInterval(begin);
    kept.loop = !kept.loop;
    if (kept.loop && !reel.playing) return play();
    reel.show();
  };
  const actions = {
    first: () => go(0),
    back: () => go(Math.max(back(steps), 0), GLIDE),
    next: () => go(forth(steps), GLIDE),
    before: () => go(back(reel.ends), GLIDE),
    after: () => go(forth(reel.ends), GLIDE),
    last: () => go(last),
    play: () => play(),
    look,
    early,
    loop,
  };
  speed.onchange = () => { reel.pace = kept.pace = Number(speed.value); };

  root.onclick = (event) => {
    const action = event.target.closest("button")?.dataset.do;
    if (!action) return;
    if (!["play", "look", "early", "loop"].includes(action) && reel.playing) pause();
    actions[action]();
  };
  range.oninput = () => {
    const at = Number(range.value); // read the place first, because pausing resets the range
    if (reel.playing) pause();
    go(at);
  };
  root.onkeydown = (event) => {
    const key = { ArrowLeft: "before", ArrowRight: "after", Home: "first", End: "last", " ": "play" }[event.key];
    if (!key || event.target === speed) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (key !== "play" && reel.playing) pause();
    actions[key]();
  };

  // The film at a glance: a small picture of the plane for every round or, where rounds are unequal or many, at even
  // distances.
  const parts = (width) => {
    const most = Math.max(1, Math.floor(width / WIDE)), all = last - reel.first;
    const ends = (begins) => begins.map((from, i) => [from, begins[i + 1] ?? last]), n = Math.min(most, all + 1);
    const rounds = ends([reel.first, ...data.marks.slice(1).map((mark) => mark - 1)]);
    const long = rounds.map(([from, to]) => to - from), equal = Math.max(...long) <= 2 * Math.min(...long);
    if (rounds.length > 1 && rounds.length <= most && equal) return rounds;
    return ends(Array.from({ length: n }, (_, i) => reel.first + (i * all) / n));
  };
  let due = 0, strip = 0;
  const glance = () => {
    const plane = panels().find(({ data: { name }, stage }) => name === "plane" && stage?.axes);
    const [w, h, dots] = [track.clientWidth, track.clientHeight, devicePixelRatio];
    const canvas = track.querySelector("canvas");
    track.classList.toggle("film", Boolean(plane && w));
    if (!plane || !w) return;
    Object.assign(canvas, { width: w * dots, height: h * dots });
    const c = canvas.getContext("2d"), mine = (strip += 1);
    const x = (at) => (w * (at - reel.first)) / (last - reel.first || 1);
    c.scale(dots, dots);
    const draw = ([[from, to], ...rest]) => {
      if (mine !== strip || !plane.stage?.axes) return; // begun anew, or the plane is gone
      const tick = Math.max(0, Math.floor(to + 1e-6)), step = plane.frame(tick);
      plane.stage.small(c, step, [x(from), 0, x(to) - x(from), h]);
      c.fillStyle = getComputedStyle(root).getPropertyValue("--st-border-color");
      if (from > reel.first) c.fillRect(Math.round(x(from)), 0, 1, h);
      if (rest.length) (window.requestIdleCallback ?? setTimeout)(() => draw(rest));
    };
    draw(parts(w));
  };
  const glanced = () => {
    clearTimeout(due);
    due = setTimeout(glance, 120);
  };
  const sized = new ResizeObserver(glanced);
  sized.observe(track);

  // A panel that appears, or appears again, requests its step; a click in a panel may lead to another step.
  const within = (event) => event.target.closest?.(data.scope);
  const come = (event) => {
    const panel = event.target.panel;
    if (!within(event) || !panel.frames) return;
    one(panel);
    glanced();
    if (kept.looking) panel.press(true);
  };
  const jump = (event) => {
    if (!within(event)) return;
    if (reel.playing) pause();
    go(event.detail, GLIDE);
    root.focus({ preventScroll: true }); // the arrow keys go on from here
  };
  document.addEventListener("dpviz-panel", come);
  document.addEventListener("dpviz-jump", jump);
  const interval = setInterval(() => { light(); lines(); }, 250); // table and list may be drawn at any time
  panels().forEach((panel) => panel.press(kept.looking));
  reel.show();
  const first = data.premiere && asked && data.step === null && !data.within && !still.matches && premiere();
  const from = (until) => {
    reel.at = reel.first;
    begin = setInterval(() => { if (panels().length) play(until); }, 200);
  };
  if (asked && data.play && !still.matches) from(last);
  else if (first) from(Math.max((data.marks[1] ?? last + 1) - 1, 0));
  else if (state.playing) play();
  return (kept.stop = () => {
    [interval, begin, due].forEach(clearInterval);
    sized.disconnect();
    strip = -1;
    cancelAnimationFrame(reel.frame);
    document.documentElement.removeAttribute("data-dp-before");
    document.removeEventListener("dpviz-panel", come);
    document.removeEventListener("dpviz-jump", jump);
  });
}
