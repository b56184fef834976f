// Drag ε or People. During a drag this script draws every stop from stored runs, over the page's plane, without the
// server. On release the server receives the stop once, and its run replaces the film.
// fraction of the plane that must be visible to draw there; pixels that a film needs elsewhere
const SEEN = 0.75, LEAST = 220;
const near = (name) => streamlit.near(`../../${name}`);

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

  /** Take the page's present data: the stored runs, and the run that it shows. */
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
        .catch((error) => console.error(error)); // without the film, words and track still follow the drag
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
    if (data.busy && this.box?.classList.contains("card")) this.lift(); // this film would hide progress and Cancel
    if (same || this.active || data.busy)
      return void (fresh && this.show(this.edition ?? this.home[0], this.stop ?? this.home[1]));
    this.lift();
    this.show(...this.home);
  }

  /** Return whether a stop is being chosen, by pointer or by keys: an update of the page must not undo it. */
  get active() { return this.epsilon.held || this.size.held || this.touched; }
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
      this.about = truth ? this.curve : "";
    }
    Object.assign(this, { edition, stop: place });
    const none = `ε ${this.data.epsilon}: no stored reruns`;
    const between = `ε ${this.data.epsilon} has no stored reruns: drag to one of the stops to see its reruns.`;
    this.epsilon.show(place, whole ? here.spoken : none);
    this.size.show(edition, `${this.editions[edition].people} people. ${whole ? here.spoken : ""}`);
    named(this.names[0], "Privacy budget", `ε ${whole ? here.label : this.data.epsilon}`, this.about);
    named(this.names[1], "People", this.editions[edition].people, "");
    say(this.promise, whole ? here.promise : [between]);
    say(this.truth, whole ? here.truth : []);
    this.truth.hidden = !whole || !here.truth.length;
  }

  /** Pass a stop, and update everything that follows it at once. */
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
    if (verdict && this.said.parentElement !== verdict) verdict.append(this.said); // replaces the run's verdict
    if (!plane || !this.Stage) return;
    for (const [i, film] of this.films) film.room.hidden = i !== edition;
    const film = this.films.get(edition) ?? this.film(edition, stop);
    film.stage.resize();
    film.stage.show(stop);
  }

  /** Lay an empty film over the plane, at its size and zoom, or below the text if little of the plane is visible. */
  lay(plane) {
    const edge = plane.getBoundingClientRect(),
      mine = this.root.getBoundingClientRect(),
      below = innerHeight - mine.bottom - 12;
    const over = below < LEAST || Math.min(edge.bottom, innerHeight) - Math.max(edge.top, 0) > SEEN * edge.height;
    const { meta: { film, ...meta } = {}, margin: m, height } = plane.panel.film.layout, // the drag has no events
      { zoomed } = plane.panel;
    const tall = over ? Infinity : below,
      shape = meta.ar ? { meta: { ...meta, h: Math.min(meta.h, tall) } } : { height: Math.min(height, tall) };
    const wide = over
      ? ""
      : `${meta.ar ? Math.min(mine.width, (shape.meta.h - m.t - m.b) / meta.ar + m.l + m.r) : mine.width}px`;
    const fit = JSON.stringify([shape, m, wide, zoomed]);
    if (fit !== this.fit || !this.box) {
      this.drop();
      this.box = Object.assign(document.createElement("div"), { ariaHidden: "true" }); // the slider announces it
      Object.assign(this, { fit, shape: { ...shape, margin: m }, wide, zoomed });
    }
    this.box.className = over ? "dpviz-film" : "dpviz-film card";
    this.box.style.height = over ? "" : `${below + 12}px`; // covers the previous run down to the window's end
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

  /** Let the page run the shown stop, unless it already shows that run. */
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

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".dpviz-drag");
  const drag = (root.drag ??= new Drag(root));
  drag.take(data, setStateValue);
  return () => setTimeout(() => { if (!root.isConnected) drag.close(); });
}
