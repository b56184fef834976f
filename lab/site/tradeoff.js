// The page Trade-off: one method's pictures at nine stops of ε, the slider between them, and the table at the same ε.
const text = document.getElementById("runs").textContent, { films, rows, start } = JSON.parse(text);
const find = (name) => document.querySelector(name), select = find("main select"), canvas = find("canvas");
const dark = matchMedia("(prefers-color-scheme: dark)"), cells = [...document.querySelectorAll("tr[data-method]")];
let stage = null, at = start;
const show = (i) => {
  const film = films[select.value], { label, spoken, promise, truth } = film.stops[i];
  at = i;
  track.show(i, spoken);
  stage?.show(i);
  find(".epsilon b").textContent = `ε ${label}`;
  find(".at").textContent = label;
  find("output").replaceChildren(said(promise), " ", said(truth));
  for (const row of cells) {
    row.classList.toggle("now", row.dataset.method === select.value);
    rows[row.dataset.method][i].forEach((words, k) => { row.cells[k + 1].textContent = words; });
  }
};
const said = (parts) => {
  const box = document.createElement("span");
  say(box, parts);
  return box;
};
const track = new Track(find(".track"), "Privacy budget ε", { moved: show, ended: () => {}, left: () => {} });
const choose = () => {
  const film = films[select.value];
  stage?.close();
  stage = new Stage(canvas, JSON.parse(inColors(JSON.stringify(film.figure))), { step: at });
  canvas.setAttribute("aria-label", `Released centers of ${select.selectedOptions[0].textContent} and its reruns`);
  const curve = film.stops[0].truth.length ? film.stops : null;
  track.set(film.stops.map((one) => one.label), curve, film.top);
  show(at);
};
for (const box of [find(".controls"), find(".plane")]) box.hidden = false;
select.addEventListener("change", choose);
dark.addEventListener("change", choose);
choose();
