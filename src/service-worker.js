// Keeps files of one version of the page, so that what was used once works without a connection.
//
// - Only the page's own files, which BUILD lists, are stored or answered; requests to models and servers never pass through.
// - The files of the first view and of a step in the playground are stored when a version is installed, all of them or none.
//   Of the others, those that are used, and all of them once a person asked for it (page/browser/src/offline.rs): a whole
//   page for each pupil is too much for the network of a school.
// - The document and files without a hash in their names come from the network if there is one, so users who are online always
//   get the version that is served. What is stored is used only without a connection, and for files whose names tell their
//   contents.
// - An older version is deleted once no tab uses it. If it was stored whole, so is the next one.
// - The tab of the first visit is served from the store as soon as that is complete. Later versions wait until no tab is served
//   by this one.
// - The document of the Python sandbox comes from the store of page/browser/src/python_files.rs, always with a header that makes
//   its origin opaque. Browsers ask for it here only without the frame's attribute `sandbox`, which has the same effect.
// - In development BUILD is null: the worker deletes what an earlier build stored, and removes itself.

// `cargo xtask build` writes {version, page, files: {path: [digest, bytes]}, first: [path]} here.
const BUILD = null;

/** The caches of this page; other pages of the same host have other scopes. */
const PREFIX = `volary ${registration.scope} `;
const CACHE = `${PREFIX}${BUILD?.version}`;
/** Exists once a person asked for all files; it has no entries. */
const WHOLE = `${PREFIX}whole`;
/** Where the threads of the page say what they loaded before this worker served them (src/start.js). */
const USED = `volary used ${registration.scope}`;
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

/**
 * Stores the files of these paths that are not stored yet, and reports the bytes after each. It opens the cache once: a request
 * that goes on after another one failed would create the cache again that was deleted meanwhile.
 */
async function store(paths, report = () => {}) {
  const cache = await caches.open(CACHE);
  const left = paths.values();
  // Several requests at a time, but few of the files in memory at once.
  const storeNext = async () => {
    for (const path of left) {
      const [integrity, bytes] = BUILD.files[path];
      if (!(await cache.match(addressOf(path)))) await cache.put(addressOf(path), await fetched(path, integrity));
      report(bytes);
    }
  };
  await Promise.all(Array.from({ length: 4 }, storeNext));
}

/** Stores the files that a version must have. */
async function install() {
  try {
    await store((await caches.has(WHOLE)) ? Object.keys(BUILD.files) : BUILD.first);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

/** Stores what the page and its workers loaded before this worker served them. */
async function storeUsed() {
  const channel = new BroadcastChannel(USED);
  const paths = new Set();
  channel.onmessage = ({ data }) => {
    for (const address of data) {
      const path = pathOf(address);
      if (path && Object.hasOwn(BUILD.files, path)) paths.add(path);
    }
  };
  channel.postMessage("used?");
  // Every thread answers at once, unless it is busy.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  channel.close();
  // A file that cannot be stored now is stored when it is used again.
  await store([...paths]).catch(() => {});
}

/** Stores all files, and reports the bytes that are left. */
async function storeWhole(report) {
  await caches.open(WHOLE);
  let left = await missing();
  report(left);
  const paths = await unstored();
  await store(paths, (bytes) => report((left -= bytes)));
}

/** The paths that are not stored. */
async function unstored() {
  const addresses = new Set((await (await caches.open(CACHE)).keys()).map(({ url }) => url));
  return Object.keys(BUILD.files).filter((path) => !addresses.has(addressOf(path)));
}

/** The bytes that are not stored. */
async function missing() {
  return (await unstored()).reduce((sum, path) => sum + BUILD.files[path][1], 0);
}

async function clean() {
  const names = await caches.keys();
  const kept = BUILD ? [CACHE, WHOLE] : [];
  const old = names.filter((name) => name.startsWith(PREFIX) && !kept.includes(name));
  await Promise.all(old.map((name) => caches.delete(name)));
  if (!BUILD) await registration.unregister();
}

async function stored(path) {
  return (await caches.open(CACHE)).match(addressOf(path));
}

/** Fetches a file and stores a copy of it. */
async function used(event, path) {
  const response = await fetch(event.request);
  // The document is stored with the files that it names, when a version is installed.
  if (path !== INDEX && response.status === 200 && !response.redirected) {
    const copy = response.clone();
    // A full store changes nothing for the page.
    const put = caches.open(CACHE).then((cache) => cache.put(addressOf(path), copy));
    event.waitUntil(put.catch(() => {}));
  }
  return response;
}

/** From the network, or else what is stored. */
async function fresh(event, path) {
  try {
    return await used(event, path);
  } catch (error) {
    const found = await stored(path);
    if (!found) throw error;
    return found;
  }
}

/** What is stored, or else from the network. */
async function known(event, path) {
  return (await stored(path)) ?? used(event, path);
}

/** The document of the Python sandbox. */
async function sandboxed(request) {
  const found = (await (await caches.open(PYTHON)).match(request.url)) ?? (await fetch(request.url));
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": "sandbox allow-scripts" };
  return new Response(await found.text(), { status: found.status, headers });
}

addEventListener("install", (event) => {
  event.waitUntil(BUILD ? install() : skipWaiting());
});

addEventListener("activate", (event) => {
  const served = BUILD ? clients.claim() : undefined;
  event.waitUntil(Promise.all([served, clean()]));
});

// Each page sends "used" once it started; browsers would hold all requests back until an event `activate` had done this.
// page/browser/src/offline.rs asks how many bytes are missing, or for all of them, and gets each count at the port.
addEventListener("message", (event) => {
  if (!BUILD) return;
  const [port] = event.ports;
  if (!port) return event.waitUntil(storeUsed());
  const report = (left) => port.postMessage({ left });
  const isWhole = event.data === "whole";
  const work = isWhole ? storeWhole(report) : missing().then(report);
  const end = (error) => port.postMessage({ isDone: true, error: error && String(error.message ?? error) });
  event.waitUntil(work.then(() => end(), end));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const path = BUILD && request.method === "GET" && pathOf(request.url);
  if (path && SANDBOX.test(path) && request.mode === "navigate") event.respondWith(sandboxed(request));
  if (!path || !Object.hasOwn(BUILD.files, path)) return;
  // The hash is in the name of the file or of its folder.
  const isHashed = /-[0-9a-f]{16}[./]/.test(path);
  event.respondWith(isHashed ? known(event, path) : fresh(event, path));
});
