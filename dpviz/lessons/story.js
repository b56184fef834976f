// Start: six screens that scroll beside one picture. The scroll position decides what the picture shows, so
// scrolling is its player. A record holds its text and numbers. The page around it is its host:
//   top()         how many pixels stick at the window's top
//   foot          pixels at the bottom of a phone that the page covers
//   note(screen)  receives the screen that is seen, counted from 1
const GLIDE = 220; // milliseconds from a stop of ε, or a number of people, to another
const RING = 420; // milliseconds from the rings of one number of clusters to those of the next
const EDGE = 6; // pixels around the plane
const LOUPE = { x: -8300, y: -5300, r: 3400 }; // the lens in the plane, in meters: a corner where nobody lives
const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"]; // events with which somebody scrolls
const clamp = (v, low = 0, high = 1) => Math.max(low, Math.min(high, v));
const ease = (v) => { const t = clamp(v); return t * t * (3 - 2 * t); };
const mix = (a, b, t) => a + (b - a) * t;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const node = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    key in made ? (made[key] = value) : made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const unpack = (text) => new Int16Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
/** Write a sentence in which ** begins and ends bold text. */
const write = (box, text = "") => {
  if (box.written === text) return;
  box.written = text;
  box.replaceChildren(
    ...text
      .split("**")
      .map((part, i) => (i % 2 ? node("b", { textContent: part }) : part))
      .filter((part) => part !== ""),
  );
};
const drawn = (from) => from[Math.floor(Math.random() * from.length)];

const SIGNS = {
  person: '<circle cx="8" cy="8" r="3" fill="none" stroke="var(--dp-person)" stroke-width="1.4"/>',
  ring: '<circle cx="8" cy="8" r="6.5" fill="none" stroke="var(--dp-hidden)" stroke-width="2"/>' +
    '<circle cx="8" cy="8" r="2" fill="var(--dp-hidden)"/>',
  wrong: '<circle cx="8" cy="8" r="6.5" fill="none" stroke="var(--dp-hidden)" stroke-width="1.4" ' +
    'stroke-dasharray="2.4 2.4"/>',
  guess: '<circle cx="8" cy="8" r="4" fill="var(--dp-hidden)" opacity=".55"/>',
  alex: '<circle cx="8" cy="8" r="6.5" fill="none" stroke="var(--dp-hidden)" stroke-width="2.4"/>',
  exact: '<path d="M8 1l7 7-7 7-7-7z" fill="none" stroke="var(--dp-hidden)" stroke-width="2"/>',
  released: '<circle cx="8" cy="8" r="6" fill="var(--dp-released)"/>',
  with: '<path d="M8 2v12M2 8h12" fill="none" stroke="var(--dp-ink)" stroke-width="2"/>',
  without: '<circle cx="8" cy="8" r="5.5" fill="none" stroke="var(--dp-ink)" stroke-width="2"/>',
  cloud: '<circle cx="8" cy="8" r="5" fill="var(--dp-released)" opacity=".35"/>',
};
const sign = (name, words) => {
  const made = node("span");
  made.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true">${SIGNS[name]}</svg>`;
  made.append(words);
  return made;
};

class Story {
  constructor(root, host) {
    Object.assign(this, { root, host, at: -1, place: 0, step: 0, ring: 0, cloud: null, glide: 1, given: 0 });
    this.smart = false;
    this.canvas = node("canvas", { role: "img" });
    this.key = node("div", { className: "key" });
    this.stage = node("div", { className: "stage" }, this.canvas, this.key);
    this.screens = node("div", { className: "screens" });
    this.rail = node("nav", { className: "rail", ariaLabel: "Screens" });
    this.said = node("output", { className: "say" });
    this.said.setAttribute("aria-live", "polite");
    root.replaceChildren(this.rail, this.stage, this.screens, this.said);
    this.pen = this.canvas.getContext("2d");
    for (let host = root; host; host = host.parentNode ?? host.host) {
      if (host instanceof Element && /auto|scroll/.test(getComputedStyle(host).overflowY)) {
        this.scroller = host;
        break;
      }
    }
    this.scroller ??= document.scrollingElement;
    this.listen();
  }

  /** Take the page's present data: missing parts may have arrived, and the colors may have changed. */
  take(data, tell) {
    Object.assign(this, { tell, doors: data.doors });
    if (data.record !== this.text) {
      this.text = data.record;
      this.record = JSON.parse(data.record);
      this.people ??= unpack(this.record.people);
      this.clouds = this.record.editions.map((one) => unpack(one.cloud));
      this.fewer = this.record.editions.map((one) => (one.people ? unpack(one.people) : this.people));
      this.e ??= this.record.start;
      this.n ??= Math.max(0, this.record.editions.length - 1);
      if (this.record.editions.length && this.fresh !== this.record.editions.length) {
        this.fresh = this.record.editions.length;
        this.n = this.fresh - 1;
        this.cloud = null;
      }
      if (!this.sections) this.build();
      this.fill();
    }
    this.failed = data.failed;
    this.paint();
    this.measure();
    if (data.opened !== this.opened) {
      this.opened = data.opened;
      this.held = data.screen - 1; // until the visitor scrolls, because the page around the story may still grow
      for (const ms of [0, 200, 600, 1500]) setTimeout(() => this.hold(), ms);
    }
    this.draw();
  }

  /** Make the six sections, once. */
  build() {
    const { record, doors } = this,
      parts = () => ({ text: node("p"), big: node("p", { className: "big" }), note: node("p") });
    this.parts = record.titles.map(parts);
    this.answers = ["In", "Out"].map((word, i) =>
      node("button", { className: "press", textContent: word, type: "button", onclick: () => this.bet(i === 0) }),
    );
    this.again = node("button", {
      className: "press",
      textContent: "Again",
      type: "button",
      hidden: true,
      onclick: () => this.deal(true),
    });
    this.chips = node(
      "span",
      { className: "chips", ariaHidden: "true" },
      ...Array.from({ length: 6 }, () => node("i")),
    );
    this.range = node("input", {
      type: "range",
      min: 0,
      max: record.stops.length - 1,
      step: 1,
      value: this.e,
      ariaLabel: "Privacy budget ε",
    });
    this.range.oninput = () => this.turn(Number(this.range.value), this.n);
    this.stops = node(
      "div",
      { className: "stops", ariaHidden: "true" },
      ...record.stops.map((text) => node("span", { textContent: text })),
    );
    this.noises = node("input", { type: "range", min: 0, max: 0, step: 1, value: 0, disabled: true });
    this.noises.oninput = () => this.drown(Number(this.noises.value), false);
    this.strengths = node("div", { className: "stops", ariaHidden: "true" });
    this.smarter = node("button", {
      className: "press",
      type: "button",
      hidden: true,
      onclick: () => this.drown(this.record.noise.stops.length - 1, !this.smart),
    });
    this.crowds = node("div", { className: "row", role: "group", ariaLabel: "People" });
    const link = (door) =>
      node("a", { href: door.href, textContent: door.title, onclick: (event) => this.leave(event, door) });
    const card = (door) =>
      node(
        "a",
        { href: door.href, className: "door", onclick: (event) => this.leave(event, door) },
        node("b", { textContent: door.title }),
        node("span", { textContent: door.words }),
      );
    const after = [
      doors.filter((door) => door.screen === 1).map(link),
      [this.noises, this.strengths, this.smarter],
      [
        node("div", { className: "row" }, ...this.answers, this.again, this.chips),
        node("div", { className: "row links" }, ...doors.filter((door) => door.screen === 3).map(link)),
      ],
      [this.range, this.stops],
      [this.crowds],
      doors.filter((door) => door.screen === 6).map(card),
    ];
    const order = (i, { text, big, note }) =>
      [
        [text, big, note, ...after[0]],
        [text, ...after[1].slice(0, 2), big, note, this.smarter],
        [text, big, after[2][0], note, ...after[2].slice(1)],
        [text, ...after[3], big, note],
        [text, ...after[4], big, note],
        [text, ...after[5]],
      ][i];
    this.sections = record.titles.map((title, i) =>
      node(
        "section",
        { ariaLabel: `${i + 1} of ${record.titles.length}` },
        node(i ? "h2" : "h1", { textContent: title }),
        ...order(i, this.parts[i]),
      ),
    );
    this.screens.replaceChildren(...this.sections);
    const dot = (title, i) =>
      node("button", { type: "button", ariaLabel: `${i + 1}: ${title}`, title, onclick: () => this.go(i) });
    this.rail.replaceChildren(...record.titles.map(dot));
    this.deal();
  }

  /** Write the facts that are known by now. */
  fill() {
    const { record, parts } = this,
      { given, noise, bets, editions } = record;
    record.texts.forEach((text, i) => write(parts[i].text, text));
    if (given) write(parts[0].note, given.note);
    if (noise && !this.drowned) {
      this.drowned = noise.stops.map((stop) => unpack(stop.places));
      this.v = noise.stops.length - 1;
      this.noises.max = this.v;
      this.noises.setAttribute("aria-label", noise.slider);
      this.smarter.textContent = noise.button;
      this.strengths.replaceChildren(...noise.stops.map((stop) => node("span", { textContent: stop.name })));
    }
    if (given && !this.given) {
      this.given = 1;
      this.ring = still.matches || this.place > 0 ? given.steps.length - 1 : 0;
    }
    if (bets && !this.hand?.ready) this.deal();
    if (this.crowds.childElementCount !== editions.length) {
      this.crowds.replaceChildren(
        ...editions.map((one, i) =>
          node("button", {
            className: "press",
            type: "button",
            textContent: one.name,
            onclick: () => this.turn(this.e, i),
          }),
        ),
      );
    }
    this.tellRings();
    this.tellNoise();
    this.tellStop();
    this.tellBets();
    this.say(true);
  }

  tellRings() {
    const { given } = this.record;
    write(this.parts[0].big, given ? given.big : this.failed || "Reading the averages …");
    clearTimeout(this.ringing);
    if (given && this.ring < given.steps.length - 1) {
      this.ringing = setTimeout(() => {
        this.ring += 1;
        this.tellRings();
        this.draw();
      }, RING);
    }
  }

  /** Write what the averages are worth at the chosen noise, or what the smarter publication is worth. */
  tellNoise() {
    const { noise } = this.record,
      { big, note } = this.parts[1];
    this.noises.disabled = !noise;
    if (!noise) {
      write(big, this.failed || "These runs are not stored here.");
      return;
    }
    const stop = noise.stops[this.v];
    write(big, this.smart ? noise.smart.smarter : stop.big);
    write(note, this.smart ? noise.smart.why : stop.note);
    this.noises.value = this.v;
    this.noises.setAttribute("aria-valuetext", stop.say);
    [...this.strengths.children].forEach((one, i) => one.classList.toggle("now", i === this.v));
    this.smarter.hidden = !noise.smart;
    this.smarter.setAttribute("aria-pressed", this.smart);
  }

  /** Change the noise on the averages, or publish something smarter. */
  drown(v, smart) {
    if (v === this.v && smart === this.smart) return;
    this.sunk = this.places();
    Object.assign(this, { v, smart, from: null, glide: still.matches ? 1 : 0, begun: performance.now() });
    this.tellNoise();
    if (this.at >= 0) this.legend(this.at);
    this.say();
    this.draw();
  }

  /** Return the averages and the attacker's guesses at their current places between two strengths of the noise. */
  places() {
    const to = this.drowned?.[this.v];
    if (!to || !this.sunk || this.glide >= 1) return to;
    const t = ease(this.glide);
    return Float32Array.from(to, (value, i) => mix(this.sunk[i], value, t));
  }

  tellStop() {
    const { editions } = this.record,
      whole = editions[0]?.stops[this.e],
      some = editions[this.n]?.stops[this.e];
    const none = this.failed || "The runs are being made …";
    write(this.parts[3].big, whole ? whole.epsilon.big : none);
    write(this.parts[4].big, some ? some.people.big : none);
    this.parts[4].big.classList.toggle("weak", Boolean(some?.weak));
    this.range.value = this.e;
    this.range.disabled = !whole;
    this.range.setAttribute("aria-valuetext", whole ? whole.epsilon.say : "");
    [...this.stops.children].forEach((one, i) => one.classList.toggle("now", i === this.e));
    [...this.crowds.children].forEach((one, i) => one.setAttribute("aria-pressed", i === this.n));
  }

  /** Change ε, or the number of people. */
  turn(e, n) {
    if (e === this.e && n === this.n) return;
    this.from = this.seen();
    Object.assign(this, { e, n, sunk: null, glide: still.matches ? 1 : 0, begun: performance.now() });
    this.tellStop();
    this.say();
    this.draw();
  }

  /** Deal six rounds: for each a coin picks the world, and then one of its rounds is drawn. */
  deal(fresh = false) {
    const { bets } = this.record;
    const one = (rounds) => {
      const inside = Math.random() < 0.5;
      return drawn(rounds.filter((round) => round.inside === inside));
    };
    this.hand = {
      ready: Boolean(bets),
      rounds: bets ? [0, 1, 2].map(() => one(bets.exact)).concat([0, 1, 2].map(() => one(bets.noisy))) : [],
      right: [],
    };
    if (!this.sections) return;
    this.tellBets();
    if (fresh) this.answers[0].focus({ preventScroll: true });
    this.draw();
  }

  bet(inside) {
    const { hand } = this,
      i = hand.right.length;
    if (!hand.ready || i >= hand.rounds.length) return;
    hand.right.push(hand.rounds[i].inside === inside);
    this.tellBets();
    const words = `${hand.right[i] ? "Right" : "Wrong"}: Alex was ${hand.rounds[i].inside ? "in" : "out"}.`;
    this.said.textContent = `${words} ${this.parts[2].big.textContent} ${this.parts[2].note.textContent}`;
    if (hand.right.length === hand.rounds.length) this.again.focus({ preventScroll: true });
    this.draw();
  }

  tellBets() {
    const { bets } = this.record,
      { right, rounds } = this.hand,
      done = bets && right.length === rounds.length;
    const won = (some) => some.filter(Boolean).length;
    write(
      this.parts[2].big,
      bets ? (done ? "" : bets.prompts[right.length]) : this.failed || "The rounds are being played …",
    );
    write(
      this.parts[2].note,
      [bets && right.length >= 3 && bets.after[won(right.slice(0, 3))], done && bets.coin[won(right.slice(3))]]
        .filter(Boolean)
        .join(" "),
    );
    this.answers.forEach((one) => {
      one.disabled = !bets;
      one.hidden = Boolean(done);
    });
    this.again.hidden = !done;
    [...this.chips.children].forEach((one, i) => {
      one.hidden = i >= 3 && right.length < 3; // the second three bets are announced after the first three
      one.className = right[i] === undefined ? "" : right[i] ? "right" : "wrong";
      one.textContent = right[i] === undefined ? "" : right[i] ? "✓" : "✗";
    });
  }

  /** Tell screen readers one sentence and the picture's name, on a new screen or when its number has changed. */
  say(quiet = false) {
    const { record, at } = this,
      { given, noise, bets, editions } = record,
      last = editions[this.n]?.stops[this.e];
    const words =
      [
        given?.say,
        this.smart ? noise.smart.told : noise?.stops[this.v].say,
        bets?.say,
        editions[0]?.stops[this.e].epsilon.say,
        last?.people.say,
        record.turn,
      ][Math.max(at, 0)] ?? record.titles[Math.max(at, 0)];
    this.canvas.setAttribute("aria-label", words);
    if (!quiet && this.said.textContent !== words) this.said.textContent = words;
  }

  /** Go to a page in this session; a click for a new tab or window is left to the browser. */
  leave(event, door) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.tell("door", { page: door.page, stop: this.e });
  }

  listen() {
    addEventListener("beforeprint", (this.settled = () => this.settle()));
    this.moved = () => {
      this.asked ??= requestAnimationFrame(() => {
        this.asked = undefined;
        this.scrolled();
      });
    };
    this.sized = new ResizeObserver(() => {
      const at = this.held ?? Math.round(this.place);
      this.measure();
      if (this.step && at !== Math.round(this.where())) this.go(at, "auto"); // after a resize, show the same screen
      this.draw();
    });
    this.sized.observe(this.scroller);
    this.freed = () => {
      this.held = undefined;
    };
    for (const kind of HANDS) document.addEventListener(kind, this.freed, { passive: true, capture: true });
    this.scroller.addEventListener("scroll", this.moved, { passive: true });
    this.pressed = (event) => {
      const target = event.composedPath()[0];
      if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || !this.step) return;
      if (
        target instanceof Element &&
        (target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=slider]") ||
          (event.key === " " && target.closest("button, a")))
      )
        return;
      const by = {
        ArrowDown: 1,
        ArrowRight: 1,
        PageDown: 1,
        " ": event.shiftKey ? -1 : 1,
        ArrowUp: -1,
        ArrowLeft: -1,
        PageUp: -1,
        Home: -9,
        End: 9,
      }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.go((this.aim ?? Math.max(this.at, 0)) + by);
    };
    document.addEventListener("keydown", this.pressed);
  }

  /** Give paper the last picture and number of what is moving; it has no controls. */
  settle() {
    if (!this.sections) return;
    if (this.record.given) this.ring = this.record.given.steps.length - 1;
    this.glide = 1;
    this.tellRings();
    this.frame(performance.now());
  }

  close() {
    this.sized.disconnect();
    removeEventListener("beforeprint", this.settled);
    this.scroller.removeEventListener("scroll", this.moved);
    document.removeEventListener("keydown", this.pressed);
    for (const kind of HANDS) document.removeEventListener(kind, this.freed, { capture: true });
    cancelAnimationFrame(this.asked);
    cancelAnimationFrame(this.drawing);
    for (const timer of [this.ringing, this.aiming]) clearTimeout(timer);
  }

  /** Lay the page out: one screen is the window below the parts that stick to its top. */
  measure() {
    const { root, scroller } = this,
      width = root.clientWidth,
      narrow = width < 720;
    if (!width || !this.sections) return;
    const { foot } = this.host,
      top = this.host.top();
    const high = Math.max(scroller.clientHeight - top - (narrow ? foot : 0), 320),
      [low, up] = [this.record.low, this.record.high];
    root.classList.toggle("narrow", narrow);
    this.narrow = narrow;
    const keyed = narrow ? this.tallest() : 36,
      wide = narrow ? width : this.stage.clientWidth;
    const shape = (up[1] - low[1]) / (up[0] - low[0]),
      room = narrow ? Math.min(high * 0.46, width * shape + 2 + keyed) : high - 24;
    const tall = Math.min(room - keyed, (narrow ? width : root.clientWidth - root.firstChild.clientWidth) * shape + 2);
    this.canvas.style.height = `${Math.round(Math.min(tall, wide * shape + 2))}px`;
    const stage = narrow ? Math.round(tall) + keyed + 4 : high;
    Object.assign(this.stage.style, { top: `${top}px`, height: `${stage}px` });
    Object.assign(this.rail.style, { top: narrow ? "" : `${top}px`, height: narrow ? "" : `${high}px` });
    this.step = narrow ? Math.max(high - stage, 240) : high;
    const least = narrow
      ? Math.max(
          ...this.sections.map(
            (one) => one.lastElementChild.offsetTop + one.lastElementChild.offsetHeight - one.offsetTop + 12,
          ),
        )
      : 0;
    this.step = Math.ceil(Math.max(this.step, least));
    for (const one of this.sections) one.style.height = `${this.step}px`;
    root.style.marginBottom = narrow ? `${foot}px` : "";
    if (this.at >= 0) this.legend(this.at);
    this.top = top;
  }

  /** Return the height of the tallest key of all screens, which may take two lines on a phone. */
  tallest() {
    const heights = this.sections.map((_, at) => {
      this.legend(at);
      return this.key.scrollHeight;
    });
    return Math.max(...heights);
  }

  /** Return how far the page is scrolled, in screens. */
  where() {
    const edge = this.root.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - this.top;
    return clamp(-edge / this.step, 0, this.sections.length - 1);
  }

  go(i, behavior = still.matches ? "auto" : "smooth") {
    if (!this.step) return;
    const to = clamp(i, 0, this.sections.length - 1);
    this.aim = to; // the next press counts from here, even if the page has not arrived yet
    clearTimeout(this.aiming);
    this.aiming = setTimeout(
      () => {
        this.aim = undefined;
      },
      behavior === "auto" ? 50 : 900,
    );
    const edge =
      this.root.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop;
    this.scroller.scrollTo({ top: to ? edge - this.top + to * this.step : 0, behavior });
    if (behavior === "auto") this.scrolled();
  }

  /** Go to the screen in the address. */
  hold() {
    if (this.held === undefined || !this.root.isConnected) return;
    this.measure();
    if (Math.abs(this.where() - this.held) > 0.01 || this.at < 0) this.go(this.held, "auto");
  }

  scrolled() {
    if (!this.step || !this.root.isConnected) return;
    this.place = this.where();
    const at = Math.round(this.place);
    if (at !== this.at) {
      this.at = at;
      [...this.rail.children].forEach((one, i) =>
        i === at ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current"),
      );
      this.legend(at);
      this.say();
      clearTimeout(this.noting);
      this.noting = setTimeout(() => this.note(), 120); // browsers allow only a few address changes per second
      if (at >= 2 && this.record.editions.length < 3) this.tell("needs", true);
    }
    this.draw();
  }

  /** Report the current screen, once the page rests at its target. */
  note() {
    if (!this.root.isConnected || (this.held !== undefined && this.held !== this.at)) return;
    this.host.note(this.at + 1);
  }

  /** Write the key of a screen. */
  legend(at) {
    const secret = this.narrow && at === 2 ? [] : [["person", "person"]],
      released = [];
    const exact = at === 1 && !this.smart && this.record.noise?.stops[this.v].exact;
    if (at === 0) secret.push(["ring", "a person's row"], ["wrong", "nobody's row"], ["exact", "average"]);
    if (at === 1) secret.push(["alex", "Alex"], ...(this.smart ? [] : [["guess", "maybe Alex"]]));
    if (exact) secret.push(["exact", "average"]);
    const can = this.narrow ? "" : "possible ";
    if (at > 2) secret.push(["alex", "Alex"]);
    if (at === 2) secret.push(["with", `${can}with Alex`], ["without", `${can}without`], ["exact", "exact average"]);
    if (at >= 1 && !exact && !(this.narrow && at === 2)) released.push(["released", "released center"]);
    if (at >= 3) released.push(["cloud", `in ${this.record.reruns} reruns`]);
    const signs = (words) => words.map(([name, text]) => sign(name, text));
    const apart = node("span", { className: "secret" }, node("b", { textContent: "NOT PRIVATE" }), ...signs(secret));
    this.key.replaceChildren(...signs(released), apart);
  }

  /** Take the colors of the page's theme. */
  paint() {
    const look = getComputedStyle(this.root),
      token = (name) => look.getPropertyValue(`--dp-${name}`).trim();
    const colors = Object.fromEntries(
      ["bg", "panel", "ink", "muted", "line", "released", "hidden", "person"].map((name) => [name, token(name)]),
    );
    if (JSON.stringify(colors) !== JSON.stringify(this.colors)) this.crowd = undefined;
    Object.assign(this, {
      colors,
      font: look.fontFamily,
      pale: parseInt(colors.panel.slice(1, 3), 16) < 128 ? 0.45 : 0.3,
    });
  }

  draw() {
    this.drawing ??= requestAnimationFrame((now) => {
      this.drawing = undefined;
      this.frame(now);
    });
  }

  /** All people as pictures, one for every edition: drawn once for a size and colors. */
  crowded(i) {
    const { canvas, colors, scale } = this;
    this.crowd ??= [];
    if (!this.crowd[i]) {
      const sheet = node("canvas", { width: canvas.width, height: canvas.height }),
        pen = sheet.getContext("2d"),
        some = i < 0 ? this.people : (this.fewer[i] ?? this.people);
      const r = Math.max(scale.unit * 0.042, 0.9 * scale.ratio) * (some.length < 4000 ? 1.7 : 1);
      pen.strokeStyle = colors.person;
      pen.lineWidth = Math.max(0.7 * scale.ratio, r * 0.4);
      pen.globalAlpha = some.length < 4000 ? 1 : 0.75;
      pen.beginPath();
      for (let j = 0; j < some.length; j += 2) {
        const [x, y] = this.to(some[j], some[j + 1]);
        pen.moveTo(x + r, y);
        pen.arc(x, y, r, 0, 7);
      }
      pen.stroke();
      this.crowd[i] = sheet;
    }
    return this.crowd[i];
  }

  to(x, y) {
    const { scale } = this;
    return [scale.x + (x * scale.unit) / 1000, scale.y - (y * scale.unit) / 1000];
  }

  /** Return the cloud at its current place between two stops. */
  seen() {
    const cloud = this.target();
    if (!cloud || !this.from || this.glide >= 1) return cloud;
    const t = ease(this.glide),
      n = cloud.length,
      seen = new Float32Array(n);
    for (let j = 0; j < n; j++) seen[j] = mix(this.from[j], cloud[j], t);
    return seen;
  }

  target() {
    const edition = this.near < 3.5 ? 0 : this.n,
      all = this.clouds[edition];
    if (!all) return null;
    const size = all.length / this.record.stops.length,
      e = this.near < 2.5 ? this.record.start : this.e;
    return all.subarray(e * size, (e + 1) * size);
  }

  /** Draw one frame, a function of the scroll position and of the visitor's choices. */
  frame(now) {
    if (!this.colors.panel) this.paint();
    if (!this.colors.panel) return this.root.isConnected && this.draw(); // without a theme, everything would be black
    const { canvas, pen, record, colors } = this,
      wide = canvas.clientWidth,
      tall = canvas.clientHeight;
    if (!wide || !tall || !this.sections) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
      [canvas.width, canvas.height, this.crowd] = [Math.round(wide * ratio), Math.round(tall * ratio), undefined];
    }
    const { low, high } = record,
      rim = 2 * EDGE * ratio, // a center may lie on the bounds
      unit = Math.min((canvas.width - rim) / (high[0] - low[0]), (canvas.height - rim) / (high[1] - low[1])) * 1000;
    this.scale = { unit, ratio, x: canvas.width / 2, y: canvas.height / 2 };
    if (this.glide < 1) this.glide = clamp((now - this.begun) / GLIDE);
    const place = still.matches ? Math.round(this.place) : this.place;
    const near = Math.floor(place) + ease((place - Math.floor(place) - 0.2) / 0.6); // still within a fifth of a screen
    if (Math.round(near) >= 4 !== Math.round(this.near ?? 0) >= 4 && !still.matches && this.clouds[0]) {
      this.from = this.seen();
      Object.assign(this, { glide: 0, begun: now, sunk: null });
    }
    this.near = near;
    // return 1 on the screens `from` to `to`; the value fades to 0 on the screens next to them
    const on = (from, to = 9) => clamp(near - from + 1) * clamp(to + 1 - near);
    const box = [...this.to(low[0], high[1]), (unit * (high[0] - low[0])) / 1000, (unit * (high[1] - low[1])) / 1000];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = colors.panel;
    pen.fillRect(...box);
    const few = clamp(near - 3),
      some = this.clouds[this.n] ? this.n : 0;
    if (some === 0 || few === 0) pen.drawImage(this.crowded(0), 0, 0);
    else {
      pen.globalAlpha = 1 - few;
      pen.drawImage(this.crowded(0), 0, 0);
      pen.globalAlpha = few;
      pen.drawImage(this.crowded(some), 0, 0);
      pen.globalAlpha = 1;
    }
    if (record.given) this.exposed(on(0, 0));
    if (record.noise && !this.smart) this.sinking(on(1, 1));
    const bets = on(2, 2),
      phase = this.hand.right.length >= 3 ? 1 : 0,
      round = this.hand.rounds[Math.min(this.hand.right.length, 5)];
    if (this.clouds.length) this.released(near, bets);
    if (round && bets > 0) this.round(round, bets, phase);
    if (record.given) this.alex();
    if (round && bets > 0) this.lens(round, bets, phase);
    pen.setLineDash([3 * ratio, 3 * ratio]);
    pen.strokeStyle = colors.line;
    pen.lineWidth = ratio;
    pen.strokeRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);
    pen.setLineDash([]);
    if (this.glide < 1) this.draw();
  }

  diamond(x, y, r) {
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.closePath();
  }
  dot(x, y, r) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, r, 0, 7);
  }
  get small() {
    return clamp(this.scale.unit / this.scale.ratio / 30, 0.62, 1.15) * this.scale.ratio;
  } // marks on a small plane are smaller

  /** Draw averages, and a ring around every row that follows from them; the rings of nobody's rows are dashed. */
  exposed(w) {
    if (w <= 0) return;
    const { pen, colors, small, record } = this,
      { steps } = record.given,
      ring = Math.min(this.ring, steps.length - 1);
    pen.globalAlpha = w;
    pen.strokeStyle = pen.fillStyle = colors.hidden;
    pen.lineWidth = 2.2 * small;
    for (let i = 0; i <= ring; i++) {
      pen.setLineDash([4 * small, 4 * small]);
      for (const [x, y] of steps[i].wrong) {
        this.dot(...this.to(x, y), 9 * small * mix(0.2, 1, w));
        pen.stroke();
      }
      pen.setLineDash([]);
      for (const [x, y] of steps[i].rows) {
        const [u, v] = this.to(x, y);
        this.dot(u, v, 9 * small * mix(0.2, 1, w));
        pen.stroke();
        this.dot(u, v, 2.6 * small * w);
        pen.fill();
      }
    }
    for (const [x, y] of steps[ring].centers) {
      this.diamond(...this.to(x, y), 9 * small);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** Draw the noised averages for the right number of clusters, and the places where the attacker believes Alex is. */
  sinking(w) {
    const { pen, colors, small, record } = this,
      seen = this.places(),
      k = 2 * record.given.kmeans.length;
    if (w <= 0 || !seen) return;
    pen.fillStyle = colors.hidden;
    pen.globalAlpha = 0.55 * w;
    for (let j = k; j < seen.length; j += 2) {
      this.dot(...this.to(seen[j], seen[j + 1]), 4 * small);
      pen.fill();
    }
    pen.globalAlpha = w;
    for (let j = 0; j < k; j += 2) {
      const at = this.to(seen[j], seen[j + 1]);
      if (record.noise.stops[this.v].exact) {
        pen.strokeStyle = colors.hidden;
        pen.lineWidth = 2.4 * small;
        this.diamond(...at, 9 * small);
        pen.stroke();
        continue;
      }
      pen.fillStyle = colors.released;
      pen.strokeStyle = colors.bg;
      pen.lineWidth = 2 * small;
      this.dot(...at, 9 * small);
      pen.fill();
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** Draw released centers: those of one run, and from screen 4 on the cloud of its reruns. */
  released(near, bets) {
    const w = (near >= 2 ? 1 : this.smart ? clamp(near) : 0) * (1 - bets),
      cloud = clamp(near - 2),
      seen = this.seen();
    if (w <= 0 || !seen) return;
    const { pen, colors, small, record } = this,
      k = record.given?.kmeans ?? [];
    pen.fillStyle = colors.released;
    if (cloud > 0) {
      pen.globalAlpha = this.pale * cloud * w;
      for (let j = 2 * k.length; j < seen.length; j += 2) {
        const c = j % (2 * k.length); // from the run that is drawn solid, outward
        this.dot(...this.to(mix(seen[c], seen[j], cloud), mix(seen[c + 1], seen[j + 1], cloud)), 5.5 * small);
        pen.fill();
      }
    }
    pen.globalAlpha = w;
    pen.strokeStyle = colors.bg;
    pen.lineWidth = 2 * small;
    k.forEach(([x, y], i) => {
      const t = clamp(near); // the noise moves a center from its exact place to its released one
      this.dot(...this.to(mix(x, seen[2 * i], t), mix(y, seen[2 * i + 1], t)), 9 * small);
      pen.fill();
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  /** Draw what one round publishes. */
  round(round, w, phase) {
    const { pen, colors, small } = this;
    pen.globalAlpha = w;
    for (const [x, y] of round.centers) {
      const at = this.to(x, y);
      if (phase) {
        pen.fillStyle = colors.released;
        this.dot(...at, 9 * small);
        pen.fill();
        pen.strokeStyle = colors.bg;
        pen.lineWidth = 2 * small;
        pen.stroke();
      } else {
        pen.strokeStyle = colors.hidden;
        pen.lineWidth = 2.4 * small;
        this.diamond(...at, 10 * small);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  /** Mark Alex by a ring. */
  alex() {
    const { pen, colors, small, record } = this,
      [x, y] = this.to(...record.given.alex),
      r = 12 * small;
    const out = this.near >= 3.5 && !record.editions[this.n]?.alex; // among fewer people
    pen.globalAlpha = out ? 0.75 : 1;
    pen.strokeStyle = pen.fillStyle = colors.hidden;
    pen.lineWidth = 3 * small;
    this.dot(x, y, r);
    pen.stroke();
    pen.font = `600 ${Math.round(Math.max(15 * small, 12 * this.scale.ratio))}px ${this.font}`;
    pen.lineJoin = "round";
    pen.strokeStyle = colors.panel;
    pen.lineWidth = 4 * small;
    const [name, side] = out ? ["Alex is out", -1] : ["Alex", 1]; // the crowd is on the right
    pen.textAlign = out ? "right" : "left";
    pen.strokeText(name, x + side * r * 0.8, y - r * 0.8);
    pen.fillText(name, x + side * r * 0.8, y - r * 0.8);
    pen.globalAlpha = 1;
  }

  /** Draw the lens at the center nearest to Alex: its place with Alex, its place without, and the published one. */
  lens(round, w, phase) {
    const { pen, colors, small, record, scale } = this,
      { bets } = record,
      ratio = scale.ratio,
      grow = scale.unit / ratio < 20 ? 1.12 : 1;
    const [cx, cy] = this.to(LOUPE.x + (grow - 1) * 1200, LOUPE.y + (grow - 1) * 1200),
      r = (LOUPE.r * grow * scale.unit) / 1000,
      [mx, my] = this.to(...bets.middle);
    const zoom = r / bets.reach,
      inLens = ([x, y]) => [cx + x * zoom, cy - y * zoom];
    const text = (words, x, y, color, size = 13, align = "center") => {
      pen.font = `600 ${Math.round(Math.max(size * small, 11 * ratio))}px ${this.font}`;
      pen.textAlign = align;
      pen.strokeStyle = colors.panel;
      pen.lineWidth = 4 * small;
      pen.strokeText(words, x, y);
      pen.fillStyle = color;
      pen.fillText(words, x, y);
    };
    pen.globalAlpha = w;
    pen.lineJoin = "round";
    pen.strokeStyle = colors.muted;
    pen.lineWidth = ratio;
    const way = Math.atan2(my - cy, mx - cx);
    this.dot(mx, my, 15 * small);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(cx + r * Math.cos(way), cy + r * Math.sin(way));
    pen.lineTo(mx - 15 * small * Math.cos(way), my - 15 * small * Math.sin(way));
    pen.stroke();
    pen.fillStyle = colors.panel;
    this.dot(cx, cy, r);
    pen.fill();
    pen.lineWidth = 1.6 * ratio;
    pen.stroke();
    for (const [i, places] of [bets.inside, bets.outside].entries())
      for (const place of places) {
        const [x, y] = inLens(place),
          s = 5 * small;
        pen.strokeStyle = colors.ink;
        pen.lineWidth = 2 * small;
        pen.beginPath();
        if (i) pen.arc(x, y, s, 0, 7);
        else {
          pen.moveTo(x - s, y);
          pen.lineTo(x + s, y);
          pen.moveTo(x, y - s);
          pen.lineTo(x, y + s);
        }
        pen.stroke();
      }
    const published = inLens(round.near),
      away = Math.hypot(published[0] - cx, published[1] - cy);
    if (away < r) {
      pen.strokeStyle = phase ? colors.released : colors.hidden;
      pen.lineWidth = 2.4 * small;
      this.diamond(...published, 13 * small);
      pen.stroke();
    } else {
      const turn = Math.atan2(published[1] - cy, published[0] - cx),
        [x, y] = [cx + r * Math.cos(turn), cy + r * Math.sin(turn)],
        s = 11 * small;
      pen.fillStyle = colors.released;
      pen.beginPath();
      for (const [a, d] of [
        [0, s * 1.3],
        [2.3, s],
        [-2.3, s],
      ])
        pen.lineTo(x + d * Math.cos(turn + a), y + d * Math.sin(turn + a));
      pen.closePath();
      pen.fill();
      text(`${round.far} away`, cx, cy - r * 0.66, colors.released, 14);
    }
    text(bets.wide, cx, cy + r * 0.84, colors.muted, 12);
    pen.globalAlpha = 1;
  }
}
