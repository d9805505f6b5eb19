// Starts the wasm, in the page and in the page's workers. It is a file of its own, because the
// Content-Security-Policy allows no inline script.
if (globalThis.document) {
  // Trunk's links carry the hashed names and the digests.
  const glue = document.querySelector("link[rel=modulepreload]").href;
  const wasm = document.querySelector("link[type='application/wasm']");
  try {
    const compiled = WebAssembly.compileStreaming(fetch(wasm.href, { integrity: wasm.dataset.integrity }));
    const early = [];
    // It is named after the address of the glue. What it says before anybody listens is kept as `said`.
    const begin = () => {
      const worker = new Worker(import.meta.url, { type: "module", name: glue });
      worker.onmessage = ({ data }) => (worker.said = data);
      Promise.all([compiled, globalThis.ahead]).then(([compiled, ahead]) => worker.postMessage({ compiled, ahead }));
      return worker;
    };
    globalThis.startWorker = () => early.pop() ?? begin();
    if (location.hash.startsWith("#/review")) {
      // Its code comes in one piece beside the first part (xtask/src/wasm/ahead.rs), or else part by part.
      globalThis.ahead = WebAssembly.compileStreaming(fetch(new URL("review.wasm", glue))).catch(() => {});
      early.push(begin());
    }
    const { default: start } = await import(glue);
    await start({ module_or_path: await compiled });
  } catch (error) {
    // A panic has been told already, by src/shell/rescue.rs; this is what failed before Rust began.
    const reason = document.getElementById("broken-reason");
    reason.textContent ||= String(error);
    document.getElementById("broken").hidden = false;
    throw error;
  }
} else {
  // The page sends the wasm, already compiled. What else it sends waits until somebody listens (src/shell/worker_port.rs).
  const letters = (globalThis.letters = []);
  const parts = new Promise((resolve) => {
    onmessage = ({ data }) => (data.compiled ? resolve(data) : letters.push(data));
  });
  const { default: start } = await import(globalThis.name);
  const { compiled, ahead } = await parts;
  globalThis.ahead = ahead;
  await start({ module_or_path: compiled });
}
