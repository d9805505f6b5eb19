// Files from addresses: shown while they load, opened by a link, cancelled, interrupted.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "@playwright/test";

import { HOME, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { site } from "./support/site.mjs";
import { until } from "./support/state.mjs";
import { Library, lines, trajectory } from "./support/trajectories.mjs";
import { zipped } from "./support/zip.mjs";

const ONE = trajectory("one", [{ says: "The marble is red." }]);
/** Where the download of a log of one sample pauses until it is resumed. */
const HALF = 5 << 20;
const MORE = 3 << 20;

/** A log of Inspect with one sample of 10 MB, which says only at its end what it is called. */
function log() {
  const words = "some words that fill the message ".repeat(60);
  const messages = Array.from({ length: 5_000 }, (_, number) => ({
    id: `m${number}`,
    role: number % 2 ? "assistant" : "user",
    content: `place${number} ${words}`,
  }));
  return JSON.stringify({
    version: 2,
    status: "success",
    eval: { task: "boxes", eval_id: "run", model: "mockllm/model" },
    samples: [{ id: 1, epoch: 1, input: "x", target: "y", messages, output: {}, scores: { match: { value: 1 } }, uuid: "whole" }],
  });
}

/** A site that sends the first half of the log and waits; `rest` sends what is missing, `breakOff` does not. */
async function slowSite() {
  const bytes = Buffer.from(log());
  let half;
  const asked = new Promise((resolve) => (half = resolve));
  const other = await site((path, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    if (path !== "/log.json") {
      response.end(path === "/lines.jsonl" ? lines(20, 100) : JSON.stringify(ONE));
      return;
    }
    response.setHeader("Content-Length", bytes.length);
    response.write(bytes.subarray(0, HALF), () => half(response));
  });
  return {
    ...other,
    /** The reply, of which half is sent. */
    reply: () => asked,
    rest: async () => (await asked).end(bytes.subarray(HALF)),
    /** Some more of it, and then the rest. */
    more: async () => (await asked).write(bytes.subarray(HALF, HALF + MORE)),
    restAfterMore: async () => (await asked).end(bytes.subarray(HALF + MORE)),
    breakOff: async () => (await asked).destroy(),
    hash: (name, more = "") => `#/review?url=${encodeURIComponent(`${other.origin}/${name}`)}${more}`,
  };
}

async function withSite(journey) {
  const other = await slowSite();
  try {
    await journey(other);
  } finally {
    other.close();
  }
}

const heading = (page) => page.getByRole("heading", { name: "boxes 1" });
const rest = (page) => page.getByRole("region", { name: "Remaining steps" });

test("a file is fetched from an address, and a CORS failure is explained", async () => {
  const asked = [];
  const other = await site((path, response) => {
    asked.push(path);
    if (path !== "/closed.json") response.setHeader("Access-Control-Allow-Origin", "*");
    if (path === "/none.json") response.statusCode = 404;
    response.end(JSON.stringify(ONE));
  });
  const from = (name) => `#/review?url=${encodeURIComponent(`${other.origin}/${name}`)}`;
  try {
    const allowedErrors = [/CORS|Failed to load|ERR_FAILED/];
    await visit({ hash: from("open.json"), origins: [other.origin], allowedErrors }, async (page) => {
      const library = await new Library(page).ready();
      await library.agree();
      await library.rows(1);
      await page.goto(HOME + from("closed.json"));
      await library.agree();
      const alert = page.getByRole("alert");
      await alert.getByText(/does not allow pages of/).waitFor();
      await alert.getByText(/Download the file/).waitFor();
      // A failed request is not repeated to find out why.
      assert.deepEqual(asked, ["/open.json", "/closed.json"]);
      await page.goto(HOME + from("none.json"));
      await library.agree();
      await alert.getByText(/The server answered 404/).waitFor();
      await library.rows(1);
    });
  } finally {
    other.close();
  }
});

test("a long trajectory can be read while it loads, and the scroll position stays", () =>
  withSite((other) =>
    visit({ hash: other.hash("log.json", "&open=1"), origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      await library.agree({ keep: true });
      await library.transcript.getByText(/^place0 /).waitFor();
      await rest(page).getByText(/Showing the beginning/).waitFor();
      await rest(page).getByRole("progressbar").waitFor();
      const some = Number(await library.slider.getAttribute("max"));
      assert.ok(some > 20 && some < 2_500, `${some} steps`);
      await library.slider.focus();
      for (let step = 0; step < 3; step += 1) await page.keyboard.press("ArrowRight");
      // Scroll past the selected step.
      await library.transcript.hover();
      await page.mouse.wheel(0, 2_000);
      const place = library.transcript.getByText(/^place7 /);
      await place.waitFor();
      const before = await place.boundingBox();
      await other.rest();
      await page.getByText("2,500 steps").waitFor();
      await rest(page).waitFor({ state: "detached" });
      assert.equal(await library.slider.inputValue(), "3");
      const after = await place.boundingBox();
      // The import progress above the transcript is gone.
      assert.ok(Math.abs(after.y - before.y) < 150, `it moved from ${before.y} to ${after.y}`);
      // It has the name from the end of the file, in the address too, and the address works from anywhere.
      await page.waitForURL(/#\/review\/whole\?.*url=/);
      await page.getByRole("link", { name: "Trajectories" }).click();
      await library.rows(1);
    }),
  ));

test("a partially loaded trajectory has its final address", () =>
  withSite((other) =>
    visit({ hash: other.hash("log.json", "&open=1"), origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      await library.agree();
      await rest(page).waitFor();
      const steps = async () => Number(await library.slider.getAttribute("max"));
      const before = await steps();
      // More of it is shown every few seconds.
      await page.waitForTimeout(5_000);
      await other.more();
      await page.waitForURL(/#\/review\/run-1-1\?.*url=/);
      await rest(page).waitFor();
      await until(async () => (await steps()) > before, "no more of it is shown");
      assert.ok((await steps()) < 2_500);
      await library.transcript.getByText(/^place0 /).waitFor();
      await other.restAfterMore();
      await page.getByText("2,500 steps").waitFor();
      await page.waitForURL(/#\/review\/whole\?.*url=/);
      await page.getByRole("link", { name: "Trajectories" }).click();
      await library.rows(1);
    }),
  ));

test("an address opens one trajectory of a file on a first visit", () =>
  withSite((other) =>
    visit({ hash: other.hash("lines.jsonl", "&open=3"), origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      await library.agree();
      await library.transcript.getByText(/word2 /).waitFor();
      await page.waitForURL(/#\/review\/episode-2\?url=/);
      // The copied link leads there as well, and is not marked as local.
      await page.getByRole("button", { name: "Copy link" }).click();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(link, /#\/review\/episode-2\?url=/);
      assert.equal(await page.getByRole("status", { name: "Link" }).count(), 0);
      const guest = await (await page.context().browser().newContext()).newPage();
      await guest.goto(link);
      await new Library(guest).agree();
      await new Library(guest).transcript.getByText(/word2 /).waitFor();
      await guest.context().close();
      await page.goto(HOME + other.hash("lines.jsonl", "&open=99"));
      await library.agree();
      await library.ready();
      await library.rows(20);
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      // A second import recognises the file and still finds its trajectories.
      await page.goto(HOME + other.hash("lines.jsonl", "&open=2"));
      await library.agree();
      await library.transcript.getByText(/word1 /).waitFor();
    }),
  ));

test("the received part is stored if the download fails", () =>
  withSite((other) =>
    visit(
      {
        hash: other.hash("log.json", "&open=1"),
        origins: [other.origin],
        allowedErrors: [/ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE|ERR_CONNECTION|Failed to load/],
      },
      async (page) => {
        const library = new Library(page);
        await library.agree({ keep: true });
        await rest(page).waitFor();
        await other.breakOff();
        await page.getByRole("alert").getByText(/could not be fetched/).waitFor();
        await rest(page).waitFor({ state: "detached" });
        await library.transcript.getByText(/^place0 /).waitFor();
        await page.getByRole("link", { name: "Trajectories" }).click();
        await page.getByText(/Only the beginning of a trajectory was read/).waitFor();
        await library.rows(1);
        await page.reload();
        await library.rows(1);
        await library.link(/boxes/).click();
        await heading(page).waitFor();
        await library.transcript.getByText(/^place0 /).waitFor();
      },
    ),
  ));

test("cancelling a download aborts its request", () =>
  withSite((other) =>
    visit({ hash: other.hash("log.json"), origins: [other.origin] }, async (page) => {
      const library = await new Library(page).ready();
      await library.agree();
      await library.rows(1);
      await library.table.getByText("importing").waitFor();
      const closed = once(await other.reply(), "close");
      await page.getByRole("button", { name: "Cancel" }).click();
      await closed;
      await page.getByText(/Cancelled/).waitFor();
      await library.table.getByText("importing").waitFor({ state: "detached" });
      await library.rows(1);
    }),
  ));

/** A packed log of samples of 40 kB each. */
function packed(samples) {
  const words = "some words that fill the message ".repeat(60);
  const sample = (id) => ({
    id,
    epoch: 1,
    input: "x",
    target: "y",
    messages: Array.from({ length: 20 }, (_, number) => ({
      id: `m${id}-${number}`,
      role: number % 2 ? "assistant" : "user",
      content: `sample${id} ${words}`,
    })),
    output: {},
    scores: { match: { value: 1 } },
  });
  const head = { version: 2, status: "success", eval: { task: "boxes", eval_id: "run", model: "mockllm/model" } };
  const ids = Array.from({ length: samples }, (_, number) => number + 1);
  return zipped([...ids.map((id) => [`samples/${id}_epoch_1.json`, sample(id)]), ["header.json", head]], "STORED");
}

/** A site with a packed log, of which a fifth comes; what is asked for by itself comes as `parts` gives it. */
async function packedSite(bytes, parts) {
  const asked = [];
  let whole;
  const other = await site((path, response) => {
    const range = /bytes=(\d+)-(\d+)/.exec(response.req.headers.range ?? "");
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", "Accept-Ranges, Content-Range, ETag");
    response.setHeader("Accept-Ranges", "bytes");
    response.setHeader("ETag", "one");
    if (range) {
      asked.push(range[0]);
      return parts(response, Number(range[1]), Number(range[2]) + 1);
    }
    whole = response;
    response.setHeader("Content-Length", bytes.length);
    response.write(bytes.subarray(0, bytes.length / 5));
  });
  return { ...other, asked, rest: () => whole.end(bytes.subarray(bytes.length / 5)) };
}

const PACKED = packed(100);

test("a packed log shows its first sample while the rest loads, if the server supports ranges", async () => {
  const other = await packedSite(PACKED, (response, start, end) => {
    response.writeHead(206, { "Content-Range": `bytes ${start}-${end - 1}/${PACKED.length}` });
    response.end(PACKED.subarray(start, end));
  });
  const hash = `#/review?url=${encodeURIComponent(`${other.origin}/log.eval`)}`;
  try {
    await visit({ hash, origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      await library.agree();
      await library.table.getByRole("link").first().waitFor();
      await page.getByRole("button", { name: "Cancel" }).waitFor();
      assert.ok(other.asked.length > 0 && other.asked.length < 5, other.asked.join(" "));
      other.rest();
      await library.rows(100);
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      await library.search("sample77");
      await page.getByLabel("Library").getByText("1 of 100", { exact: true }).waitFor();
    });
  } finally {
    other.close();
  }
});

for (const [what, parts] of [
  ["refuses parts", (response) => response.writeHead(500).end()],
  ["gives all of it for a part", (response) => response.end(PACKED)],
  ["gives other parts", (response) => response.writeHead(206, { "Content-Range": "bytes 0-9/10" }).end("0123456789")],
  ["has another file by then", (response, start, end) => response.writeHead(206, { ETag: "two" }).end(Buffer.alloc(end - start))],
  ["breaks a part off", (response) => response.writeHead(206, { "Content-Length": 100_000 }).write("x", () => response.destroy())],
]) {
  test(`a packed log is read after it loads completely, from a server that ${what}`, async () => {
    const other = await packedSite(PACKED, parts);
    const hash = `#/review?url=${encodeURIComponent(`${other.origin}/log.eval`)}`;
    const allowedErrors = [/status of 500|ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE|ERR_CONNECTION/];
    try {
      await visit({ hash, origins: [other.origin], allowedErrors }, async (page) => {
        const library = new Library(page);
        await library.agree();
        await page.getByRole("button", { name: "Cancel" }).waitFor();
        await until(() => other.asked.length > 0, "no part was asked for");
        other.rest();
        await library.rows(100);
        await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      });
    } finally {
      other.close();
    }
  });
}

test("an address alone sends no request, and a file that was not stored is gone at the next visit", async () => {
  const asked = [];
  const other = await site((path, response) => {
    asked.push(`${response.req.method} ${path}`);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end(JSON.stringify(ONE));
  });
  const from = (more = "") => `#/review?url=${encodeURIComponent(`${other.origin}/one.json`)}${more}`;
  try {
    await visit({ hash: from("&open=1"), origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      const question = library.question();
      await question.getByRole("heading", { name: `Fetch a file from ${new URL(other.origin).host}?` }).waitFor();
      await question.getByText(`${other.origin}/one.json`, { exact: true }).waitFor();
      await question.getByText(/This address is on your own machine/).waitFor();
      await page.reload();
      await question.waitFor();
      await question.getByRole("button", { name: "Don't fetch" }).click();
      await question.waitFor({ state: "detached" });
      await library.ready();
      // Entered while the page is open.
      await page.evaluate((hash) => (location.hash = hash), from());
      await question.waitFor();
      await page.waitForTimeout(500);
      assert.deepEqual(asked, []);
      await accessible(page);
      await library.agree();
      await library.rows(1);
      assert.deepEqual(asked, ["GET /one.json"]);
      await page.goto(`${HOME}#/review`);
      await library.again();
      await page.getByRole("heading", { name: "No trajectories yet" }).waitFor();
      // A file that was stored on request opens without a question.
      await page.goto(HOME + from("&open=1"));
      await library.agree({ keep: true });
      await library.transcript.getByText("The marble is red.").waitFor();
      await page.waitForURL(/#\/review\/one\?url=/);
      await page.reload();
      await library.transcript.getByText("The marble is red.").waitFor();
      assert.equal(await question.count(), 0);
      assert.deepEqual(asked, ["GET /one.json", "GET /one.json"]);
    });
  } finally {
    other.close();
  }
});

test("a trajectory that was not stored is fetched again after consent", async () => {
  const other = await site((path, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end(JSON.stringify(ONE));
  });
  const hash = `#/review/one?url=${encodeURIComponent(`${other.origin}/one.json`)}`;
  try {
    await visit({ hash, origins: [other.origin] }, async (page) => {
      const library = new Library(page);
      await library.agree();
      await library.transcript.getByText("The marble is red.").waitFor();
    });
  } finally {
    other.close();
  }
});

for (const [url, words] of [
  ["data:application/json,{}", /It starts with "data:"/],
  ["file:///etc/passwd", /It starts with "file:"/],
  ["javascript:alert(1)", /It starts with "javascript:"/],
  ["https://me:secret@a.example/a.json", /It contains a user name or password/],
]) {
  test(`an address that names ${url.split(":")[0]}:${url.includes("@") ? " with a password" : ""} is refused`, () =>
    visit({ hash: `#/review?url=${encodeURIComponent(url)}&open=1` }, async (page) => {
      const library = await new Library(page).ready();
      await page.getByRole("alert").getByText(words).waitFor();
      assert.equal(await library.question().count(), 0);
    }));
}

test("the link of a trajectory that exists only in this browser is marked as local", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.table.getByRole("link").first().click();
    await library.transcript.getByText("The marble is red.").waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    const note = page.getByRole("status", { name: "Link" });
    await note.getByText(/only in this browser/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      note.getByRole("button", { name: "Save as HTML page" }).click(),
    ]);
    assert.match(download.suggestedFilename(), /\.html$/);
    // This page does not have its environment, so no share link can replay it.
    assert.equal(await note.getByRole("button", { name: "Copy share link" }).count(), 0);
    await accessible(page);
    await note.getByRole("button", { name: "Dismiss" }).click();
    await note.waitFor({ state: "detached" });
  }));

test("a share link is offered for an episode that was played here", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("incr");
    await playground.says("1 step");
    await page.getByRole("link", { name: "Review" }).click();
    const library = await new Library(page).ready();
    await library.table.getByRole("link").first().click();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("status", { name: "Link" }).getByRole("button", { name: "Copy share link" }).click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await until(async () => (await copied()).includes("#/run/counter?"), "a share link");
    await page.goto(await copied());
    await playground.says("1 step");
  }));
