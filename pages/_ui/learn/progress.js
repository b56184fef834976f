// Stores the finished lessons in this browser alone, sends nothing, and marks the lessons on the page.
const { read, write } = storage("dpviz-lessons", []);

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-progress");
  const words = root.querySelector("output"), forget = root.querySelector("button");
  if (data.done && !read().includes(data.done)) write([...read(), data.done]);
  const show = () => {
    const done = read().filter((name) => data.names.includes(name));
    for (const stone of document.querySelectorAll("[data-lesson]")) {
      const on = done.includes(stone.dataset.lesson);
      if (stone.classList.contains("done") === on) continue;
      stone.classList.toggle("done", on);
      stone.querySelector(".state").textContent = on ? "done" : "";
    }
    const said = `${done.length} of ${data.names.length} lessons done. Stored only in this browser.`;
    if (words.textContent !== said) words.textContent = said;
    root.hidden = !data.shown;
    forget.hidden = !done.length;
  };
  forget.onclick = () => { write([]); show(); };
  show();
  const timer = setInterval(show, 300); // the list may be drawn later
  return () => clearInterval(timer);
}
