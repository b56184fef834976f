// The definition of privacy: three sliders over two figures. Every place of the sliders has its frame and its sentences
// in the record; nothing is computed here.

class Definition {
  constructor(root, Stage, record) {
    Object.assign(this, { root, record, at: [...record.start] });
    root.innerHTML = `<div class="fields">${record.sliders.map(() => `<div class="field"><div class="name"></div>
      <div class="track"></div></div>`).join("")}</div><div class="figures"></div><div class="words"></div>`;
    const names = root.querySelectorAll(".name"), boxes = root.querySelectorAll(".track");
    this.names = names;
    this.tracks = record.sliders.map((label, k) => {
      const moved = (i) => { this.at[k] = i; this.show(); };
      const track = new Track(boxes[k], label, { moved, ended() {}, left() {} });
      track.set(record.stops[k], null, 1);
      return track;
    });
    this.paragraphs = [0, 1, 2, 3].map(() => root.querySelector(".words").appendChild(document.createElement("p")));
    this.stages = record.figures.map((text, i) => {
      const canvas = root.querySelector(".figures").appendChild(document.createElement("div")).appendChild(
        document.createElement("canvas"),
      );
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", record.alts[i]);
      return new Stage(canvas, JSON.parse(text), { step: this.frame });
    });
    this.show();
  }

  /** Return the number of the frame, and of the cell, for the present ε and δ. */
  get frame() { return this.at[0] * this.record.stops[1].length + this.at[1]; }

  show() {
    const { record, at } = this, cell = record.cells[this.frame], belief = record.beliefs[at[0]][at[2]];
    for (const stage of this.stages) stage.show(this.frame);
    [...cell.words, belief].forEach((parts, i) => say(this.paragraphs[i], parts));
    this.tracks.forEach((track, k) => {
      const label = record.stops[k][at[k]];
      track.show(at[k], `${label}: ${k < 2 ? cell.spoken : belief[3]}`);
      named(this.names[k], record.sliders[k], label, "");
    });
  }

  close() {
    this.stages.forEach((stage) => stage.close());
    this.tracks.forEach((track) => track.close());
  }
}
