// The memory that a page has in use.

/** The heap of scripts, collected, and the wasm memories of page and workers, which never shrink; in bytes. */
export async function memory(page) {
  const { scripts, wasm } = await memoryParts(page);
  console.error(`  scripts ${scripts}, wasm ${wasm.join(" + ")}`);
  return wasm.reduce((sum, size) => sum + size, scripts);
}

/** The same by parts: the heap, the number of nodes in documents, and the wasm memories, that of the page first. */
export async function memoryParts(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  const { nodes } = await devtools.send("Memory.getDOMCounters");
  await devtools.detach();
  const glue = await page.locator("link[rel=modulepreload]").first().evaluate((link) => link.href);
  // The module that runs already: it gives its memory, and starts nothing.
  const size = async (address) => {
    const { default: instance } = await import(address);
    return (await instance()).memory.buffer.byteLength;
  };
  const wasm = [await page.evaluate(size, glue)];
  for (const worker of page.workers()) wasm.push(await worker.evaluate(size, glue));
  return { scripts: usedSize, nodes, wasm };
}
