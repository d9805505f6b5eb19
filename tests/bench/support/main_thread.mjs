// The time that the main thread of a page computes: script, style, layout and paint. Waiting, for a frame or for other
// programs, is not counted.

/** The number of scroll steps, the pixels of each, and the milliseconds to wait after it. */
const SCROLL = { steps: 60, pixels: 300, rest: 100 };
/** The number of idle waits, of which the cheapest is the cost of measuring itself. */
const IDLE = 8;

/** A page's main thread: `busy` is its work so far, `cost` that of an action and the `rest` after it, in milliseconds. */
export async function mainThread(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "TaskDuration").value * 1000;
  };
  const cost = async (action, rest) => {
    const before = await busy();
    await action();
    await page.waitForTimeout(rest);
    return (await busy()) - before;
  };
  return { busy, cost };
}

/** The milliseconds of the main thread for each step of the wheel under the pointer, in ascending order. */
export async function scrollSteps(page, options) {
  const { steps, pixels, rest } = { ...SCROLL, ...options };
  const { cost } = await mainThread(page);
  const idle = [];
  for (let step = 0; step < IDLE; step += 1) idle.push(await cost(async () => {}, rest));
  // The least: what is still being read meanwhile is no part of the floor.
  const floor = Math.min(...idle);
  const costs = [];
  for (let step = 0; step < steps; step += 1) {
    const taken = await cost(() => page.mouse.wheel(0, pixels), rest);
    costs.push(Math.max(0, taken - floor));
  }
  return costs.sort((one, other) => one - other);
}

/** The value that 95 of 100 ascending values do not exceed. */
export function p95(ascending) {
  return ascending[Math.floor(ascending.length * 0.95)];
}
