// The show holds every slide's picture from the start, so keys, notes and clock need no server and no network.
// Above this one are the stage's own script (dpviz.figures.stage), `inColors`, SHOW_CSS and NOTES_CSS.
const STEP = 900; // milliseconds per step of a slide that plays by itself and is no film
const MOST = 12_000, SHARE = 0.8; // milliseconds that playing takes at most, or the share of the time that is planned
const KEYS = {
  ArrowRight: "next",
  PageDown: "next",
  " ": "next",
  Enter: "next",
  ArrowLeft: "back",
  PageUp: "back",
  Backspace: "back",
  1: "1",
  2: "2",
  3: "3",
  4: "4",
  5: "5",
  0: "type",
  r: "again",
  R: "again",
  ArrowDown: "slide",
  ArrowUp: "before",
  Home: "first",
  End: "last",
  b: "black",
  B: "black",
  ".": "black",
  f: "full",
  F: "full",
  n: "notes",
  N: "notes",
};
const clock = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
const made = (tag, name, words = "") =>
  Object.assign(document.createElement(tag), { className: name, textContent: words });
const SCREEN = `<div class="top"><span class="badge">DEMO</span><span class="promise"></span
  ><span class="count"></span></div><h2></h2><div class="body"><div class="picture"></div><div class="side"
  ><p class="big"></p><p class="small"></p><div class="key"></div></div></div>`;

/** Write the text around a slide's picture into an element that holds `SCREEN`. */
function written(root, slide, count, more = "") {
  const put = (name, words) => { root.querySelector(name).textContent = words; };
  put("h2", slide.title);
  put(".promise", slide.promise + more);
  put(".count", count);
  put(".big", slide.big);
  put(".small", slide.small);
  root.querySelector(".key").replaceChildren(...slide.legend.map(([source, words]) => {
    const one = made("span", ""), image = made("img", "");
    Object.assign(image, { src: `data:image/svg+xml,${encodeURIComponent(inColors(source, root))}`, alt: "" });
    one.append(image, words);
    return one;
  }));
}

/** Draw a slide's picture, as large as its box; return its stage, or nothing for a page of words. */
function pictured(box, slide, step, sharp = 1) {
  box.replaceChildren();
  if (slide.html) {
    const paper = made("div", "paper");
    paper.innerHTML = slide.html; // made by the server from released values and escaped there
    return void box.append(paper);
  }
  const figure = JSON.parse(inColors(slide.figure, box)), room = made("div", ""), canvas = made("canvas", "");
  const { clientWidth: wide, clientHeight: high } = box, scale = Math.max(1, Math.min(2.4, high / 400, wide / 480));
  const { meta, margin = {} } = figure.layout, m = { l: 0, r: 0, t: 0, b: 0, ...margin };
  figure.layout.height = high / scale;
  if (meta?.ar) meta.h = high / scale;
  const fits = meta?.ar ? ((high / scale - m.t - m.b) / meta.ar + m.l + m.r) * scale : wide;
  room.style.width = `${Math.min(wide, fits)}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", slide.alt);
  room.append(canvas);
  box.append(room);
  return new Stage(canvas, figure, { step, scale, sharp });
}

/** Write the sentence of a step: its head in bold, and the rest. */
function spoken(say, words) {
  const [head, ...rest] = words.split(" · ");
  say.replaceChildren(made("b", "", head), rest.length ? ` ${rest.join(" · ")}` : "");
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Show {
  constructor() {
    const host = document.body.appendChild(made("div", "dpviz-show"));
    const root = host.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${SHOW_CSS}</style><dialog aria-label="Presentation"><div class="screen" tabindex="-1">
      ${SCREEN}<div class="foot"><p class="say" aria-live="polite"></p><form class="type" hidden><label>ε
        <input inputmode="decimal" size="6" autocomplete="off"></label></form><div class="keys">
        <button data-do="back" aria-label="Back">‹</button><button data-do="next" aria-label="Next">›</button
        ><button data-do="end" aria-label="End the show">✕</button></div></div>
      <div class="over" role="status" hidden><p class="big">The end</p>
        <p>One more step ends the show. Left goes back.</p></div>
      <div class="black" hidden></div></div></dialog>`;
    this.root = root;
    this.dialog = root.querySelector("dialog");
    this.screen = root.querySelector(".screen");
    this.dialog.addEventListener("close", () => this.ended());
    this.dialog.addEventListener("cancel", (event) => { // Esc leaves the field; without a field, it opens the scene
      this.into = this.form.hidden;
      if (this.into) return;
      event.preventDefault();
      this.form.hidden = true;
      this.screen.focus();
    });
    this.form = root.querySelector(".type");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.typed(Number(this.form.querySelector("input").value.trim().replace(",", ".")));
    });
    this.form.addEventListener("click", (event) => event.stopPropagation());
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.screen.addEventListener("click", (event) => {
      const what = event.target.closest("button")?.dataset.do;
      this.act(what ?? (event.target.closest("a, table") ? "" : "next"));
    });
    addEventListener("resize", () => { if (this.dialog.open) this.draw(); });
    this.clock = setInterval(() => this.tell(), 500);
  }

  /** Take the deck; a running show keeps the deck with which it began. */
  take(data, told) {
    this.fresh = data;
    this.told = told;
    if (!this.dialog.open) return void (this.data = data);
    for (const [i, slide] of this.data.slides.entries()) // runs at other ε and seeds, made meanwhile
      if (data.slides[i]?.scene === slide.scene) Object.assign(slide.others, data.slides[i].others);
    const key = this.waits;
    if (key && this.data.slides[this.at].others[key]) this.instead(key);
  }

  /** Ask for the slide's run at an ε that was typed: the server makes it now. */
  typed(epsilon) {
    this.form.hidden = true;
    this.screen.focus();
    const say = this.root.querySelector(".say"), { others, refusal } = this.data.slides[this.at];
    if (refusal) return void (say.textContent = refusal);
    if (!(epsilon >= 0.01 && epsilon <= 100)) return void (say.textContent = "Type an ε from 0.01 to 100.");
    const key = `e${+epsilon.toPrecision(6)}`;
    if (others[key]) return this.instead(key);
    this.waits = key;
    say.textContent = `ε ${+epsilon.toPrecision(6)} is being computed.`;
    this.told({ asked: { slide: this.at + 1, epsilon: +epsilon.toPrecision(6) } });
  }

  /** Return the slide, or its run at another ε or seed. */
  get slide() { return { ...this.data.slides[this.at], ...this.other }; }

  begin(at) {
    this.data = this.fresh;
    this.since = Date.now();
    this.root.host.style.cssText = this.data.tokens;
    this.dialog.showModal();
    this.screen.requestFullscreen?.().catch(() => {}); // if refused, as on a phone, the show fills the window
    this.screen.focus();
    this.go(Math.min(at, this.data.slides.length - 1));
  }

  ended() {
    this.reel?.pause();
    this.stage?.close();
    this.stage = undefined;
    this.since = undefined;
    if (document.fullscreenElement) document.exitFullscreen();
    const key = this.variant ?? "", step = this.step;
    this.told?.(this.into ? { into: { slide: this.at + 1, key, step } } : { slide: this.at + 1 });
    this.into = false;
    this.tell();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.composedPath()[0] === this.form.querySelector("input")) return;
    if (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key)) return;
    const what = KEYS[event.key];
    if (!what) return;
    event.preventDefault();
    event.stopPropagation();
    this.act(what);
  }

  act(what) {
    const [black, over] = [".black", ".over"].map((name) => this.root.querySelector(name)), { slides } = this.data;
    if (what && what !== "notes" && !black.hidden) return void (black.hidden = true); // any key brings the picture back
    if (what && !over.hidden && !["black", "notes", "full"].includes(what)) {
      if (["next", "slide", "last", "end"].includes(what)) return this.dialog.close();
      over.hidden = true;
      if (["back", "before"].includes(what)) return;
    }
    const doing = {
      next: () => this.next(),
      back: () => this.back(),
      slide: () => this.onward(),
      before: () => this.go(this.at - 1),
      first: () => this.go(0),
      last: () => this.go(slides.length - 1),
      black: () => {
        black.hidden = false;
      },
      notes: () => this.notes(),
      again: () => this.again(),
      type: () => {
        this.form.hidden = false;
        this.form.querySelector("input").select();
      },
      ...Object.fromEntries([..."12345"].map((stop) => [stop, () => this.instead(stop)])),
      full: () =>
        document.fullscreenElement ? document.exitFullscreen() : this.screen.requestFullscreen?.().catch(() => {}),
      end: () => this.dialog.close(),
    };
    doing[what]?.();
  }

  next() {
    const last = this.slide.titles.length - 1;
    if (this.playing) this.show(last, 0);
    else if (this.step < last) this.show(this.step + 1, 300);
    else this.onward();
  }

  /** Go to the next slide, or say that there is none. */
  onward() {
    if (this.at + 1 < this.data.slides.length) return this.go(this.at + 1);
    this.show(this.slide.titles.length - 1, 0);
    this.root.querySelector(".over").hidden = false;
  }

  back() {
    if (!this.playing && this.step > this.from) this.show(this.step - 1, 300);
    else this.go(this.at - 1);
  }

  go(at) {
    if (at < 0 || at >= this.data.slides.length) return;
    this.at = at;
    this.other = this.drawn = this.variant = this.waits = undefined;
    this.form.hidden = this.root.querySelector(".over").hidden = true;
    this.words();
    const { slide } = this, last = slide.titles.length - 1, plays = slide.play && last > 0 && !still();
    this.from = plays ? last : Math.min(slide.step ?? last, last);
    this.step = plays ? 0 : this.from;
    this.wind();
    this.show(this.step, 0);
    if (plays) this.play();
    this.told?.({ at: at + 1 });
  }

  /** Write the text around the picture. */
  words() {
    const { slide, drawn } = this, count = `${this.at + 1} / ${this.data.slides.length}`;
    written(this.screen, slide, count, drawn ? ` · another draw of the noise: ${drawn}` : "");
  }

  /** Show the slide's run at another ε or seed, made before the show, at the same step if it has that step. */
  instead(key) {
    const { others, refusal } = this.data.slides[this.at], before = this.slide.titles.length - 1;
    if (key && !others[key])
      return void (this.root.querySelector(".say").textContent = refusal || "This slide is the same for every seed.");
    const ended = this.step === before && !this.playing;
    this.drawn = key?.startsWith("r") ? Number(key.slice(1)) : 0;
    this.other = key ? others[key] : undefined;
    this.variant = key;
    this.waits = undefined;
    this.words();
    const last = this.slide.titles.length - 1;
    this.from = this.from === before ? last : Math.min(this.from, last);
    this.step = ended ? last : Math.min(this.step, last);
    this.wind();
    this.show(this.step, 0);
  }

  /** Show another draw of the noise; after the last one, the slide's own. */
  again() {
    const next = `r${(this.drawn || 0) + 1}`, { others } = this.data.slides[this.at];
    this.instead(this.drawn && !others[next] ? undefined : next);
  }

  /** Play the slide from before its first step, within its time. */
  play() {
    const { reel, slide } = this, all = reel.steps.flat().reduce((sum, { ms }) => sum + ms, 0);
    reel.pace = Math.max(1, all / (SHARE * 1000 * slide.seconds || MOST));
    this.playing = true;
    this.from = this.step = reel.last;
    reel.go(reel.first);
    reel.play(() => this.show(reel.last, 0));
  }

  /** Draw a moment while the slide plays. */
  moment(step, moment) {
    const { event, share, many } = moment, done = event === many - 1 && share >= 1 ? step : step - 1;
    this.stage.moment(step, moment);
    this.step = step;
    this.said(this.reel.steps[step][event].says, Math.max(0, done));
  }

  /** Draw the picture for the current size, beside the longest sentence of the slide. */
  draw() {
    this.stage?.close();
    const say = this.root.querySelector(".say"), before = [...say.childNodes], { film, titles } = this.slide;
    const every = [...titles, ...film.flat().map(({ says }) => says)];
    say.style.minHeight = "";
    spoken(say, every.reduce((longest, one) => (one.length > longest.length ? one : longest)));
    say.style.minHeight = `${say.offsetHeight}px`;
    say.replaceChildren(...before);
    this.stage = pictured(this.root.querySelector(".picture"), this.slide, this.step);
  }

  /** Draw another picture, with a clock of its own. */
  wind() {
    this.reel?.pause();
    this.draw();
    const { film, titles } = this.slide, events = film.length ? film : titles.map((says) => [{ ms: STEP, says }]);
    this.reel = new Reel(events, Boolean(events[0][0].acts), (step, moment) => this.moment(step, moment));
  }

  show(step, ms) {
    this.reel?.pause();
    this.playing = false;
    this.step = Math.max(0, Math.min(this.slide.titles.length - 1, step));
    this.stage?.show(this.step, still() ? 0 : ms);
    this.said(this.slide.titles[this.step], this.step);
  }

  /** Write the sentence of a step or event, and the number that is reached once a step is done. */
  said(words, done) {
    const { slide } = this, say = this.root.querySelector(".say"), ends = done === slide.titles.length - 1;
    say.setAttribute("aria-live", this.playing ? "off" : "polite");
    this.root.querySelector(".big").textContent = slide.bigs[done] ?? slide.big; // number and noun
    this.root.querySelector(".small").textContent = (!ends && slide.until) || slide.small;
    spoken(say, words);
    this.tell();
  }

  /** Open the second window, or bring it back; return whether the browser allowed it. */
  notes() {
    this.window = window.open("", "dpviz-notes", "popup,width=620,height=680");
    if (!this.window) return false;
    const { document: page } = this.window;
    page.documentElement.lang = "en";
    page.title = "Notes";
    page.body.replaceChildren();
    page.head.replaceChildren(Object.assign(page.createElement("style"), { textContent: NOTES_CSS }));
    page.documentElement.style.cssText = this.data.tokens;
    page.body.append(
      ...["count", "clock", "now", "notes", "next"].map((name) =>
        Object.assign(page.createElement(name === "now" ? "h1" : "p"), { className: name }),
      ),
    );
    page.onkeydown = (event) => { if (this.dialog.open) this.key(event); };
    this.noted = "";
    this.tell();
    return true;
  }

  tell() {
    if (!this.window || this.window.closed || !this.data) return;
    const page = this.window.document,
      { slides } = this.data,
      at = this.at ?? 0,
      slide = slides[at],
      on = this.since !== undefined,
      { titles } = on ? this.slide : slide;
    const planned = slides.reduce((sum, one) => sum + one.seconds, 0),
      until = slides.slice(0, at + 1).reduce((sum, one) => sum + one.seconds, 0);
    const step = on && titles.length > 1 ? `, step ${this.step + 1} of ${titles.length}` : "";
    const plan = planned ? ` of ${clock(planned * 1000)}; this slide until ${clock(until * 1000)}` : "";
    const words = {
      count: `${at + 1} of ${slides.length}${step}`,
      clock: `${on ? clock(Date.now() - this.since) : "0:00"}${plan}`,
      now: slide.title,
      notes: slide.notes,
      next: slides[at + 1] ? `Next: ${slides[at + 1].title}` : "Last slide",
    };
    if (JSON.stringify(words) === this.noted) return;
    this.noted = JSON.stringify(words);
    for (const name in words) page.querySelector(`.${name}`).textContent = words[name];
  }
}
