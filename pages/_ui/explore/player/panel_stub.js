// A panel waits for the script that draws it (stage.py), which the browser fetches once.
export default function (component) {
  const { data, parentElement } = component;
  let end, over = false;
  const script = import(streamlit.near(`../../${data.stage}`));
  script.then(({ start }) => { if (!over) end = start(component); }).catch((error) => {
    console.error(error);
    parentElement.querySelector(".dpviz-stage").textContent =
      `${data.alt} The picture itself could not be loaded: reload the page.`;
  });
  return () => { over = true; end?.(); };
}
