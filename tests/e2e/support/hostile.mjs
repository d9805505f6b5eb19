// Texts that try to execute, to be fetched, or to be mistaken for something else; files of every format that consist of
// such texts; and the check that they stayed texts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What would show that something ran. */
const RUN = "globalThis.__ran=1";
/** An address whose requests would show that something was fetched. No server listens there. */
const AWAY = "http://127.0.0.1:9/caught";

const MARKUP = [
  `<script>${RUN}</script>`,
  `<script src="${AWAY}.js"></script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${AWAY}.png">`,
  `<svg onload="${RUN}"><circle r=9></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<iframe src="${AWAY}"></iframe>`,
  `<object data="${AWAY}"></object>`,
  `<embed src="${AWAY}.swf">`,
  `<link rel=stylesheet href="${AWAY}.css">`,
  `<style>@import url(${AWAY}.css);*{display:none}</style>`,
  `<base href="${AWAY}/">`,
  `<meta http-equiv=refresh content="0;url=${AWAY}">`,
  `<form action="${AWAY}"><input autofocus onfocus="${RUN}"></form>`,
  `<details open ontoggle="${RUN}">`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src="${AWAY}.mp3" autoplay></audio>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}">`,
  `<template><script>${RUN}</script></template>`,
  `<a href="javascript:${RUN}" autofocus onfocus="${RUN}">link</a>`,
  `<body onload="${RUN}">`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<dialog open onclose="${RUN}">`,
];

const MARKDOWN = [
  `![image](${AWAY}.png)`,
  `![image](data:image/svg+xml,%3Csvg%20onload=%22${RUN}%22%3E)`,
  `[link](javascript:${RUN})`,
  `[link](data:text/html,<script>${RUN}</script>)`,
  `[link](vbscript:x "title")`,
  `<javascript:${RUN}>`,
  `<${AWAY}>`,
  `[ref]: javascript:${RUN}\n[ref]`,
  `# heading\n<img src=x onerror="${RUN}">`,
  "```html\n<script>" + RUN + "</script>\n```",
  "`<script>" + RUN + "</script>`",
  `| a | b |\n|---|---|\n| <img src=x onerror=${RUN}> | ![x](${AWAY}) |`,
  `$$\\href{javascript:${RUN}}{x}$$`,
];

const OTHERS = [
  `javascript:${RUN}`,
  `data:text/html;base64,PHNjcmlwdD5nbG9iYWxUaGlzLl9fcmFuPTE8L3NjcmlwdD4=`,
  `data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9Imdsb2JhbFRoaXMuX19yYW49MSI+`,
  `"};${RUN};//`,
  `';${RUN};'`,
  "${" + RUN + "}",
  "{{constructor.constructor('" + RUN + "')()}}",
  `]]><script>${RUN}</script>`,
  `--><script>${RUN}</script><!--`,
  `</textarea></title></style></script><script>${RUN}</script>`,
  `\u001b]8;;javascript:${RUN}\u0007link\u001b]8;;\u0007`,
  "\u001b[2J\u001b[31mred\u001b[0m\u001b[?1049h",
  `=HYPERLINK("${AWAY}","x")`,
  "@SUM(1+1)*cmd|' /C calc'!A0",
  "../../../../etc/passwd",
  "C:\\windows\\system32\\x.json",
  "__proto__",
  "constructor",
  "#/review?url=" + AWAY,
  "%3Cscript%3E" + RUN + "%3C/script%3E",
  "&lt;script&gt;" + RUN + "&lt;/script&gt;",
  "\u202egnp.exe\u202c and \u2066isolated\u2069",
  "zero\u200b\u200c\u200d\u2060\ufeffwidth",
  "\u0000null\u0008back\u007f",
  "lone \ud800 surrogate \udc00",
  "z\u0301\u0302\u0303\u0304\u0305".repeat(20),
  "\u{e0041}\u{e0042} tags",
  "\ufdfd".repeat(40),
  "n".repeat(3000),
];

/** Ways to get past who looks for the plain form. */
const DISGUISES = [
  (text) => text,
  (text) => text.toUpperCase().replaceAll("GLOBALTHIS.__RAN", "globalThis.__ran"),
  (text) => text.replaceAll("<", "<\u0000"),
  (text) => text.replaceAll(":", "&colon;"),
  (text) => text.replaceAll("script", "scr\tipt"),
  (text) => `">${text}`,
  (text) => `'>${text}`,
  (text) => `\u202e${text}`,
  (text) => `${text}\r\n${text}`,
  (text) => `\ufeff\u2028${text}`,
  (text) => `> - * ${text}`,
];

/** Five hundred of them. */
export const HOSTILE = [
  ...new Set(DISGUISES.flatMap((disguise) => [...MARKUP, ...MARKDOWN, ...OTHERS].map(disguise))),
].slice(0, 500);

/** Texts that say what a part is: without them nothing would be read at all. */
const TELLING = new Set(
  ("role type event source action observation schema_version trajectory_format format kind op path status " +
    "timestamp started_at completed_at completed created created_at time start_time end_time startTimeUnixNano " +
    "endTimeUnixNano timeUnixNano gen_ai.operation.name openinference.span.kind traceloop.span.kind " +
    "llm.request.type").split(" "),
);

/** Texts by which parts name each other: they stay different ones. */
const NAMING = new Set(
  ("id uuid parentUuid tool_call_id tool_use_id source_call_id call_id parent session_id trajectory_id " +
    "continued_trajectory_ref trajectory_path traceId spanId parentSpanId gen_ai.conversation.id gen_ai.tool.call.id").split(" "),
);

/** The value with every text in it replaced, but for those that tell what a part is; names in free objects too. */
function replaced(value, text, key, within) {
  const isFree = ["arguments", "args", "metadata", "extra", "info", "state", "store"].includes(within);
  if (typeof value === "string") {
    // Members of messages that are attributes of their own: `llm.input_messages.0.message.role`.
    if (TELLING.has(key) || key.endsWith(".role")) return value;
    if (NAMING.has(key)) return value + text;
    // Values in strings: arguments of calls, states of old files.
    if (/^\s*[{[]/.test(value)) {
      try {
        return JSON.stringify(replaced(JSON.parse(value), text, key, key));
      } catch {
        return text;
      }
    }
    return text;
  }
  if (Array.isArray(value)) {
    const all = value.map((one) => replaced(one, text, key, within));
    return key === "attributes" ? [...all, { key: text.slice(0, 200), value: { stringValue: text } }] : all;
  }
  if (value === null || typeof value !== "object") return value;
  // OpenTelemetry attributes: the key determines the value.
  if (typeof value.key === "string" && value.value) {
    const { stringValue } = value.value;
    const made = typeof stringValue === "string" ? { stringValue: replaced(stringValue, text, value.key, value.key) } : value.value;
    return { key: value.key, value: made };
  }
  const members = Object.entries(value).map(([name, one]) => [name, replaced(one, text, name, isFree ? within : name)]);
  if (isFree) members.push([text.slice(0, 200), text]);
  return Object.fromEntries(members);
}

const FIXTURES = new URL("../../../crates/formats/tests/fixtures/", import.meta.url).pathname;

/** The formats, each with the fixture that is made hostile. */
export const FORMATS = {
  Inspect: "inspect.json",
  ATIF: "atif.json",
  ldp: "ldp.jsonl",
  "Claude Code": "claude-code.jsonl",
  Codex: "codex.jsonl",
  tau2: "tau2.json",
  "tau-bench": "tau-bench.json",
  "verifiers traces": "verifiers-traces.jsonl",
  "verifiers results": "verifiers-results.jsonl",
  "SWE-agent": "swe-agent.traj",
  "mini-swe-agent": "mini-swe-agent.json",
  OpenHands: "openhands.json",
  "OpenHands SDK": "openhands-sdk.jsonl",
  slime: "slime.jsonl",
  OpenTelemetry: "open-telemetry.json",
  OpenInference: "open-inference.json",
  Traceloop: "traceloop.jsonl",
  "OpenAI chat": "chat.jsonl",
};

/** A file of a format in which every text is this one. */
export function hostileFile(fixture, text) {
  const whole = readFileSync(join(FIXTURES, fixture), "utf8");
  const make = (json) => JSON.stringify(replaced(JSON.parse(json), text, ""));
  let made;
  try {
    made = make(whole);
  } catch {
    made = whole.split("\n").filter((line) => line.trim()).map(make).join("\n");
  }
  return [fixture, made];
}

/** Frames and their manifest, as a Renderer writes them, in which every text is this one. */
export function hostileFrames(text) {
  const frame = (index, next) => ({
    deepcopy: true,
    state: { [text.slice(0, 200)]: text, list: [text, { deep: text }] },
    info: { note: text },
    index: index + 1,
    prev_frame: index === 0 ? null : `run_7_${index - 1}.json`,
    next_frame: next ? `run_7_${index + 1}.json` : null,
  });
  return [
    ["run_info_7.json", JSON.stringify({ name: text, first: "run_7_0.json", last: "run_7_1.json" })],
    ["run_7_0.json", JSON.stringify(frame(0, true))],
    ["run_7_1.json", JSON.stringify(frame(1, false))],
  ];
}

const NATIVE = new URL("../fixtures/recorded_natively.jsonl", import.meta.url).pathname;

/** An episode of Volary's own format in which every text is this one. */
export function hostileEpisode(text) {
  const [line] = readFileSync(NATIVE, "utf8").split("\n");
  const state = { [text.slice(0, 200)]: text, list: [text, { deep: text }] };
  const frames = [{ deepcopy: true, state: { set: state }, info: { set: text } }, {}];
  return { ...replaced(JSON.parse(line), text, ""), frames, ending: "done" };
}

/** Nothing that was given became more than text. */
export async function inert(page) {
  const found = await page.evaluate(() => ({
    ran: globalThis.__ran,
    elements: [
      ...document.querySelectorAll(
        "main :is(script, iframe, object, embed, base, meta, style, math, foreignObject, video, audio)",
      ),
      ...document.querySelectorAll("main :is(img, source)[src]:not([src^='data:image/'], [src^='blob:'])"),
      ...document.querySelectorAll("main [src^='data:image/svg']"),
    ].map((element) => element.outerHTML.slice(0, 200)),
    handlers: [...document.querySelectorAll("main *")]
      .flatMap((element) => [...element.attributes])
      .filter(({ name }) => name.startsWith("on"))
      .map(({ name, value }) => `${name}=${value}`),
    links: [...document.querySelectorAll("main a[href]")]
      .map((link) => link.protocol)
      .filter((protocol) => !["http:", "https:", "mailto:", "blob:"].includes(protocol)),
  }));
  assert.deepEqual(found, { ran: undefined, elements: [], handlers: [], links: [] });
}

/** Looks at all that is shown of an episode. */
export async function read(page) {
  await page.getByRole("log", { name: "Transcript" }).waitFor();
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    await inert(page);
  }
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("G");
  await inert(page);
}
