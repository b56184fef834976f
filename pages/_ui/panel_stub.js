// A panel waits for the script that draws it (panel.js): the transport brings it, once for all panels of a page.
const gate = () => {
  const door = {};
  door.ready = new Promise((done) => { door.open = done; });
  return door;
};

export default function (component) {
  let end, over = false;
  (window.__dpvizPanels ??= gate()).ready.then((start) => { if (!over) end = start(component); });
  return () => { over = true; end?.(); };
}
