// A provider that nobody here wrote: aimock, from npm, which is held daily against the providers' own interfaces.
// It speaks all formats, whole and streamed, and here it plays one model: it thinks, says a word, and calls tools
// until one has answered.
//
// In node:     const mock = await startAimock(); … await mock.stop();   mock.url
// On its own:  node tests/support/aimock.mjs [--port N]                 prints {"url": …} and waits.
//
// Base URLs of the formats: {url}/v1 (Chat Completions, Responses, Mistral), {url} (Anthropic, Gemini).

import { pathToFileURL } from "node:url";
import { LLMock } from "@copilotkit/aimock";

/** What it thinks and says before it calls. It cuts texts by units of UTF-16, so no character has two. */
export const THOUGHT = "A story is wanted: ünïcode ✓ and all.";
export const SAID = "Let me tell one.";
/** What it calls, in the dummy environment and in the calculator. */
export const STORY = "Once there were five cats.";

/** Starts it; `port` 0 takes a free one. */
export async function startAimock({ port = 0 } = {}) {
  const mock = new LLMock({ port, chunkSize: 7, logLevel: "silent" });
  const calls = (toolCalls) => ({ content: SAID, reasoning: THOUGHT, toolCalls });
  const offers = (name) => (request) => (request.tools ?? []).some((tool) => tool.function?.name === name);
  mock.on(
    { hasToolResult: false, predicate: offers("print_story") },
    calls([{ name: "print_story", arguments: { story: STORY } }]),
  );
  mock.on(
    { hasToolResult: false, predicate: offers("submit_answer") },
    calls([{ name: "calculator", arguments: { expr: "6 * 7" } }]),
  );
  mock.on(
    { hasToolResult: true, predicate: offers("submit_answer") },
    calls([{ name: "submit_answer", arguments: { answer: "42" } }]),
  );
  await mock.start();
  return mock;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const place = process.argv.indexOf("--port");
  const mock = await startAimock({ port: place > 0 ? Number(process.argv[place + 1]) : 0 });
  console.log(JSON.stringify({ url: mock.url }));
}
