// Replaces the placeholder colors of `SLOTS` in a text, and their tints (`layers.tint`), by those of the page's mode,
// or by those of an element; an algorithm's color (`Style.color`) needs the properties of `series_tokens`.
const tokens = "bg panel ink muted line grid released released_soft hidden hidden_tag person".split(" ");
const inColors = (text, element = document.documentElement) => {
  const look = getComputedStyle(element);
  const color = (i) => look.getPropertyValue(`--${tokens[i]}`).trim();
  const parts = (i) => [1, 3, 5].map((at) => parseInt(color(i).slice(at, at + 2), 16)).join(",");
  return text.replace(/#0101(0[0-9A])/g, (_, place) => color(parseInt(place, 16)))
    .replace(/#0102([0-9A-F]{2})/g, (_, i) => look.getPropertyValue(`--series-${parseInt(i, 16)}`).trim())
    .replace(/rgba\(1,1,(\d+),/g, (_, place) => `rgba(${parts(place)},`);
};
