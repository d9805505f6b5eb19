// Keeps the files of one version of the page, so that it works without a connection after the first visit.
//
// - Only the page's own files, which BUILD lists, are stored or answered; requests to models and servers never pass through.
// - The document and files without a hash in their names come from the network if there is one: whoever is online always gets
//   the version that is served. What is stored is used only without a connection, and for files whose names tell their
//   contents.
// - A version is stored whole or not at all. An older one is deleted once no tab uses it.
// - The tab of the first visit is served from the store as soon as that is complete, so it works on if another version is
//   published meanwhile. Later versions wait until no tab is served by this one.
// - The document of the Python sandbox comes from the store of page/browser/src/python_files.rs, always with a header that makes
//   its origin opaque. Browsers ask for it here only without the frame's attribute `sandbox`, which has the same effect.
// - In development BUILD is null: the worker deletes what an earlier build stored, and removes itself.

// `cargo xtask build` writes {version, page, files: {path: digest}} here.
const BUILD = null;

/** The caches of this page; other pages of the same host have other scopes. */
const PREFIX = `volary ${registration.scope} `;
const CACHE = `${PREFIX}${BUILD?.version}`;
const INDEX = "index.html";

/** The store of the Python runtime, and the document of its sandbox. */
const PYTHON = `volary-python ${registration.scope}`;
const SANDBOX = /^python\/[^/]+\/python\.html$/;

const addressOf = (path) => new URL(path, registration.scope).href;

/** The path of a file within the page, or null. */
function pathOf(address) {
  const url = new URL(address);
  url.search = url.hash = "";
  if (!url.href.startsWith(registration.scope)) return null;
  return url.href.slice(registration.scope.length) || INDEX;
}

/** Fetches a file, and makes sure that it belongs to this version. */
async function fetched(path, integrity) {
  // A site made by `volary publish` has another document for the same files.
  const options = path === INDEX ? { cache: "no-cache" } : { cache: "no-cache", integrity };
  const response = await fetch(addressOf(path), options);
  // Only the document is looked at; the others are not copied.
  const body = path === INDEX ? await response.text() : response.body;
  const isOurs = path !== INDEX || body.includes(BUILD.page);
  if (!response.ok || !isOurs) throw new Error(`${path} is not of version ${BUILD.version}`);
  // The bytes are unpacked already.
  const headers = new Headers(response.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return new Response(body, { headers });
}

async function store() {
  const cache = await caches.open(CACHE);
  try {
    // Several requests at a time, but few of the files in memory at once.
    const left = Object.entries(BUILD.files).values();
    const storeNext = async () => {
      for (const [path, integrity] of left) await cache.put(addressOf(path), await fetched(path, integrity));
    };
    await Promise.all(Array.from({ length: 4 }, storeNext));
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

async function clean() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  if (!BUILD) await registration.unregister();
}

async function stored(path) {
  return (await caches.open(CACHE)).match(addressOf(path));
}

/** From the network, or else what is stored. */
async function fresh(request, path) {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await stored(path);
    if (!found) throw error;
    return found;
  }
}

/** What is stored, or else from the network. */
async function known(request, path) {
  return (await stored(path)) ?? fetch(request);
}

/** The document of the Python sandbox. */
async function sandboxed(request) {
  const found = (await (await caches.open(PYTHON)).match(request.url)) ?? (await fetch(request.url));
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": "sandbox allow-scripts" };
  return new Response(await found.text(), { status: found.status, headers });
}

addEventListener("install", (event) => {
  event.waitUntil(BUILD ? store() : skipWaiting());
});

addEventListener("activate", (event) => {
  const served = BUILD ? clients.claim() : undefined;
  event.waitUntil(Promise.all([served, clean()]));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const path = BUILD && request.method === "GET" && pathOf(request.url);
  if (path && SANDBOX.test(path) && request.mode === "navigate") event.respondWith(sandboxed(request));
  if (!path || !Object.hasOwn(BUILD.files, path)) return;
  // The hash is in the name of the file or of its folder.
  const isHashed = /-[0-9a-f]{16}[./]/.test(path);
  event.respondWith(isHashed ? known(request, path) : fresh(request, path));
});
