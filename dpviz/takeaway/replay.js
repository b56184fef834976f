// The player of a replay: it drives the stages of the run that `root` holds, and returns a function that ends it.
// The stage's own script is above this one.
const replayed = (root) => {
  const dark = matchMedia("(prefers-color-scheme: dark)"), still = matchMedia("(prefers-reduced-motion: reduce)");
  const record = root.querySelector("#run").textContent, run = JSON.parse(record), last = run.sentences.length - 1;
  const box = root.querySelector(".panels"),
    range = root.querySelector("input[type=range]"),
    words = root.querySelector("output");
  const play = root.querySelector("[data-do=play]"), speed = root.querySelector("select");
  const code = root.querySelector(".dp-now"), lines = [...(code?.querySelectorAll("li") ?? [])];
  if (code) code.open = !matchMedia("(max-width: 800px)").matches;
  let stages = [], told = ["", 0];
  const events = run.film ?? run.sentences.map((says) => [{ ms: 900, says }]);
  const reel = new Reel(events, Boolean(events[0][0].acts), (step, moment) => show(step, moment));
  reel.still = still.matches;
  const over = new AbortController(), { signal } = over;
  still.addEventListener("change", () => { reel.still = still.matches; }, { signal });
  const build = () => {
    for (const stage of stages) stage.close?.();
    const rooms = Object.fromEntries(
      ["plane", "side", "wide"].map((className) => [
        className, Object.assign(document.createElement("div"), { className }),
      ]),
    );
    if (code) rooms.side.append(code);
    box.replaceChildren(...Object.values(rooms));
    stages = JSON.parse(inColors(record)).panels.map((panel) => {
      const canvas = Object.assign(document.createElement("canvas"), { className: "picture" }),
        room = document.createElement("div");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", panel.alt);
      if (panel.title) room.append(Object.assign(document.createElement("h3"), { textContent: panel.title }));
      room.append(canvas);
      rooms[panel.name].append(room);
      return new Stage(canvas, panel.figure);
    });
  };
  const show = (step, moment) => {
    const { event } = moment;
    stages.forEach((stage, i) => {
      const { ends } = run.panels[i], early = [0, { ...moment, event: 0, share: 0 }];
      stage.moment(...(ends ? stage.placed(ends, step, moment.share) ?? early : [step, moment]));
    });
    range.value = reel.at;
    const { says } = events[step][event], now = [says, step];
    if (now.join() === told.join()) return;
    told = now;
    range.setAttribute("aria-valuetext", says);
    words.setAttribute("aria-live", reel.playing ? "off" : "polite");
    words.textContent = says.replace(" · ", ": ");
    lines.forEach((line, i) => {
      line.toggleAttribute("data-lit", run.lines[step][event].includes(i));
      if (i === run.lines[step][event][0]) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    });
  };
  const stop = () => {
    reel.pause();
    play.classList.remove("on");
    play.setAttribute("aria-label", "Play");
    reel.show();
  };
  const start = () => {
    if (reel.at >= last) reel.go(reel.first);
    play.classList.add("on"); play.setAttribute("aria-label", "Pause");
    reel.pace = Number(speed.value);
    reel.play(stop);
  };
  const forth = (places) => places.find((at) => at > reel.at + 1e-6) ?? last;
  const back = (places) => places.findLast((at) => at < reel.at - 1e-6) ?? reel.first;
  const steps = events.map((_, step) => step);
  const doing = {
    first: () => reel.go(0),
    back: () => reel.move(back(steps), 450),
    next: () => reel.move(forth(steps), 450),
    before: () => reel.move(back(reel.ends), 450),
    after: () => reel.move(forth(reel.ends), 450),
    last: () => reel.go(last),
    play: () => (reel.playing ? stop() : start()),
  };
  root.querySelector(".bar").addEventListener("click", (event) => {
    const what = event.target.closest("[data-do]")?.dataset.do;
    if (what && what !== "play" && reel.playing) stop();
    doing[what]?.();
  });
  range.addEventListener("input", () => {
    const at = +range.value;
    if (reel.playing) stop();
    reel.go(at);
  });
  speed.addEventListener("change", () => { reel.pace = Number(speed.value); });
  const keys = { ArrowLeft: "before", ArrowRight: "after", Home: "first", End: "last", " ": "play" };
  document.addEventListener("keydown", (event) => {
    // controls with their own keys
    const own = event.target.closest(event.key === " " ? "input, select, button, summary" : "input, select");
    if (!keys[event.key] || own || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (keys[event.key] !== "play" && reel.playing) stop();
    doing[keys[event.key]]();
  }, { signal });
  dark.addEventListener("change", () => { build(); reel.show(); }, { signal });
  build();
  range.min = reel.first;
  reel.go(run.first);
  return () => {
    stop();
    over.abort();
    for (const stage of stages) stage.close?.();
  };
};
