/** Draw small pictures of the slides in order; a click chooses one. */
function thumbnails(list, data, choose) {
  const drawn = data.slides.map(({ figure, title }) => title + figure.length).join() + data.tokens + data.start;
  if (list.drawn === drawn) return;
  list.drawn = drawn;
  for (const stage of list.stages ?? []) stage.close();
  list.stages = [];
  list.style.cssText = data.tokens;
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
    const figure = JSON.parse(inColors(slide.figure, list)), { meta } = figure.layout, scale = 0.3;
    figure.layout.height = 108 / scale;
    if (meta?.ar) meta.h = 108 / scale;
    canvas.setAttribute("aria-hidden", "true");
    list.stages.push(new Stage(canvas, figure, { step: slide.titles.length - 1, scale }));
  });
}

/** Keep the slide in the address: a reload begins there. */
function keep(at) {
  const parts = location.search.slice(1).split("&").filter((part) => part && !/^slide=/.test(part));
  if (!parts.some((part) => part.startsWith("v="))) parts.unshift("v=1");
  streamlit.rewrite(`${location.pathname}?${[...parts, `slide=${at}`].join("&")}`);
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const show = (window.__dpvizShow ??= new Show()), warn = parentElement.querySelector("[role=alert]");
  show.take(data, ({ slide, into, asked, at }) => {
    if (at) keep(at);
    else if (slide) setStateValue("slide", slide);
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
