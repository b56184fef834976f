// The player of a replay, which drives the stages of one run. The stage's own script is above this one.
const dark = matchMedia("(prefers-color-scheme: dark)"), still = matchMedia("(prefers-reduced-motion: reduce)");
const record = document.getElementById("run").textContent, run = JSON.parse(record), last = run.sentences.length - 1;
const box = document.querySelector(".panels"),
  range = document.querySelector("input"),
  words = document.querySelector("output");
const play = document.querySelector("[data-do=play]"), speed = document.querySelector("select");
const code = document.querySelector(".dp-now"), lines = [...(code?.querySelectorAll("li") ?? [])];
if (code) code.open = !matchMedia("(max-width: 800px)").matches;
let stages = [], step = run.first, timer = 0;
const build = () => {
  for (const stage of stages) stage.close?.();
  const rooms = Object.fromEntries(
    ["plane", "side", "wide"].map((name) => [name, Object.assign(document.createElement("div"), { className: name })]),
  );
  if (code) rooms.side.append(code);
  box.replaceChildren(...Object.values(rooms));
  stages = JSON.parse(inColors(record)).panels.map((panel) => {
    const canvas = Object.assign(document.createElement("canvas"), { className: "picture" }),
      room = document.createElement("div");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", panel.alt);
    room.append(canvas);
    rooms[panel.name].append(room);
    return new Stage(canvas, panel.figure, { step });
  });
};
const show = (next, ms = 0) => {
  step = Math.max(0, Math.min(last, next));
  for (const stage of stages) stage.show(step, still.matches ? 0 : ms);
  range.value = step;
  range.setAttribute("aria-valuetext", `Step ${step + 1} of ${last + 1}`);
  words.textContent = run.sentences[step];
  lines.forEach((line, i) => {
    line.classList.toggle("lit", run.lines[step].includes(i));
    if (i === run.lines[step][0]) line.setAttribute("aria-current", "step");
    else line.removeAttribute("aria-current");
  });
};
const stop = () => {
  clearInterval(timer);
  timer = 0;
  play.classList.remove("on");
  play.setAttribute("aria-label", "Play");
};
const start = () => {
  if (step === last) show(0);
  play.classList.add("on"); play.setAttribute("aria-label", "Pause");
  timer = setInterval(() => {
    show(step + 1, Math.min(300, speed.value / 2));
    if (step === last) stop();
  }, +speed.value);
};
const doing = {
  first: () => show(0),
  back: () => show(step - 1, 300),
  next: () => show(step + 1, 300),
  last: () => show(last),
  play: () => (timer ? stop() : start()),
};
document.querySelector(".bar").addEventListener("click", (event) => {
  const what = event.target.closest("[data-do]")?.dataset.do;
  if (what && what !== "play") stop();
  doing[what]?.();
});
range.addEventListener("input", () => { stop(); show(+range.value); });
speed.addEventListener("change", () => { if (timer) { stop(); start(); } });
const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
document.addEventListener("keydown", (event) => {
  // controls with their own keys
  const own = event.target.closest(event.key === " " ? "input, select, button, summary" : "input, select");
  if (!keys[event.key] || own || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (keys[event.key] !== "play") stop();
  doing[keys[event.key]]();
});
dark.addEventListener("change", () => { build(); show(step); });
build();
show(step);
