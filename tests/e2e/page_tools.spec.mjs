// Review's tools for agents in the browser (WebMCP): search, filter and open, against two stand-ins and Chromium's own API. No
// request leaves the page's origin (`visit` checks it).

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { BrowserAgent, earlyStandIn, standIn, WEB_MCP } from "./support/page_tools.mjs";
import { Library, lines } from "./support/trajectories.mjs";

const NAMES = ["filter_trajectories", "open_trajectory", "search_trajectories"];
const BROWSERS = [
  ["a stand-in", { init: standIn }],
  ["a stand-in of the first versions", { init: earlyStandIn }],
  ["Chromium's own", { args: [WEB_MCP] }],
];

/** The library with 60 trajectories, of which every second has a reward of 1. */
async function filled(page) {
  const library = await new Library(page).ready();
  await library.import(["runs.jsonl", lines(60, 100)]);
  await library.rows(60);
  return library;
}

for (const [browser, options] of BROWSERS) {
  test(`an agent searches, filters and opens trajectories (${browser})`, () =>
    visit({ hash: "#/review", ...options }, async (page) => {
      const library = await filled(page);
      const agent = new BrowserAgent(page);
      await agent.finds(NAMES);
      for (const { title, description, inputSchema, annotations } of await agent.tools()) {
        assert.ok(description.length > 40);
        assert.equal(inputSchema.type, "object");
        assert.ok(Object.keys(inputSchema.properties).length > 0);
        if (browser !== "Chromium's own" || title) assert.match(title, /traject/);
        assert.equal(annotations.untrustedContentHint, true);
      }

      // Without arguments, the filter lists what the table shows.
      const all = await agent.call("filter_trajectories", {});
      assert.deepEqual([all.trajectories, all.shown, all.rows.length, all.left_out, all.next_offset], [60, 60, 50, 10, 50]);
      const rest = await agent.call("filter_trajectories", { offset: all.next_offset });
      assert.deepEqual([rest.rows.length, rest.left_out], [10, undefined]);

      const search = await agent.call("search_trajectories", { words: "word17" });
      assert.deepEqual([search.trajectories, search.shown], [60, 1]);
      const [hit] = search.rows;
      assert.equal(hit.id, "episode-17");
      assert.equal(hit.match.step, 1);
      assert.match(hit.match.text, /word17/);
      await library.rows(1);
      assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "word17");
      await agent.call("search_trajectories", { words: "" });
      await library.rows(60);

      const sorted = { sort: { column: "name", descending: true } };
      const filter = await agent.call("filter_trajectories", { filters: [{ column: "reward", at_least: 1 }], ...sorted });
      assert.deepEqual([filter.shown, filter.rows[0].reward], [30, 1]);
      await library.rows(30);
      await page.getByRole("list", { name: "Filters" }).getByText("Reward >= 1").waitFor();
      assert.match(page.url(), /filter=reward~between~1~/);
      assert.match(page.url(), /sort=name~down/);

      const wrong = await agent.call("filter_trajectories", { filters: [{ column: "colour", known: true }] });
      assert.match(wrong.error, /There is no column colour\. There are: name, /);
      const lost = await agent.call("open_trajectory", { id: "nobody" });
      assert.match(lost.error, /There is no trajectory with the id nobody/);
      await library.rows(30);

      // The tools belong to the table.
      const opened = await agent.call("open_trajectory", { id: "episode-17", step: 1 });
      assert.equal(opened.opened.id, "episode-17");
      await library.transcript.getByText("word17").first().waitFor();
      assert.match(page.url(), /#\/review\/episode-17\?step=1/);
      await agent.finds([]);
      await page.goBack();
      await library.rows(30);
      await agent.finds(NAMES);
      await page.getByRole("link", { name: "Settings", exact: true }).click();
      await agent.finds([]);
    }));
}

test("secrets in names and matches are masked", () =>
  visit({ hash: "#/review", init: standIn }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["runs.jsonl", lines(1, 10).replace("word0", "word0 password=hunter22secret")]);
    await library.rows(1);
    const agent = new BrowserAgent(page);
    await agent.finds(NAMES);
    const search = await agent.call("search_trajectories", { words: "word0" });
    assert.equal(search.shown, 1);
    assert.doesNotMatch(JSON.stringify(search), /hunter22/);
  }));
