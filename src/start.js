// Starts the wasm, in the page and in the page's worker. It is a file of its own, because the
// Content-Security-Policy allows no inline script.
if (globalThis.document) {
  // Trunk's links carry the hashed names and the digests.
  const glue = document.querySelector("link[rel=modulepreload]");
  const wasm = document.querySelector("link[type='application/wasm']");
  try {
    const { default: start } = await import(glue.href);
    await start({ module_or_path: fetch(wasm.href, { integrity: wasm.integrity }) });
  } catch (error) {
    // A panic has been told already, by src/shell/rescue.rs; this is what failed before Rust began.
    const reason = document.getElementById("broken-reason");
    reason.textContent ||= String(error);
    document.getElementById("broken").hidden = false;
    throw error;
  }
} else {
  // The page's first message brings the address of the glue and the wasm, already compiled.
  const first = await new Promise((resolve) => {
    addEventListener("message", resolve, { once: true });
  });
  const [address, compiled] = first.data;
  const { default: start } = await import(address);
  await start({ module_or_path: compiled });
}
