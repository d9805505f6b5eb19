// What a long episode costs: plays ten thousand random steps of the dummy environment, whose frame holds
// all messages so far, at VOLARY_URL; then takes single steps and moves along it. Prints one JSON object:
// milliseconds of the main thread for a step (median, 95th percentile and the most), script, style, layout and
// paint included, whatever follows later for that step as well; and the memory that is in use at
// 2,500, 5,000 and 10,000 steps, in bytes (the heap of scripts, and the wasm memories of page and worker).
//
// It is the time that the thread computes; waiting (for a frame, for other programs) is none of it. Keys are
// pressed instead of buttons: to find and to press a button, Playwright lets the page compute more than
// the step itself does.

import { chromium } from "@playwright/test";

import { mainThread, p95 } from "./support/main_thread.mjs";
import { memory } from "./support/memory.mjs";

const LENGTHS = [2_500, 5_000, 10_000];
/** So many of each kind of movement. */
const SAMPLES = 60;
/** By then everything that a movement caused is done, the new address included, in milliseconds. */
const REST = 600;

// A profile of its own, as people have one. In a private window, which Playwright opens otherwise, the browser keeps
// no icons of pages, and loads this page's anew at each new address: a millisecond that is none of the page's.
const browser = await chromium.launchPersistentContext("", {
  viewport: { width: 1440, height: 900 },
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const [page] = browser.pages();
  const { busy, cost } = await mainThread(page);

  await page.goto(`${process.env.VOLARY_URL}#/run/dummy`);
  const button = (name) => page.getByRole("button", { name, exact: true });
  const status = page.getByRole("status", { name: "Episode" });
  const reaches = (steps) =>
    status.filter({ hasText: `${steps.toLocaleString("en")} steps` }).waitFor({ timeout: 300_000 });
  const configuration = page.getByRole("group", { name: "Configuration" });
  await configuration.getByLabel("end_immediately", { exact: true }).uncheck();
  await button("Reset").click();
  await reaches(0);
  await page.getByRole("combobox", { name: "Policy", exact: true }).selectOption("Random");
  const most = page.getByRole("form", { name: "Policy settings" }).getByLabel("Maximum steps");

  const figures = {};
  for (const steps of LENGTHS) {
    await most.fill(String(steps));
    const before = await busy();
    const start = Date.now();
    await button("Run").click();
    await reaches(steps);
    await button("Run").waitFor();
    figures[`run_${steps}`] = ((await busy()) - before) / (steps - (figures.steps ?? 0));
    console.error(`  ${steps} steps after ${Date.now() - start} ms`);
    figures.steps = steps;
    figures[`memory_${steps}`] = await memory(page);
  }

  const slider = await page.getByRole("slider", { name: "Step" }).elementHandle();
  await button("get_random_int").click();
  // The limit of the policy ended the episode; the first step by hand goes on.
  await button("Step").click();
  await reaches(figures.steps + 1);
  await button("Step").focus();
  await measured("append", () => page.keyboard.press("Enter"));
  await reaches(figures.steps + 1 + SAMPLES);
  await slider.focus();
  await measured("next", () => page.keyboard.press("ArrowLeft"));
  let seed = 1;
  const places = Number(await slider.getAttribute("max"));
  await measured("jump", async () => {
    seed = (seed * 48_271) % 2_147_483_647;
    await slider.evaluate((range, place) => {
      range.value = String(place);
      range.dispatchEvent(new Event("input", { bubbles: true }));
    }, seed % places);
  });
  console.log(JSON.stringify(figures));

  async function measured(name, move) {
    // What asking and waiting itself costs is not the page's.
    const idle = [];
    const ask = () => slider.evaluate((range) => range.value);
    for (let sample = 0; sample < 10; sample += 1) idle.push(await cost(ask, REST));
    const floor = median(idle);
    const costs = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) costs.push(await cost(move, REST));
    costs.sort((a, b) => a - b);
    figures[`${name}_median`] = median(costs) - floor;
    figures[`${name}_p95`] = p95(costs) - floor;
    figures[`${name}_most`] = costs.at(-1) - floor;
    console.error(`  ${name}: idle ${floor.toFixed(1)}, ${costs.map((ms) => ms.toFixed(0)).join(" ")}`);
  }
} finally {
  await browser.close();
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
