// ε and People as drags. While somebody drags, every stop is drawn here from stored runs, over the plane of the page,
// and the server is not asked. On release it is told the stop once, and its run takes the film's place.
const REST = 700; // milliseconds after the last key until the page runs the stop
const INSET = 20; // pixels from a track's end to its first stop
// part of the plane that must be in sight to draw there; pixels that a film needs elsewhere
const SEEN = 0.75, LEAST = 220;
const TALL = 44, FLOOR = 38; // pixels: a track's height, and where its lowest value is
const near = (name) =>
  new URL(`../../${name}`, document.querySelector('script[type="module"][src*="static/js/"]')?.src ?? location.href)
    .href;
const svg = (name, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  return node;
};

/** A slider with few stops. `moved(i)` is told every stop that is passed, `ended(i)` the one where it is let go. */
class Track {
  constructor(box, label, { moved, ended, left }) {
    Object.assign(this, { box, moved, ended, left, at: 0, place: 0, texts: [], curve: null });
    this.picture = svg("svg", { "aria-hidden": "true" });
    this.still = this.picture.appendChild(svg("g", {}));
    this.pole = this.picture.appendChild(svg("line", { class: "pole", y1: 0, y2: TALL - 2 }));
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

  /** Show these stops: what is written below each, and the curve through them, if any. */
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

  /** Put the knob at a stop, or between two of them, where no stop is the page's. */
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
      this.edge = box.getBoundingClientRect(); // once a drag: nothing moves while somebody drags
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

class Drag {
  constructor(root) {
    root.innerHTML = `<div class="fields"><div class="epsilon"><div class="name"></div><div class="track"></div></div>
      <div class="people"><div class="name"></div><div class="track"></div></div></div>`;
    const ends = { ended: () => this.end(), left: () => this.back() }, find = (name) => root.querySelector(name);
    Object.assign(this, {
      root,
      films: new Map(),
      names: [find(".epsilon .name"), find(".people .name")],
      people: find(".people"),
    });
    const classes = "dp-verdict dpviz-said";
    this.said = Object.assign(document.createElement("div"), { className: classes, ariaHidden: "true" });
    [this.promise, this.truth] = ["promise", "truth"].map((className) =>
      this.said.appendChild(Object.assign(document.createElement("p"), { className })),
    );
    this.epsilon = new Track(find(".epsilon .track"), "Privacy budget ε", {
      ...ends,
      moved: (i) => this.go(this.edition, i),
    });
    this.size = new Track(find(".people .track"), "People", { ...ends, moved: (i) => this.go(i, this.stop) });
  }

  /** Take what the page says now: the stored runs, and the run that it shows. */
  take(data, send) {
    const before = this.data, fresh = before?.record !== data.record;
    Object.assign(this, { data, send });
    if (fresh) {
      Object.assign(this, JSON.parse(data.record));
      this.drop();
      import(near(data.stage))
        .then(({ Stage }) => {
          this.Stage = Stage;
        })
        .catch((error) => console.error(error)); // without it the words and the track still follow
    }
    this.epsilon.box.setAttribute("aria-disabled", data.locked);
    this.size.box.setAttribute("aria-disabled", data.locked || data.fixed);
    this.people.hidden = this.editions.length < 2;
    const same =
      before &&
      !fresh &&
      before.epsilon === data.epsilon &&
      before.edition === data.edition &&
      before.busy === data.busy;
    if (data.busy && this.box?.classList.contains("card")) this.lift(); // progress and Cancel are below it
    if (same || this.active || data.busy)
      return void (fresh && this.show(this.edition ?? this.home[0], this.stop ?? this.home[1]));
    this.lift();
    this.show(...this.home);
  }

  get active() { return this.epsilon.held || this.size.held; }
  /** Return [edition, place on the track] of the run that the page shows. */
  get home() {
    const { editions, data } = this,
      i = Math.max(
        0,
        editions.findIndex((one) => one.name === data.edition),
      ),
      stops = editions[i].stops;
    const next = stops.findIndex((one) => one.epsilon >= data.epsilon);
    if (next < 0) return [i, stops.length - 1 - 1e-6];
    if (stops[next].epsilon === data.epsilon) return [i, next];
    if (!next) return [i, 1e-6];
    const [low, high] = [stops[next - 1].epsilon, stops[next].epsilon];
    return [i, next - 1 + Math.log(data.epsilon / low) / Math.log(high / low)];
  }

  /** Show a stop of an edition on the tracks and in words. */
  show(edition, place) {
    const { stops } = this.editions[edition], whole = Number.isInteger(place), here = stops[Math.round(place)];
    if (this.edition !== edition || this.laid !== this.data.record) {
      const truth = here.truth.length > 0;
      this.epsilon.set(stops.map((one) => one.label), truth ? stops : null, this.top);
      this.size.set(this.editions.map((one) => one.people), null, 1);
      this.laid = this.data.record;
      this.curve = truth ? "the track is the loss, × KMeans', 10 to 90 % of reruns" : "";
    }
    Object.assign(this, { edition, stop: place });
    const between = `ε ${this.data.epsilon} lies beside the stored stops: drag to one of them to see its reruns.`;
    this.epsilon.show(place, whole ? here.spoken : between);
    this.size.show(edition, `${this.editions[edition].people} people. ${whole ? here.spoken : ""}`);
    named(this.names[0], "Privacy budget", `ε ${whole ? here.label : this.data.epsilon}`, this.curve);
    named(this.names[1], "People", this.editions[edition].people, "");
    say(this.promise, whole ? here.promise : [between]);
    say(this.truth, whole ? here.truth : []);
    this.truth.hidden = !whole || !here.truth.length;
  }

  /** Pass a stop: everything that follows it, at once. */
  go(edition, place) {
    const stop = Math.round(place);
    this.touched = true;
    this.show(edition, stop);
    this.draw(edition, stop);
  }

  draw(edition, stop) {
    const plane = [...document.querySelectorAll(`${this.data.scope} .dpviz-stage`)].find(
      (one) => one.panel?.data.name === "plane",
    );
    const verdict = document.querySelector(this.data.words);
    if (plane && this.Stage && !this.box?.isConnected) this.lay(plane);
    if (verdict && this.said.parentElement !== verdict) verdict.append(this.said); // in place of the run's own
    if (!plane || !this.Stage) return;
    for (const [i, film] of this.films) film.room.hidden = i !== edition;
    const film = this.films.get(edition) ?? this.film(edition, stop);
    film.stage.resize();
    film.stage.show(stop);
  }

  /** Lay an empty film over the plane, in its place, size and zoom; where little of it is in sight, below the words. */
  lay(plane) {
    const edge = plane.getBoundingClientRect(),
      mine = this.root.getBoundingClientRect(),
      below = innerHeight - mine.bottom - 12;
    const over = below < LEAST || Math.min(edge.bottom, innerHeight) - Math.max(edge.top, 0) > SEEN * edge.height;
    const { meta, margin: m, height } = plane.panel.film.layout,
      { zoomed } = plane.panel;
    const tall = over ? Infinity : below,
      shape = meta?.ar ? { meta: { ...meta, h: Math.min(meta.h, tall) } } : { height: Math.min(height, tall) };
    const wide = over
      ? ""
      : `${meta?.ar ? Math.min(mine.width, (shape.meta.h - m.t - m.b) / meta.ar + m.l + m.r) : mine.width}px`;
    const fit = JSON.stringify([shape, m, wide, zoomed]);
    if (fit !== this.fit || !this.box) {
      this.drop();
      this.box = Object.assign(document.createElement("div"), { ariaHidden: "true" }); // the slider says it
      Object.assign(this, { fit, shape: { ...shape, margin: m }, wide, zoomed });
    }
    this.box.className = over ? "dpviz-film" : "dpviz-film card";
    this.box.style.height = over ? "" : `${below + 12}px`; // to the window's end, over the run before
    (over ? plane : this.root).append(this.box);
    document.documentElement.classList.add("dpviz-dragging");
  }

  /** Make the film of an edition. */
  film(edition, stop) {
    const figure = JSON.parse(this.editions[edition].figure);
    Object.assign(figure.layout, this.shape);
    const room = this.box.appendChild(document.createElement("div"));
    room.style.width = this.wide;
    const canvas = room.appendChild(document.createElement("canvas"));
    const failed = (error) => { console.error(error); this.lift(); this.Stage = undefined; };
    const film = { room, stage: new this.Stage(canvas, figure, { step: stop, zoom: this.zoomed, failed }) };
    this.films.set(edition, film);
    return film;
  }

  /** Let the page run the stop that is shown, unless it shows that run already. */
  end() {
    if (!this.touched) return;
    this.touched = false;
    const [edition, place] = this.home;
    if (edition === this.edition && place === this.stop) return this.lift();
    const one = this.editions[this.edition];
    this.send("released", [one.stops[this.stop].epsilon, one.name, Date.now()]);
  }

  /** Go back to the run that the page shows. */
  back() {
    this.touched = false;
    this.lift();
    this.show(...this.home);
  }

  lift() {
    this.box?.remove();
    this.said.remove();
    document.documentElement.classList.remove("dpviz-dragging");
  }

  drop() {
    this.films.forEach(({ stage }) => stage.close());
    this.films.clear();
    this.lift();
    this.box = undefined;
  }

  close() {
    this.drop();
    this.epsilon.close();
    this.size.close();
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

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".dpviz-drag");
  const drag = (root.drag ??= new Drag(root));
  drag.take(data, setStateValue);
  return () => setTimeout(() => { if (!root.isConnected) drag.close(); });
}
