// Unpacks the library (base 85, gzip) and draws the figures of the page.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const value = new Uint8Array(128);
[...alphabet].forEach((letter, i) => { value[letter.charCodeAt(0)] = i; });
const text = document.getElementById("library").textContent.replace(/\s/g, "");
const blocks = Math.ceil(text.length / 5), padding = blocks * 5 - text.length;
const bytes = new Uint8Array(blocks * 4), view = new DataView(bytes.buffer);
for (let block = 0; block < blocks; block++) {
  let word = 0;
  for (let i = 0; i < 5; i++) {
    const at = 5 * block + i;
    word = word * 85 + (at < text.length ? value[text.charCodeAt(at)] : 84);
  }
  view.setUint32(4 * block, word);
}
const packed = new Blob([bytes.subarray(0, bytes.length - padding)]).stream();
const script = document.createElement("script");
script.textContent = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
document.head.append(script);
for (const place of document.querySelectorAll(".plot")) {
  const figure = JSON.parse(place.nextElementSibling.textContent);
  window.Plotly.newPlot(place, figure.data, figure.layout, { displaylogo: false, responsive: true });
}
