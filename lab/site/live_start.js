// The last part of the page Run it here: its form is filled and wired.
form.elements.data.append(...Object.entries(live.data).map(([name, { title }]) => new Option(title, name)));
for (const name of ["method", "other"])
  form.elements[name].append(...Object.entries(live.methods).map(([slug, { name: words }]) => new Option(words, slug)));
const given = (name, known, other) => {
  const word = new URLSearchParams(location.search).get(name);
  return Object.hasOwn(known, word) ? word : other;
};
form.elements.data.value = given("data", live.data, Object.keys(live.data)[0]);
form.elements.method.value = given("method", live.methods, "pe-means");
form.elements.other.value = given("other", live.methods, "");
const painting = new Painting(find(".dpviz-paint"), { code: "", ...live.painting });
painting.tell = (code) => {
  live.data[live.painted].k = code.split("~")[0].split(".").length;
  draw();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => painting.show());
blobs.append(...live.blobs.map((one) => field(one, "blobs")));
grid.open = location.hash === "#trade-off";
draw();
form.addEventListener("input", ({ target }) => { typed[target.name] = target.value; });
for (const name of ["data", "method"]) form.elements[name].addEventListener("change", draw);
form.elements.data.addEventListener("change", () => { delete typed["values.n_clusters"]; draw(); });
form.addEventListener("submit", (event) => { event.preventDefault(); ask("run"); });
find(".again").addEventListener("click", () => ask("again"));
find(".rehearse").addEventListener("click", rehearse);
find(".plot").addEventListener("click", plot);
find(".stop").addEventListener("click",
  () => halt() || cancel() || end("Stopped. Load Python again for another run."));
find(".load").addEventListener("click", load);
part("input[type=file]").addEventListener("change", ({ target }) => hand(target.files[0]));
for (const one of panel.querySelectorAll("[name=kind]")) one.addEventListener("change", choose);
for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => {
  event.preventDefault(); // a file that is dropped elsewhere would replace the page
  if (name === "drop" && event.target.closest(".file")) hand(event.dataTransfer.files[0]);
});
document.querySelector(".live").hidden = false;
