// A deck in a file of its own: the show, which begins at any slide, and a sheet of paper for each slide.
// The show's own script is above this one.
const slides = JSON.parse(document.querySelector("#slides").textContent), show = new Show();
const at = Number(location.hash.slice(1)) - 1;
const dark = matchMedia("(prefers-color-scheme: dark)");
const take = () => { // the second window has no colors of its own
  const look = getComputedStyle(document.documentElement);
  const names = ["color-scheme", ...tokens.map((name) => `--${name}`)];
  const colors = names.map((name) => `${name}:${look.getPropertyValue(name)};`).join("");
  show.take({ slides, tokens: colors }, ({ at: now }) => { if (now) location.replace(`#${now}`); });
};
dark.addEventListener("change", take);
take();
const begin = document.querySelector(".begin"), notes = document.querySelector(".notes");
begin.hidden = notes.hidden = false;
show.at = at >= 0 && at < slides.length ? at : 0;
begin.onclick = () => show.begin(show.at);
notes.onclick = () => {
  document.querySelector("[role=alert]").textContent = show.notes()
    ? ""
    : "The browser did not open a second window: allow it for this page, and press again.";
};
document.querySelectorAll("main li button").forEach((button, i) => { button.onclick = () => show.begin(i); });

/** Draw every slide at its last step on a sheet, as a picture that needs no script while the browser prints. */
const sheets = document.querySelector(".sheets");
const printed = () => {
  if (sheets.shadowRoot) return;
  const root = sheets.attachShadow({ mode: "open" });
  root.append(document.querySelector("#sheet").content.cloneNode(true));
  slides.forEach((slide, i) => {
    const sheet = root.appendChild(made("section", "screen sheet"));
    sheet.innerHTML = `${SCREEN}<div class="foot"><p class="say"></p></div>`;
    written(sheet, slide, `${i + 1} / ${slides.length}`);
    spoken(sheet.querySelector(".say"), slide.titles.at(-1));
    const stage = pictured(sheet.querySelector(".picture"), slide, slide.titles.length - 1, SHARP);
    if (!stage) return;
    const { canvas } = stage, copy = made("canvas", "");
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    copy.style.cssText = canvas.style.cssText;
    copy.getContext("2d").drawImage(canvas, 0, 0);
    stage.close();
    canvas.replaceWith(copy);
  });
};
const SHARP = Math.max(1, 2 / devicePixelRatio); // dots of a printed picture for each pixel
addEventListener("beforeprint", printed);
