// Starts the wasm, in the page and in the page's workers. It is a file of its own, because the
// Content-Security-Policy allows no inline script.
const isFramedByAnotherSite = () => {
  // The page around a frame says where it is only to its own origin.
  try {
    for (let inner = globalThis; inner !== inner.parent; inner = inner.parent) {
      if (inner.parent.location.origin !== location.origin) return true;
    }
    return false;
  } catch {
    return true;
  }
};

// The service worker asks every thread which files it loaded before it was served (src/service-worker.js).
const answerUsed = () => {
  // The folder of this script is the scope of the service worker.
  const channel = new BroadcastChannel(`volary used ${new URL(".", import.meta.url).href}`);
  channel.onmessage = ({ data }) => {
    if (data === "used?") channel.postMessage(performance.getEntriesByType("resource").map(({ name }) => name));
  };
};

// The view for frames in other pages (page/teach/src/embed). It must not reach keys, connections and stored episodes, so the
// browser's stores are removed before any other code runs.
const isEmbedded = globalThis.document && /[?&]embed=1(&|$)/.test(location.search);
const removeStores = () => {
  for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) Object.defineProperty(globalThis, name, { value: undefined });
};
if (isEmbedded) removeStores();

if (globalThis.document && !isEmbedded && isFramedByAnotherSite()) {
  // Another site could lay its own content over the page, so that a click on it decides something here.
  document.querySelector("#framed a").href = location.href;
  document.getElementById("framed").hidden = false;
} else if (globalThis.document) {
  // Trunk's links carry the hashed names and the digests.
  const glue = document.querySelector("link[rel=modulepreload]").href;
  const wasm = document.querySelector("link[type='application/wasm']");
  try {
    const compiled = WebAssembly.compileStreaming(fetch(wasm.href, { integrity: wasm.dataset.integrity }));
    // Trusted Types: the addresses of this very script and of the service worker are the only ones that can be started. index.html names the policy.
    const rules = { createScriptURL: (name) => (name ? new URL("service-worker.js", document.baseURI).href : import.meta.url) };
    const policy = globalThis.trustedTypes?.createPolicy("volary", rules) ?? rules;
    const newWorker = (part) => {
      // The worker's name is the address of the glue.
      const worker = new Worker(policy.createScriptURL(""), { type: "module", name: glue });
      compiled.then((compiled) => worker.postMessage({ compiled, isEmbedded, part }));
      return worker;
    };
    // A worker that is started before the page asks for it. If it fails before that, another one is started then.
    let early;
    // Resolves when the worker has a thread of its own, or soon.
    const startEarly = (part) =>
      new Promise((resolve) => {
        setTimeout(resolve, 100);
        const worker = newWorker(part);
        early = { worker, part };
        worker.onmessage = worker.onerror = ({ data }) => {
          if (data !== "begun") early = undefined;
          resolve();
        };
      });
    globalThis.startWorker = (part) => {
      if (early?.part !== part) return newWorker(part);
      const { worker } = early;
      early = undefined;
      return worker;
    };
    // Review shows what a worker reads, so the worker starts while the code of the page is loading. The browser starts a
    // worker through the page's thread, which that code keeps busy, so the code waits a little.
    const begun = location.hash.startsWith("#/review") && startEarly("library");
    if (!isEmbedded) answerUsed();
    // page/browser/src/offline.rs asks for both. Browsers have service workers only on https and localhost.
    globalThis.storeOffline = () => {
      const workers = navigator.serviceWorker;
      workers?.ready.then(({ active }) => active.postMessage("used"));
      return workers?.register(policy.createScriptURL("offline"), { updateViaCache: "none" });
    };
    globalThis.askStore = (request, report) =>
      new Promise((resolve, reject) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data: { left, isDone, error } }) => (isDone ? (error ? reject(error) : resolve()) : report(left));
        navigator.serviceWorker.ready.then(({ active }) => active.postMessage(request, [port2]));
      });
    // page/browser/src/code_editor.rs asks for it.
    globalThis.loadEditor = () => import(new URL("editor.js", glue).href);
    const { default: start } = await import(glue);
    // `volary view` lets the browser in first (crates/cli/src/view/enter.js).
    await globalThis.admitted;
    const module_or_path = await compiled;
    await begun;
    await start({ module_or_path });
    // The first step needs this worker, but the first view does not.
    if (!isEmbedded && /^(#\/?|#\/run\b.*)?$/.test(location.hash)) startEarly("environments");
  } catch (error) {
    // page/browser/src/rescue.rs shows panics; this shows what failed before Rust started.
    const reason = document.getElementById("broken-reason");
    reason.textContent ||= String(error);
    document.getElementById("broken").hidden = false;
    throw error;
  }
} else {
  // The page sends the wasm, already compiled. Messages that arrive earlier wait for page/browser/src/worker_port.rs.
  const letters = (globalThis.letters = []);
  const module = new Promise((resolve) => {
    onmessage = ({ data }) => {
      if (!data.compiled) return letters.push(data);
      if (data.isEmbedded) removeStores();
      else answerUsed();
      globalThis.part = data.part;
      resolve(data.compiled);
      postMessage("begun");
    };
  });
  const { default: start } = await import(globalThis.name);
  await start({ module_or_path: await module });
}
