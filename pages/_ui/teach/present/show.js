// The show holds every slide's picture from the start, so keys, notes and clock need no server and no network.
// The stage's own script (dpviz.figures.stage) is above this one, and SHOW_CSS.
const STEP = 900, MOST = 12_000; // milliseconds per step of a slide that plays by itself, and maximum for all its steps
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
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Show {
  constructor() {
    const host = document.body.appendChild(made("div", "dpviz-show"));
    const root = host.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${SHOW_CSS}</style><dialog aria-label="Presentation"><div class="screen" tabindex="-1">
      <div class="top"><span class="badge">DEMO</span><span class="promise"></span><span class="count"></span></div
      ><h2></h2>
      <div class="body"><div class="picture"></div><div class="side"><p class="big"></p
      ><p class="small"></p><div class="key"></div></div></div>
      <div class="foot"><p class="say" aria-live="polite"></p><form class="type" hidden><label>ε
        <input inputmode="decimal" size="6" autocomplete="off"></label></form><div class="keys">
        <button data-do="back" aria-label="Back">‹</button><button data-do="next" aria-label="Next">›</button
        ><button data-do="end" aria-label="End the show">✕</button></div></div>
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
    clearTimeout(this.timer);
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
    const black = this.root.querySelector(".black"), { slides } = this.data;
    if (what && what !== "notes" && !black.hidden) return void (black.hidden = true); // any key brings the picture back
    const doing = {
      next: () => this.next(),
      back: () => this.back(),
      slide: () => this.go(this.at + 1),
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
    else this.go(this.at + 1);
  }

  back() {
    if (!this.playing && this.step > this.from) this.show(this.step - 1, 300);
    else this.go(this.at - 1);
  }

  go(at) {
    if (at < 0 || at >= this.data.slides.length) return;
    this.at = at;
    this.other = this.drawn = this.variant = this.waits = undefined;
    this.form.hidden = true;
    this.words();
    const { slide } = this, last = slide.titles.length - 1, plays = slide.play && last > 0 && !still();
    this.from = plays ? last : Math.min(slide.step ?? last, last);
    this.step = plays ? 0 : this.from;
    this.draw();
    this.show(this.step, 0);
    if (plays) this.play(Math.min(STEP, MOST / last));
    this.keep();
  }

  /** Write the text around the picture. */
  words() {
    const { slide } = this, put = (name, words) => { this.root.querySelector(name).textContent = words; };
    put("h2", slide.title);
    put(".promise", slide.promise + (this.drawn ? ` · another draw of the noise: ${this.drawn}` : ""));
    put(".count", `${this.at + 1} / ${this.data.slides.length}`);
    put(".big", slide.big);
    put(".small", slide.small);
    this.root.querySelector(".key").replaceChildren(...slide.legend.map(([source, words]) => {
      const one = made("span", ""), image = made("img", "");
      Object.assign(image, { src: source, alt: "" });
      one.append(image, words);
      return one;
    }));
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
    this.draw();
    this.show(this.step, 0);
  }

  /** Show another draw of the noise; after the last one, the slide's own. */
  again() {
    const next = `r${(this.drawn || 0) + 1}`, { others } = this.data.slides[this.at];
    this.instead(this.drawn && !others[next] ? undefined : next);
  }

  play(ms) {
    clearTimeout(this.timer);
    this.playing = true;
    this.timer = setTimeout(() => {
      this.show(this.step + 1, Math.min(400, ms / 2));
      if (this.step < this.slide.titles.length - 1) this.play(ms);
    }, ms);
  }

  /** Redraw the picture for the current size. */
  draw() {
    const box = this.root.querySelector(".picture"), { slide } = this;
    this.stage?.close();
    this.stage = undefined;
    box.replaceChildren();
    if (slide.html) {
      const paper = made("div", "paper");
      paper.innerHTML = slide.html; // made by the server from released values and escaped there
      return box.append(paper);
    }
    const figure = JSON.parse(slide.figure), room = made("div", ""), canvas = made("canvas", "");
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
    this.stage = new Stage(canvas, figure, { step: this.step, scale });
  }

  show(step, ms) {
    clearTimeout(this.timer);
    this.playing = false;
    this.step = Math.max(0, Math.min(this.slide.titles.length - 1, step));
    this.stage?.show(this.step, still() ? 0 : ms);
    const say = this.root.querySelector(".say"), [head, ...rest] = this.slide.titles[this.step].split(" · ");
    this.root.querySelector(".big").textContent = this.slide.bigs[this.step] ?? this.slide.big; // number and noun
    say.replaceChildren(made("b", "", head), rest.length ? ` ${rest.join(" · ")}` : "");
    this.tell();
  }

  /** Keep the slide in the address: a reload begins there. */
  keep() {
    const parts = location.search.slice(1).split("&").filter((part) => part && !/^slide=/.test(part));
    if (!parts.some((part) => part.startsWith("v="))) parts.unshift("v=1");
    streamlit.rewrite(`${location.pathname}?${[...parts, `slide=${this.at + 1}`].join("&")}`);
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
    this.said = "";
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
    if (JSON.stringify(words) === this.said) return;
    this.said = JSON.stringify(words);
    for (const name in words) page.querySelector(`.${name}`).textContent = words[name];
  }
}

/** Draw small pictures of the slides in order; a click chooses one. */
function thumbnails(list, data, choose) {
  const drawn = data.slides.map(({ figure, title }) => title + figure.length).join() + data.tokens + data.start;
  if (list.drawn === drawn) return;
  list.drawn = drawn;
  for (const stage of list.stages ?? []) stage.close();
  list.stages = [];
  list.replaceChildren(...data.slides.map((slide, at) => {
    const item = made("li", ""), button = made("button", ""), box = made("span", "mini");
    button.append(box, `${at + 1} ${slide.title}`);
    if (at === data.start) button.setAttribute("aria-current", "true");
    button.onclick = () => choose(at);
    item.append(button);
    return item;
  }));
  data.slides.forEach((slide, at) => {
    const box = list.children[at].querySelector(".mini");
    if (!slide.figure) return void box.append(made("small", "", slide.titles.at(-1)));
    const canvas = box.appendChild(made("canvas", ""));
    const figure = JSON.parse(slide.figure), { meta } = figure.layout, scale = 0.3;
    figure.layout.height = 108 / scale;
    if (meta?.ar) meta.h = 108 / scale;
    canvas.setAttribute("aria-hidden", "true");
    list.stages.push(new Stage(canvas, figure, { step: slide.titles.length - 1, scale }));
  });
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const show = (window.__dpvizShow ??= new Show()), warn = parentElement.querySelector("[role=alert]");
  show.take(data, ({ slide, into, asked }) => {
    if (slide) setStateValue("slide", slide);
    else setTriggerValue(...(into ? ["into", into] : ["asked", asked]));
  });
  parentElement.querySelector("ol").classList.toggle("turned", data.turned);
  thumbnails(parentElement.querySelector("ol"), data, (at) => setStateValue("slide", at + 1));
  if (!show.dialog.open) show.at = data.start;
  parentElement.querySelector(".ready").textContent = data.ready;
  parentElement.querySelector("[data-do=begin]").onclick = () => show.begin(data.start);
  parentElement.querySelector("[data-do=notes]").onclick = () => {
    warn.textContent = show.notes()
      ? ""
      : "The browser did not open a second window: allow it for this address, and press again.";
  };
  if (data.open && show.opened !== data.open) {
    show.opened = data.open;
    show.begin(data.start);
  }
}
