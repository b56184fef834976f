// The page of the definition: its picture in the colors of the page's mode.
const root = document.querySelector(".dpviz-definition"), text = document.getElementById("given").textContent;
let shown;
const draw = () => {
  const record = JSON.parse(inColors(text));
  if (shown) record.start = shown.at;
  shown?.close();
  shown = new Definition(root, Stage, record);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
