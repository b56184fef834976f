// A map on which a finger, a mouse or the arrow keys place one point.
// It sends the point's coordinates, in kilometers, to the server.
export default function ({ data, parentElement, setStateValue }) {
  const box = parentElement.querySelector(".place"),
    mark = box.querySelector("i"),
    words = parentElement.querySelector("output");
  const { low, high } = data, size = [high[0] - low[0], high[1] - low[1]];
  box.style.aspectRatio = `${size[0]} / ${size[1]}`;
  box.state ??= { at: data.at };
  const short = (v) => Math.round(v * 10) / 10, inside = (v, i) => Math.max(low[i], Math.min(high[i], v));
  const show = () => {
    const { at } = box.state;
    mark.hidden = !at;
    if (!at) return void (words.textContent = "Tap the map.");
    mark.style.left = `${(100 * (at[0] - low[0])) / size[0]}%`;
    mark.style.top = `${(100 * (high[1] - at[1])) / size[1]}%`;
    const way = (v, plus, minus) => `${Math.abs(v)} km ${v < 0 ? minus : plus}`;
    words.textContent = `You stand ${way(at[0], "east", "west")}, ${way(at[1], "north", "south")} of the town hall.`;
  };
  const put = (x, y) => {
    box.state.at = [short(inside(x, 0)), short(inside(y, 1))];
    show();
    clearTimeout(box.timer);
    box.timer = setTimeout(() => setStateValue("at", box.state.at), 250);
  };
  box.onclick = (event) => {
    const edge = box.getBoundingClientRect();
    put(
      low[0] + ((event.clientX - edge.left) / edge.width) * size[0],
      high[1] - ((event.clientY - edge.top) / edge.height) * size[1],
    );
  };
  box.onkeydown = (event) => {
    const way = {
      ArrowLeft: [-0.5, 0],
      ArrowRight: [0.5, 0],
      ArrowUp: [0, 0.5],
      ArrowDown: [0, -0.5],
      Enter: [0, 0],
      " ": [0, 0],
    }[event.key];
    if (!way) return;
    event.preventDefault();
    const [x, y] = box.state.at ?? [0, 0];
    put(x + way[0], y + way[1]);
  };
  show();
}
