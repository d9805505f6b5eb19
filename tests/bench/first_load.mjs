// What a first visit costs: opens VOLARY_URL several times, each time with an empty cache, until the
// playground can be played, and prints one JSON object: bytes (gzipped, of all that was fetched),
// milliseconds (from the start of the navigation, the median), later (bytes that follow at the first
// sign of a person), twice (addresses fetched again).

import { gzipSync } from "node:zlib";
import { chromium } from "@playwright/test";

const VISITS = 7;

const browser = await chromium.launch({
  executablePath: process.env.VOLARY_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  const visits = [];
  for (let number = 0; number < VISITS; number += 1) visits.push(await visit());
  const times = visits.map((visit) => visit.milliseconds).sort((a, b) => a - b);
  const { sizes, later, twice } = visits[0];
  let bytes = 0;
  for (const [address, size] of sizes) {
    const name = new URL(address).pathname.split("/").pop() || "index.html";
    console.error(`  ${(size / 1000).toFixed(1).padStart(8)} KB  ${name}`);
    bytes += size;
  }
  console.log(JSON.stringify({ bytes, milliseconds: times[VISITS >> 1], later, twice }));
} finally {
  await browser.close();
}

async function visit() {
  const context = await browser.newContext();
  const answers = [];
  context.on("response", (response) => answers.push(response));
  const page = await context.newPage();
  await page.goto(process.env.VOLARY_URL);
  await page.getByRole("list", { name: "Tools" }).getByRole("button").first().waitFor();
  await page.getByRole("log", { name: "Transcript" }).getByRole("listitem").first().waitFor();
  const milliseconds = await page.evaluate(() => performance.now());
  // What the page still wants once it can be played is part of the visit.
  await page.waitForTimeout(500);

  const first = answers.length;
  await page.mouse.move(200, 200);
  await page.waitForTimeout(1000);

  const sizes = new Map();
  const known = new Set();
  let twice = 0;
  let later = 0;
  for (const [place, answer] of answers.entries()) {
    // A browser asks whether what it has is still good; no body crosses the network then.
    if ((await answer.request().sizes()).responseBodySize === 0) continue;
    const address = answer.url();
    if (known.has(address)) twice += 1;
    known.add(address);
    const size = gzipSync(await answer.body()).length;
    if (place < first) sizes.set(address, size);
    else later += size;
  }
  await context.close();
  return { sizes, milliseconds, later, twice };
}
