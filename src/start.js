// Starts the wasm, in the page and in the page's workers. It is a file of its own, because the
// Content-Security-Policy allows no inline script.
if (globalThis.document) {
  // Trunk's links carry the hashed names and the digests.
  const glue = document.querySelector("link[rel=modulepreload]").href;
  const wasm = document.querySelector("link[type='application/wasm']");
  try {
    const compiled = WebAssembly.compileStreaming(fetch(wasm.href, { integrity: wasm.integrity }));
    const early = [];
    // What is posted before anybody listens is kept as `said`.
    const begin = () => {
      const worker = new Worker(import.meta.url, { type: "module" });
      worker.onmessage = ({ data }) => (worker.said = data);
      worker.postMessage(glue);
      Promise.all([compiled, globalThis.ahead]).then((parts) => worker.postMessage(parts));
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
  // The page's first message brings the address of the glue, its second one the wasm, already compiled.
  const message = () => new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data), { once: true });
  });
  const address = await message();
  const parts = message();
  const { default: start } = await import(address);
  const [compiled, ahead] = await parts;
  globalThis.ahead = ahead;
  await start({ module_or_path: compiled });
}
