// The memory that a page has in use.

/** The heap of scripts, collected, and the wasm memories of page and workers, which never shrink; in bytes. */
export async function memory(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  await devtools.detach();
  const glue = await page.locator("link[rel=modulepreload]").first().evaluate((link) => link.href);
  // The module that runs already: it gives its memory, and starts nothing.
  const size = async (address) => {
    const { default: instance } = await import(address);
    return (await instance()).memory.buffer.byteLength;
  };
  const sizes = [await page.evaluate(size, glue)];
  for (const worker of page.workers()) sizes.push(await worker.evaluate(size, glue));
  console.error(`  scripts ${usedSize}, wasm ${sizes.join(" + ")}`);
  return sizes.reduce((sum, size) => sum + size, usedSize);
}
