// People painted by mouse, finger or keys. A painting is text, three letters per person (dpviz/datasets/painted.py).
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", PLACES = 512;
const SPREAD = { group: 0.9, minority: 0.35 },
  DAB = { group: [8, 3], minority: [3, 1] },
  REACH = { group: 1.8, minority: 0.7 };
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const OUTLIER = -1, KEPT = 100, UNDER = 0.8; // steps that can be undone; how far the eraser reaches

const place = (value) => Math.max(0, Math.min(PLACES - 1, Math.floor(((value + 10) / 20) * PLACES)));
const word = ([x, y]) => {
  const at = place(x) * PLACES + place(y);
  return LETTERS[at >> 12] + LETTERS[(at >> 6) & 63] + LETTERS[at & 63];
};
const person = (text, group) => {
  const at = [...text].reduce((sum, letter) => sum * 64 + LETTERS.indexOf(letter), 0),
    value = (v) => ((v + 0.5) / PLACES) * 20 - 10;
  return [value(Math.floor(at / PLACES)), value(at % PLACES), group];
};
const read = (code) => {
  const [groups, outliers = ""] = code.split("~"), people = [];
  const add = (text, group) => {
    for (let i = 0; i + 3 <= text.length; i += 3) people.push(person(text.slice(i, i + 3), group));
  };
  groups.split(".").filter(Boolean).forEach(add);
  add(outliers, OUTLIER);
  return people;
};
const write = (people) => {
  const groups = [...new Set(people.map((one) => one[2]))].filter((group) => group !== OUTLIER).sort((a, b) => a - b);
  const of = (group) => people.filter((one) => one[2] === group).map(word).join("");
  return groups.map(of).join(".") + (people.some((one) => one[2] === OUTLIER) ? `~${of(OUTLIER)}` : "");
};
const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
const many = (n, one, more) => `${n} ${n === 1 ? one : more}`;

class Painting {
  constructor(root, data) {
    Object.assign(this, {
      root,
      data,
      people: read(data.code),
      code: data.code,
      server: data.code,
      sent: [],
      past: [],
      tool: "group",
      at: [0, 0],
      held: undefined,
    });
    this.canvas = root.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.tools = [...root.querySelectorAll("[data-tool]")];
    for (const button of this.tools)
      button.onclick = () => {
        this.drop();
        this.tool = button.dataset.tool;
        this.show();
      };
    root.querySelector("[data-do=undo]").onclick = () => this.undo();
    root.querySelector("[data-do=clear]").onclick = () => { this.mark(); this.people = []; this.done(); };
    Object.assign(this.canvas, {
      onpointerdown: (event) => this.down(event),
      onpointermove: (event) => this.move(event),
      onkeydown: (event) => this.key(event),
      onpointerup: () => this.up(),
      onpointercancel: () => this.up(),
      onfocus: () => this.show(),
      onblur: () => {
        this.drop();
        this.show();
      },
    });
    new ResizeObserver(() => this.show()).observe(root);
  }

  take(data) {
    this.data = data;
    const echo = this.sent.indexOf(data.code); // the server echoes what was sent, perhaps after more was painted
    if (data.code !== this.server && echo >= 0) this.sent.splice(0, echo + 1);
    else if (data.code !== this.server && data.code !== this.code) // another painting was opened
      Object.assign(this, { people: read(data.code), code: data.code, past: [], held: undefined, stroke: undefined });
    this.server = data.code;
    this.show();
  }

  mark() { this.past.push(structuredClone(this.people)); this.past.splice(0, this.past.length - KEPT); }
  undo() { if (!this.past.length) return; this.held = undefined; this.people = this.past.pop(); this.done(); }
  done() {
    this.show();
    const code = write(this.people);
    if (code === this.code) return;
    this.code = code;
    this.sent.push(code);
    this.tell(code);
  }

  near([x, y], reach, fits = () => true) {
    let found, least = reach;
    for (const one of this.people) {
      const far = Math.hypot(one[0] - x, one[1] - y);
      if (fits(one) && far <= least) [found, least] = [one, far];
    }
    return found;
  }

  /** Return the group that a stroke beginning here continues, or a new one. */
  group(at) {
    const member = (one) => one[2] !== OUTLIER, groups = new Set(this.people.filter(member).map((one) => one[2]));
    const full = groups.size >= this.data.groups, known = this.near(at, full ? Infinity : REACH[this.tool], member);
    return known ? known[2] : Math.max(-1, ...groups) + 1;
  }

  dab(at, first) {
    if (this.tool === "erase")
      return void (this.people = this.people.filter(([x, y]) => Math.hypot(x - at[0], y - at[1]) > UNDER));
    const inside = (value) => Math.max(-9.99, Math.min(9.99, value)), room = this.data.most - this.people.length;
    const n = Math.min(room, this.tool === "outlier" ? +first : DAB[this.tool][first ? 0 : 1]);
    if (!room) this.full = true;
    for (let i = 0; i < n; i++) {
      const shift = this.tool === "outlier" ? [0, 0] : [normal(), normal()].map((z) => z * SPREAD[this.tool]);
      this.people.push([inside(at[0] + shift[0]), inside(at[1] + shift[1]), this.stroke.group]);
    }
  }

  begin(at) {
    this.mark();
    this.full = false;
    if (this.tool === "move") return void (this.stroke = { one: this.near(at, 1.2) });
    this.stroke = { group: this.tool === "outlier" || this.tool === "erase" ? OUTLIER : this.group(at), at };
    this.dab(at, true);
  }

  up() {
    if (!this.stroke) return;
    this.stroke = undefined;
    if (JSON.stringify(this.past.at(-1)) === JSON.stringify(this.people)) this.past.pop(); // nothing happened
    this.done();
  }

  spot(event) {
    const edge = this.canvas.getBoundingClientRect(),
      share = (v, size) => Math.max(0.001, Math.min(0.999, v / size)) * 20 - 10;
    return [share(event.clientX - edge.left, edge.width), -share(event.clientY - edge.top, edge.height)];
  }

  down(event) {
    if (event.button) return;
    this.drop();
    this.canvas.setPointerCapture(event.pointerId);
    this.at = this.spot(event);
    this.begin(this.at);
    this.show();
  }

  move(event) {
    if (!this.stroke) return;
    const at = this.spot(event);
    if (this.stroke.one) this.stroke.one.splice(0, 2, ...at);
    else if (this.stroke.at && Math.hypot(at[0] - this.stroke.at[0], at[1] - this.stroke.at[1]) > 0.5) {
      this.stroke.at = at;
      this.dab(at, false);
    }
    this.at = at;
    this.show();
  }

  key(event) {
    const way = KEYS[event.key], step = event.shiftKey ? 0.1 : 0.5;
    if (way) {
      this.at = this.at.map((value, i) => Math.max(-9.9, Math.min(9.9, value + way[i] * step)));
      if (this.held) this.held.splice(0, 2, ...this.at);
    } else if (event.key === "Enter" || event.key === " ") this.press();
    else if (event.key === "z" && (event.ctrlKey || event.metaKey)) this.undo();
    else if (event.key === "Escape" && this.held) this.drop();
    else return;
    event.preventDefault();
    this.show();
  }

  /** Use the tool at the cursor; one press picks a person up to move, and the next puts them down. */
  press() {
    if (this.held) return this.drop();
    this.begin(this.at);
    this.held = this.stroke.one;
    if (!this.held) this.up();
    else this.at = this.held.slice(0, 2);
  }

  drop() { if (this.held) { this.held = undefined; this.up(); } }

  show() {
    for (const button of this.tools) button.setAttribute("aria-pressed", button.dataset.tool === this.tool);
    this.root.querySelector("[data-do=undo]").disabled = !this.past.length || Boolean(this.stroke);
    this.root.querySelector("[data-do=clear]").disabled = !this.people.length;
    const sizes = new Map();
    for (const [, , group] of this.people) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    const outliers = sizes.get(OUTLIER) ?? 0,
      groups = [...sizes.keys()].filter((group) => group !== OUTLIER).sort((a, b) => a - b);
    const each = groups.length
      ? ` in ${many(groups.length, "group", "groups")} (${groups.map((group) => sizes.get(group)).join(", ")})`
      : "";
    const beyond = outliers ? `, ${many(outliers, "outlier", "outliers")}` : "";
    const text = `${this.people.length} of ${this.data.most} people${each}${beyond}.`;
    const hint = this.full
      ? " The painting is full: erase some people first."
      : this.people.length < this.data.fewest
        ? ` At least ${this.data.fewest} people are needed.`
        : "";
    const line = text + hint, output = this.root.querySelector("output");
    if (output.textContent !== line && !this.stroke) output.textContent = line;
    this.draw(groups);
  }

  draw(groups) {
    const size = this.canvas.clientWidth,
      dots = window.devicePixelRatio || 1,
      { pen } = this,
      style = getComputedStyle(this.root);
    if (!size) return;
    if (this.canvas.width !== Math.round(size * dots)) this.canvas.width = this.canvas.height = Math.round(size * dots);
    const color = (name) => style.getPropertyValue(`--dp-${name}`),
      px = (value) => ((value + 10) / 20) * size,
      py = (value) => size - px(value);
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, size, size);
    pen.lineWidth = 1;
    pen.strokeStyle = color("line");
    pen.beginPath();
    for (let value = -5; value < 10; value += 5) {
      pen.moveTo(px(value), 0);
      pen.lineTo(px(value), size);
      pen.moveTo(0, py(value));
      pen.lineTo(size, py(value));
    }
    pen.stroke();
    pen.strokeStyle = color("person");
    pen.lineWidth = 1.3;
    for (const [x, y, group] of this.people) {
      pen.beginPath();
      if (group === OUTLIER) {
        pen.moveTo(px(x) - 4, py(y) - 4);
        pen.lineTo(px(x) + 4, py(y) + 4);
        pen.moveTo(px(x) - 4, py(y) + 4);
        pen.lineTo(px(x) + 4, py(y) - 4);
      }
      pen.arc(px(x), py(y), group === OUTLIER ? 7 : 3.2, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.font = `600 14px ${style.fontFamily}`;
    pen.textAlign = "center";
    groups.forEach((group, i) => {
      const mine = this.people.filter((one) => one[2] === group),
        mean = (k) => mine.reduce((sum, one) => sum + one[k], 0) / mine.length;
      pen.lineWidth = 4;
      pen.strokeStyle = color("panel");
      pen.fillStyle = color("ink");
      pen.strokeText(i + 1, px(mean(0)), py(mean(1)) + 5);
      pen.fillText(i + 1, px(mean(0)), py(mean(1)) + 5);
    });
    if (this.root.getRootNode().activeElement !== this.canvas) return;
    const [x, y] = this.at; // the cursor of the keyboard
    pen.lineWidth = 1.5;
    pen.strokeStyle = color("ink");
    pen.beginPath();
    pen.moveTo(px(x) - 11, py(y));
    pen.lineTo(px(x) + 11, py(y));
    pen.moveTo(px(x), py(y) - 11);
    pen.lineTo(px(x), py(y) + 11);
    pen.stroke();
  }
}
