// One figure of a page: the stage's canvas and, over it on “Look closely”, Plotly at the same step.
// The stage's own script (dpviz.figures.stage) is above this one; both are one file (stage.py).
const REST = 350; // milliseconds that a pointer must rest before Plotly is fetched
const zooms = (window.__dpvizZooms ??= {}); // zooms by key; stored on the window, they outlive reruns and page changes
const narrow = matchMedia("(max-width: 640px)"), wide = matchMedia("(min-width: 1000px)");
const fine = () => matchMedia("(pointer: fine)").matches;

const WORDS = 58, BELOW = 55; // pixels of a verdict's two lines; of the player's controls and the gaps below a plane
const FOOT = 132; // pixels of the key and of the buttons below a plane on a projector
const FREE = 64; // pixels below a flat plane in which its key stands
const GAP = 4, MOST = 1.5, PART = 230; // panels beside a plane: gap in pixels, largest stretch, least width in pixels

class Panel {
  constructor(root, data) {
    Object.assign(this, { root, data, inside: false, pressed: false, playing: false, step: undefined });
    this.canvas = Object.assign(document.createElement("canvas"), { className: "dpviz-canvas" });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", data.alt);
    this.over = Object.assign(document.createElement("div"), { className: "dpviz-look", hidden: true });
    root.replaceChildren(this.canvas, this.over);
    root.panel = this;
    // the keyboard can reach a row of pictures that scrolls
    this.reach = () => (data.linked || narrow.matches ? (root.tabIndex = 0) : root.removeAttribute("tabindex"));
    if (data.linked || root.closest("[class*=_swipe]")) {
      this.reach();
      narrow.addEventListener("change", this.reach);
    } // a window may become narrow later
    const figure = JSON.parse(data.figure),
      { of, ranges = null } = zooms[data.key] ?? {};
    if (data.tall) this.stretch(figure.layout);
    else if (root.closest(".st-key-class_projector .st-key-lesson_figures")) this.fill(figure.layout);
    else if (root.closest("[class*=_swipe]")) Object.assign(this, { layout: figure.layout, own: figure.layout.height });
    this.frames = figure.frames?.length ?? 0;
    this.zoomed = of === data.zoomOf ? ranges : null;
    const failed = (error) => {
      console.error(error);
      this.leave(figure);
      this.look();
    };
    this.lacking = lacks(figure);
    if (this.lacking) this.leave(figure);
    else this.film = this.stage = new Stage(this.canvas, figure, { zoom: this.zoomed, failed });
    root.dispatchEvent(new CustomEvent("dpviz-panel", { bubbles: true })); // the transport answers with the step
    this.sized = new ResizeObserver(() => { if (!this.over.hidden) this.look(); });
    this.sized.observe(root);
    this.listen();
    if (data.saved && !fine()) this.press(true); // a finger cannot rest on a picture
    if (this.own) root.closest("[class*=_scene]")?.querySelector("[class*=_planecol] .dpviz-stage")?.panel?.fit?.();
  }

  /** Give a plane the remaining height of the window; its column's width follows from that and its shape. */
  stretch(layout) {
    const { meta = {}, margin: m, height } = layout, column = this.root.closest("[class*=_planecol]");
    const scene = column?.closest("[class*=_scene]"), page = streamlit.main(this.root);
    const fit = () => {
      if (!scene || !this.root.isConnected) return;
      const cards = document.querySelector(".st-key-explore_cards")?.offsetHeight ?? 0; // the plane has its own screen
      const top = scene.getBoundingClientRect().top + (page?.scrollTop ?? 0) - cards;
      const words = Math.max(document.querySelector(".st-key-verdict")?.offsetHeight ?? 0, WORDS);
      scene.style.setProperty("--dp-high", `max(300px, calc(100dvh - ${Math.round(top + words + BELOW)}px))`);
      layout.height = (wide.matches && parseFloat(getComputedStyle(column).maxHeight)) || height;
      if (meta.ar) meta.h = wide.matches ? Infinity : height;
      this.rise(layout);
      const high = wide.matches && parseFloat(getComputedStyle(column).maxHeight);
      scene.classList.toggle("dp-low", Boolean(high && this.film) && high - this.root.clientHeight >= FREE);
      const key = scene.classList.contains("dp-low") ? null : scene.querySelector("[class*=_sidecol] .dp-key");
      scene.style.setProperty("--dp-key", `${key?.offsetHeight ?? 0}px`); // lines of pseudo-code leave it its room
      this.share(high);
    };
    for (const [name, value] of [["ratio", meta.ar], ["sides", `${m.l + m.r}px`], ["ends", `${m.t + m.b}px`]])
      value && scene?.style.setProperty(`--dp-${name}`, value);
    fit();
    addEventListener("resize", (this.fit = fit));
    const block = streamlit.block(this.root);
    if (block) (this.room = new ResizeObserver(fit)).observe(block); // messages and verdicts take room
  }

  /** Give a plane on a projector the rest of the window's height, and never less than its own. */
  fill(layout) {
    const { meta = {}, height = 300 } = layout, own = meta.h, page = streamlit.main(this.root);
    const fit = () => {
      if (!this.root.isConnected) return;
      const top = this.root.getBoundingClientRect().top + (page?.scrollTop ?? 0);
      const room = wide.matches ? Math.floor(innerHeight - top - FOOT) : 0;
      layout.height = Math.max(height, room);
      if (meta.ar) meta.h = Math.max(own, room);
      this.rise(layout);
    };
    fit();
    addEventListener("resize", (this.fit = fit));
    const block = streamlit.block(this.root);
    if (block) (this.room = new ResizeObserver(fit)).observe(block); // the sentence above it may take another line
  }

  /** Share a plane's height among the panels beside it, by their own heights, in one or two columns. */
  share(high) {
    const scene = this.root.closest("[class*=_scene]"), roots = scene.querySelectorAll("[class*=_swipe] .dpviz-stage");
    const all = [...roots].map((root) => root.panel).filter((panel) => panel?.own);
    const sum = (panels) => panels.reduce((total, panel) => total + panel.own + GAP, 0);
    const low = sum(all) * MOST > high, broad = scene.querySelector("[class*=_sidecol]")?.clientWidth >= 3 * PART;
    const two = low && broad && all.length > 1; // one column has no room for panels as high as they may be
    const splits = all.map((_, i) => Math.max(sum(all.slice(0, i)), sum(all.slice(i))));
    const tall = two ? Math.min(...splits) : sum(all), room = high - GAP * all.length;
    const factor = high ? Math.min(room / tall, MOST) : 1;
    scene.style.setProperty("--dp-columns", two ? "2fr" : "1fr");
    scene.style.setProperty("--dp-part", two ? "calc(50% - 8px)" : "100%");
    for (const panel of all) {
      const height = Math.floor(panel.own * factor), { meta } = panel.layout;
      panel.rise({ height, meta: meta?.ar ? { ...meta, h: height } : meta });
    }
  }

  /** Redraw a figure whose height has changed. */
  rise({ height, meta }) {
    if (height === this.high) return;
    this.high = height;
    const own = this.film?.layout;
    if (own) Object.assign(own, { height, meta: meta?.ar ? { ...own.meta, h: meta.h } : own.meta });
    this.stage?.resize(true);
  }

  get zoomable() { return this.film.layout.xaxis?.fixedrange === false; }
  get ranges() { return this.zoomed; }

  /** Show a step, without Plotly while a run plays; `early` before its first picture. */
  show(step, { ms = 0, playing = false, early = false } = {}) {
    this.root.toggleAttribute("data-early", early);
    this.step = step;
    this.playing = playing;
    if (this.only) return this.look();
    this.stage?.show(this.step, ms);
    if (this.looked !== this.stage?.step) this.hide();
    this.rest(ms);
  }

  /** Draw a moment of the reel between two steps. */
  seek(tick, moment, playing) {
    if (this.data.ends) [tick, moment] = this.film.placed(this.data.ends, tick, moment.share) ?? [0, { early: true }];
    const whole = moment.event >= moment.many - 1 && moment.share >= 1;
    if (this.only || whole || moment.early) return this.show(tick, { playing, early: moment.early });
    this.root.removeAttribute("data-early");
    Object.assign(this, { step: tick, playing });
    this.hide();
    clearTimeout(this.timer);
    this.stage.moment(tick, moment);
  }

  /** Return the step whose picture stands at the end of a tick. */
  frame(tick) { return this.data.ends ? this.film.course[Math.max(this.data.ends[tick] - 1, 0)].step : tick; }

  /** Show before the last step, too, what otherwise only the last picture shows. */
  reveal(early) {
    this.early = early;
    if (!this.film) return;
    this.film.early = early;
    if (this.stage) this.stage.resize(true);
  }

  /** Switch “Look closely”: whether Plotly lies over the picture whenever the picture is at rest. */
  press(pressed) {
    this.pressed = pressed;
    if (pressed || this.inside) this.rest(0);
    else this.hide();
  }

  rest(ms) {
    clearTimeout(this.timer);
    if ((this.inside || this.pressed) && !this.playing)
      this.timer = setTimeout(() => this.look(), ms + (this.pressed ? 100 : REST));
  }

  hide() {
    if (this.only) return;
    this.over.hidden = true;
    this.canvas.style.opacity = 1;
    this.looked = undefined;
  }

  /** Leave the figure to Plotly permanently, because the canvas cannot draw it or has failed. */
  leave(figure) {
    this.only = true;
    this.stage?.close();
    this.stage = undefined;
    this.film = new Film(figure);
    this.canvas.hidden = true;
    this.over.hidden = false;
    this.over.classList.add("only");
    this.over.setAttribute("role", "group");
    this.over.setAttribute("aria-label", this.data.alt);
  }

  async look() {
    if (this.busy || !this.root.clientWidth) return void (this.again = this.busy);
    this.busy = true;
    try {
      const Plotly = await streamlit.plotly(this.data.plotly),
        width = this.root.clientWidth,
        step = this.film.clamp(this.step ?? this.film.last);
      const unwanted = () =>
        !this.only && (this.playing || !(this.inside || this.pressed) || this.stage.tick || this.stage.step !== step);
      if (unwanted()) return;
      await this.plot(Plotly, step, width);
      if (unwanted()) return; // the step or page has changed meanwhile, and the canvas already shows it
      this.looked = step;
      this.over.hidden = false;
      if (!this.only) this.canvas.style.opacity = 0;
    } catch (error) {
      console.error(error);
      if (this.only)
        this.over.textContent = `${this.data.alt} The picture itself could not be loaded: reload the page.`;
    } finally {
      this.busy = false;
      if (
        this.again ||
        (this.only &&
          this.step !== undefined &&
          this.looked !== this.film.clamp(this.step) &&
          this.looked !== undefined)
      ) {
        this.again = false;
        this.look();
      }
    }
  }

  async plot(Plotly, step, width) {
    const { data, layout } = this.film.shown(step, width), movable = this.zoomable && fine();
    const buttons = movable ? ["toImage", "zoom2d", "pan2d"] : ["toImage"];
    if (this.zoomable && !fine())
      Object.assign(layout, {
        dragmode: false,
        xaxis: { ...layout.xaxis, fixedrange: true },
        yaxis: { ...layout.yaxis, fixedrange: true },
      });
    for (const axis in this.zoomed ?? {}) layout[axis] = { ...layout[axis], range: [...this.zoomed[axis]] };
    const saved = { format: "svg", filename: `dpviz-${this.data.name}`, width, height: layout.height };
    this.over.classList.toggle("alone", !movable && !this.data.saved); // the camera stands below the title and its tag
    await Plotly.react(this.over, data, layout, {
      displaylogo: false,
      doubleClick: false,
      modeBarButtons: [buttons],
      toImageButtonOptions: { ...saved, ...this.data.saved },
    });
    if (this.hooked) return;
    this.hooked = true;
    this.over.on("plotly_relayout", (event) => {
      if (Object.keys(event).some((key) => /^[xy]axis\.range/.test(key))) this.zoom();
    });
    this.over.on("plotly_doubleclick", () => this.unzoom());
    this.over.on("plotly_click", ({ points: [point] }) => {
      if (this.only && Number.isInteger(point?.customdata)) this.jump(point.customdata);
    });
  }

  zoom() {
    if (!this.zoomable) return;
    this.keep(Object.fromEntries(["xaxis", "yaxis"].map((axis) => [axis, [...this.over.layout[axis].range]])));
    this.others.forEach((one) => one.follow(this.zoomed));
  }

  unzoom() {
    if (!this.zoomed) return;
    this.keep(null);
    if (!this.over.hidden) this.look();
    this.others.forEach((one) => one.follow(null));
  }

  keep(ranges) {
    this.zoomed = ranges;
    zooms[this.data.key] = { of: this.data.zoomOf, ranges };
    this.stage?.zoom(ranges);
  }

  /** Return the panels that share zoom and crosshair with this one. */
  get others() {
    const { linked } = this.data, roots = linked ? [...document.querySelectorAll(".dpviz-stage")] : [];
    return roots.map((root) => root.panel).filter((one) => one && one !== this && one.data.linked === linked);
  }

  /** Take over the ranges of a linked panel. */
  follow(ranges) {
    this.keep(ranges && structuredClone(ranges));
    if (!this.over.hidden) this.look();
  }

  /** Point at the place [x, y] at which a linked panel points; without a place, at nothing. */
  cross(place) {
    const axes = this.stage?.axes;
    this.lines ??= ["x", "y"].map((way) =>
      this.root.appendChild(Object.assign(document.createElement("i"), { className: `dpviz-cross ${way}` })),
    );
    for (const [i, line] of this.lines.entries()) {
      const axis = axes?.["xy"[i]], at = place && axis ? axis.p0(place[i]) : NaN, other = axes?.["yx"[i]];
      line.hidden = !(at >= axis?.start && at <= axis.start + axis.length);
      if (line.hidden) continue;
      const [near, far] = i ? ["left", "width"] : ["top", "height"];
      Object.assign(line.style, {
        [i ? "top" : "left"]: `${at}px`,
        [near]: `${other.start}px`,
        [far]: `${other.length}px`,
      });
    }
  }

  /** Let all linked panels point where the pointer is. */
  point(at) {
    const { x: X, y: Y } = this.stage?.axes ?? {}, place = at && X ? [X.v(at[0]), Y.v(at[1])] : null;
    this.others.forEach((one) => one.cross(place));
  }

  jump(frame) {
    const { ends } = this.data, over = ends && this.film.course.findLastIndex(({ step }) => step === frame) + 1;
    const tick = ends?.findIndex((own) => own >= over) ?? frame, step = tick < 0 ? ends.length - 1 : tick;
    this.root.dispatchEvent(new CustomEvent("dpviz-jump", { bubbles: true, detail: step }));
  }

  /** Tell the server the place of a click, in the figure's coordinates. */
  pick(px, py) {
    const { x: X, y: Y } = this.stage?.axes ?? {};
    if (!X || px < X.start || px > X.start + X.length || py < Y.start || py > Y.start + Y.length) return;
    this.send?.("picked", [X.v(px), Y.v(py)]);
  }

  listen() {
    const { root } = this,
      place = (event) => {
        const edge = root.getBoundingClientRect();
        return [event.clientX - edge.left, event.clientY - edge.top];
      };
    let down = [0, 0];
    root.onpointerenter = (event) => { this.inside = event.pointerType === "mouse"; this.rest(0); };
    root.onpointerleave = () => {
      this.inside = false;
      this.point(null);
      clearTimeout(this.timer);
      if (!this.pressed) this.hide();
    };
    root.onpointerdown = (event) => { down = place(event); };
    root.onpointermove = (event) => {
      if (this.data.linked) this.point(place(event));
      if (this.stage && this.over.hidden)
        root.style.cursor = this.stage.hit(...place(event)) === undefined ? "" : "pointer";
    };
    root.onclick = (event) => {
      const at = place(event),
        step = Math.hypot(at[0] - down[0], at[1] - down[1]) < 5 ? this.stage?.hit(...at) : undefined;
      if (step !== undefined) this.jump(step); // a drag is not a click
      else if (this.data.pick && Math.hypot(at[0] - down[0], at[1] - down[1]) < 5) this.pick(...at);
    };
    root.ondblclick = () => { if (this.over.hidden) this.unzoom(); };
  }

  close() {
    narrow.removeEventListener("change", this.reach);
    removeEventListener("resize", this.fit);
    this.room?.disconnect();
    clearTimeout(this.timer);
    this.stage?.close();
    this.sized?.disconnect();
    if (this.hooked) streamlit.unplot(this.over);
  }
}

export const start = ({ data, parentElement, setTriggerValue }) => {
  const root = parentElement.querySelector(".dpviz-stage"), now = root.panel;
  const same =
    now &&
    ["figure", "alt", "zoomOf", "linked", "pick", "tall"].every((key) => now.data[key] === data[key]) &&
    ["ends", "saved", "how"].every((key) => JSON.stringify(now.data[key]) === JSON.stringify(data[key]));
  if (!same) {
    now?.close();
    new Panel(root, data);
  }
  root.panel.send = setTriggerValue;
  const mine = root.panel; // a render ends after the next one has started, so close only what is gone
  return () => setTimeout(() => { if (!root.isConnected) mine.close(); });
};
