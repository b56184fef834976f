// The site's service worker: it gives the pages that run Python to a browser without a network. It sends nothing but
// requests for these pages, and hears nothing from page or worker. The build puts PAGES and FILES before this.
const base = self.registration.scope, place = (path) => new URL(path, base).href;
const store = () => caches.open(`dpviz ${base}`);
const pages = new Map(Object.entries(PAGES).map(([path, integrity]) => [place(path), integrity]));
self.addEventListener("install", (event) => event.waitUntil((async () => {
  const held = await store();
  for (const [page, integrity] of pages) {
    const answer = await fetch(page, { integrity, cache: "no-cache" });
    if (!answer.ok) throw new Error(`${page}: ${answer.status}`);
    const headers = { "Content-Type": "text/html; charset=utf-8" };
    await held.put(page, new Response(await answer.blob(), { headers }));
  }
  await self.skipWaiting();
})()));
// what an earlier build named, and this one does not
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const held = await store(), named = new Set([...pages.keys(), ...FILES.map(place)]);
  for (const { url } of await held.keys()) if (!named.has(url)) await held.delete(url);
})()));
self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request, [page] = url.split(/[?#]/);
  if (method !== "GET" || mode !== "navigate" || !pages.has(page)) return; // the browser does as without this worker
  const kept = async () => (await (await store()).match(page)) ?? Response.error();
  event.respondWith(fetch(event.request).catch(kept));
});
