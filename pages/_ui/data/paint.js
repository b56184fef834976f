export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".dpviz-paint");
  root.painting ??= new Painting(root, data);
  root.painting.tell = (code) => setStateValue("people", code);
  root.painting.take(data);
}
