// A panel waits for the script that draws it (stage.py), which the browser fetches once. Streamlit's own: static/js.
const near = (name) =>
  new URL(`../../${name}`, document.querySelector('script[type="module"][src*="static/js/"]')?.src ?? location.href)
    .href;

export default function (component) {
  const { data, parentElement } = component;
  let end, over = false;
  import(near(data.stage)).then(({ start }) => { if (!over) end = start(component); }).catch((error) => {
    console.error(error);
    parentElement.querySelector(".dpviz-stage").textContent =
      `${data.alt} The picture itself could not be loaded: reload the page.`;
  });
  return () => { over = true; end?.(); };
}
