// The worker of the page Run it here: it starts Python from the page's files, and answers each message.
const began = performance.now();
const tell = (what) => self.postMessage(what);
const sentence = (error) => {
  const last = String(error?.message ?? error).trim().split("\n").at(-1);
  return /memory|allocat/i.test(last) ? "The tab has no memory left for Python. Close other tabs and load it again."
    : `Python stopped because of a fault in dpviz: ${last}`;
};
const base = "https://files.invalid/"; // names the files for Python; a policy forbids requests to any host
/** Start Python from the files alone. */
const started = async (kept) => {
  const kinds = { wasm: "application/wasm", json: "application/json" };
  self.fetch = async (address) => {
    const name = new URL(address).href.replace(base, "");
    if (!kept.has(name)) throw new TypeError(`${name} is not a file of this page`);
    return new Response(kept.get(name), { headers: { "Content-Type": kinds[name.split(".").at(-1)] ?? "" } });
  };
  const script = (name) => import(URL.createObjectURL(kept.get(name).slice(0, undefined, "text/javascript")));
  const [{ loadPyodide }, made] = await Promise.all([script("pyodide.mjs"), script("pyodide.asm.mjs")]);
  const python = await loadPyodide({ indexURL: base, packageBaseUrl: base, createPyodideModule: made.default });
  tell({ doing: "Unpacking numpy, scipy, scikit-learn and pandas" });
  await python.loadPackage(["numpy", "scipy", "scikit-learn", "pandas"], { messageCallback() {} });
  for (const name of kept.keys()) if (/^\w+\.zip$/.test(name) && name !== "python_stdlib.zip")
    python.unpackArchive(await kept.get(name).arrayBuffer(), "zip", { extractDir: "/home/pyodide" });
  kept.clear();
  tell({ doing: "Importing dpviz" });
  return python.pyimport("in_tab");
};
let tab = null;
self.onmessage = async ({ data: { load, ask, form } }) => {
  try {
    if (load) {
      tell({ doing: "Starting Python" });
      tab = await started(load);
      tell({ ready: (performance.now() - began) / 1000 });
    } else {
      const at = performance.now();
      const found = JSON.parse(tab[ask](JSON.stringify(form), (made, planned) => tell({ made, planned })));
      tell({ found, ask, seconds: (performance.now() - at) / 1000 });
    }
  } catch (error) {
    if (tab && error.name === "PythonError") tell({ found: { refused: sentence(error) }, ask });
    else tell({ failed: sentence(error) });
  }
};
