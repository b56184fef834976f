// The worker of the page Run it here: it fetches and checks all files, starts Python, and answers each message.
const began = performance.now();
const tell = (what) => self.postMessage(what);
const sentence = (error) => {
  const last = String(error?.message ?? error).trim().split("\n").at(-1);
  return /memory|allocat/i.test(last) ? "The tab has no memory left for Python. Close other tabs and load it again."
    : `Python stopped because of a fault in dpviz: ${last}`;
};
/** Fetch every file with the hash that the build wrote; a file that has another one is named. */
const fetched = async (base, files) => {
  let bytes = 0;
  const one = async ([name, [integrity, size]]) => {
    const address = new URL(name, base);
    try {
      const answer = await fetch(address, { integrity });
      if (!answer.ok) throw new Error();
      const content = await answer.arrayBuffer();
      tell({ loaded: bytes += size });
      return [name, content];
    } catch (error) {
      // a changed file and a missing network look the same to a script, so ask whether the file is there
      const there = await fetch(address, { method: "HEAD", cache: "no-store" }).catch(() => null);
      throw there?.ok
        ? `${name} is not the file that this site was built with, so Python was not started. `
          + "Open this page again; if it stays so, tell whoever runs this site."
        : `${name} could not be fetched from this site${there ? ` (error ${there.status})` : ": are you online?"}`
          + " Python was not started; load it again.";
    }
  };
  return new Map(await Promise.all(Object.entries(files).map(one)));
};
/** Start Python from the files alone; from then on the worker's fetch knows nothing else. */
const started = async (base, kept) => {
  const kinds = { wasm: "application/wasm", json: "application/json" };
  self.fetch = async (address) => {
    const name = new URL(address).href.replace(base, "");
    if (!kept.has(name)) throw new TypeError(`${name} is not a file of this page`);
    return new Response(kept.get(name), { headers: { "Content-Type": kinds[name.split(".").at(-1)] ?? "" } });
  };
  const script = (name) => import(URL.createObjectURL(new Blob([kept.get(name)], { type: "text/javascript" })));
  const [{ loadPyodide }, made] = await Promise.all([script("pyodide.mjs"), script("pyodide.asm.mjs")]);
  const python = await loadPyodide({ indexURL: base, packageBaseUrl: base, createPyodideModule: made.default });
  tell({ doing: "Unpacking numpy, scipy, scikit-learn and pandas" });
  await python.loadPackage(["numpy", "scipy", "scikit-learn", "pandas"], { messageCallback() {} });
  for (const name of kept.keys()) if (/^\w+\.zip$/.test(name) && name !== "python_stdlib.zip")
    python.unpackArchive(kept.get(name), "zip", { extractDir: "/home/pyodide" });
  kept.clear();
  tell({ doing: "Importing dpviz" });
  return python.pyimport("in_tab");
};
let tab = null;
self.onmessage = async ({ data: { load, ask, form } }) => {
  try {
    if (load) {
      const kept = await fetched(load.base, load.files);
      tell({ doing: "Starting Python" });
      tab = await started(load.base, kept);
      tell({ ready: (performance.now() - began) / 1000 });
    } else {
      const at = performance.now();
      const found = JSON.parse(tab[ask](JSON.stringify(form), (made, planned) => tell({ made, planned })));
      tell({ found, ask, seconds: (performance.now() - at) / 1000 });
    }
  } catch (error) {
    if (tab && error.name === "PythonError") tell({ found: { refused: sentence(error) }, ask });
    else tell({ failed: typeof error === "string" ? error : sentence(error) });
  }
};
