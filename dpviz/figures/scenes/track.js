// A slider for ε with a few stops, the curve of stored runs along it, and a knob on the curve. It works in any page.
const REST = 700; // milliseconds after the last key until a stop counts as chosen
const INSET = 20; // pixels from a track's end to its first stop
const TALL = 30, FLOOR = 25; // height of a track and position of its lowest value, in pixels
const svg = (name, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  return node;
};

/** A slider with a few stops. It calls `moved(i)` for each stop that is passed, and `ended(i)` for the last one. */
class Track {
  constructor(box, label, { moved, ended, left }) {
    Object.assign(this, { box, moved, ended, left, at: 0, place: 0, texts: [], curve: null });
    this.picture = svg("svg", { "aria-hidden": "true" });
    this.still = this.picture.appendChild(svg("g", {}));
    this.pole = this.picture.appendChild(svg("line", { class: "pole", y1: 5, y2: TALL - 2 }));
    this.knob = this.picture.appendChild(svg("circle", { class: "knob", r: 8 }));
    this.stops = Object.assign(document.createElement("div"), { className: "stops" });
    this.stops.setAttribute("aria-hidden", "true");
    box.append(this.picture, this.stops);
    for (const [key, value] of Object.entries({
      role: "slider",
      tabindex: "0",
      "aria-label": label,
      "aria-valuemin": "0",
    }))
      box.setAttribute(key, value);
    this.listen();
    this.sized = new ResizeObserver(() => { if (box.clientWidth !== this.width) this.lay(); });
    this.sized.observe(box);
  }

  /** Show these stops with their labels and the curve through them, if any. */
  set(texts, curve, top) {
    Object.assign(this, { texts, curve, top });
    this.box.setAttribute("aria-valuemax", texts.length - 1);
    this.stops.replaceChildren(
      ...texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })),
    );
    this.lay();
  }

  get disabled() { return this.box.getAttribute("aria-disabled") === "true"; }
  x(i) { return INSET + (i * (this.width - 2 * INSET)) / Math.max(this.texts.length - 1, 1); }
  y(ratio) { return FLOOR - (FLOOR - 6) * Math.min(1, Math.max(0, Math.log(ratio) / Math.log(this.top))); }

  lay() {
    this.width = this.box.clientWidth;
    if (!this.width) return;
    const { curve } = this, line = (values) => values.map((v, i) => `${this.x(i)} ${this.y(v)}`);
    this.still.replaceChildren();
    if (curve) {
      const edge = [...line(curve.map((s) => s.high)), ...line(curve.map((s) => s.low)).reverse()];
      this.still.append(
        svg("path", { class: "band", d: `M${edge.join("L")}Z` }),
        svg("line", { class: "best", x1: this.x(0), x2: this.x(curve.length - 1), y1: this.y(1), y2: this.y(1) }),
      );
      this.still.append(svg("path", { class: "curve", d: `M${line(curve.map((s) => s.median)).join("L")}` }));
    } else {
      this.still.append(
        svg("line", { class: "plain", x1: this.x(0), x2: this.x(this.texts.length - 1), y1: TALL / 2, y2: TALL / 2 }),
      );
      this.still.append(
        ...this.texts.map((_, i) => svg("circle", { class: "dot", r: 4, cx: this.x(i), cy: TALL / 2 })),
      );
    }
    [...this.stops.children].forEach((text, i) => (text.style.left = `${this.x(i)}px`));
    this.show(this.place, this.spoken);
  }

  /** Put the knob at a stop or, if the page's ε is not a stop, between two of them. */
  show(place, spoken) {
    const i = Math.round(place), whole = i === place, { curve } = this;
    Object.assign(this, { place, at: i, spoken });
    this.box.setAttribute("aria-valuenow", i);
    this.box.setAttribute("aria-valuetext", spoken ?? "");
    if (!this.width) return;
    const x = this.x(place),
      mix = (key) => curve[Math.floor(place)][key] ** (1 - (place % 1)) * curve[Math.ceil(place)][key] ** (place % 1);
    const y = curve ? this.y(whole ? curve[i].own : mix("median")) : TALL / 2;
    for (const [key, value] of [["x1", x], ["x2", x]]) this.pole.setAttribute(key, value);
    this.knob.setAttribute("cx", x);
    this.knob.setAttribute("cy", y);
    if (this.lit !== (whole ? i : -1))
      [...this.stops.children].forEach((text, k) => text.classList.toggle("now", whole && k === i));
    this.lit = whole ? i : -1;
  }

  listen() {
    const { box } = this;
    const go = (i) => {
      const next = Math.max(0, Math.min(this.texts.length - 1, i));
      if (next !== this.at || !Number.isInteger(this.place)) this.moved(next);
    };
    const under = (event) =>
      go(
        Math.round(
          ((event.clientX - this.edge.left - INSET) / (this.edge.width - 2 * INSET)) * (this.texts.length - 1),
        ),
      );
    box.onpointerdown = (event) => {
      if (this.disabled || event.button) return;
      box.setPointerCapture(event.pointerId);
      this.edge = box.getBoundingClientRect(); // measured once per drag, because the page does not move meanwhile
      this.held = true;
      under(event);
    };
    box.onpointermove = (event) => { if (this.held) under(event); };
    box.onpointerup = () => { if (this.held) { this.held = false; this.ended(); } };
    box.onpointercancel = () => { if (this.held) { this.held = false; this.left(); } }; // the touch became a scroll
    box.onkeydown = (event) => {
      const by = {
        ArrowLeft: -1,
        ArrowDown: -1,
        ArrowRight: 1,
        ArrowUp: 1,
        PageDown: -2,
        PageUp: 2,
        Home: -99,
        End: 99,
      }[event.key];
      if (
        this.disabled ||
        event.altKey ||
        event.ctrlKey ||
        event.metaKey ||
        (by === undefined && event.key !== "Enter" && event.key !== "Escape")
      )
        return;
      event.preventDefault();
      event.stopPropagation();
      clearTimeout(this.timer);
      if (event.key === "Escape") return this.left();
      if (event.key === "Enter") return this.ended();
      const before = Math.floor(this.place), whole = Number.isInteger(this.place);
      go(whole ? this.at + by : by < 0 ? before + 1 + by : before + by);
    };
    box.onkeyup = () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.ended(), REST); };
    box.onblur = () => { clearTimeout(this.timer); if (!this.held) this.ended(); };
  }

  close() {
    clearTimeout(this.timer);
    this.sized.disconnect();
  }
}

const named = (box, name, value, more) => {
  const text = `${name} ${value}`;
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  const [strong, note] = ["b", "i"].map((kind) => document.createElement(kind));
  [strong.textContent, note.textContent] = [value, more && `· ${more}`];
  note.style.fontStyle = "normal";
  box.replaceChildren(`${name} `, strong, note);
};

/** Write parts of a sentence, every second one bold. */
const say = (box, parts) => {
  box.replaceChildren(
    ...parts.map((part, i) => (i % 2 ? Object.assign(document.createElement("b"), { textContent: part }) : part)),
  );
};
