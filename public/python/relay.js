// The relay: the only script of the sandboxed frame (python.html). It starts the workers in which Python runs, and
// passes one bounded answer from a worker to the page for each question from the page to a worker.
//
// What always holds:
// - No foreign code runs here, so the relay always reacts: Stop ends a worker at once.
// - The frame's policy names no address. The files arrive as bytes from the page, once.
// - A worker's message reaches the page only if it is an answer of two texts, within the limit, to an open question.
'use strict';

/** The longest text that a worker may answer, in UTF-16 units. */
const LONGEST_ANSWER = 8 << 20;

const blob = (text) => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const starter = blob('onmessage = (event) => import(event.data.boot).then((boot) => boot.default(event.data));');

let port;
/** What every worker is given; `undefined` while it is being prepared. */
let kit;
/** Questions that came before the kit. */
const early = [];
/** The worker that answers, and the warm one that replaces it after Stop. */
let active;
let spare;

/** Starts a worker. It says `ready` once Python runs in it; questions wait until then. */
function start() {
  const state = {open: new Set(), queue: [], isReady: false, worker: new Worker(starter)};
  state.worker.onmessage = ({data}) => hear(state, data);
  state.worker.onerror = (event) => fail(state, String(event.message || 'The worker could not be started.'));
  state.worker.postMessage(kit);
  return state;
}

function hear(state, data) {
  if (typeof data !== 'object' || data === null) return;
  if (data.stage !== undefined) {
    if (state === active && typeof data.stage === 'string' && !state.isReady) {
      port.postMessage({stage: data.stage.slice(0, 40)});
    }
    return;
  }
  if (data.ready === true && !state.isReady) {
    state.isReady = true;
    for (const question of state.queue.splice(0)) state.worker.postMessage(question);
    if (state === active) port.postMessage({ready: true});
    return;
  }
  if (data.failed !== undefined && !state.isReady) {
    fail(state, String(data.failed).slice(0, 2000));
    return;
  }
  if (!state.open.delete(data.id) || state !== active) return;
  if (typeof data.answer !== 'string' || typeof data.output !== 'string') {
    port.postMessage({id: data.id, error: 'The worker did not answer with a text.'});
  } else if (data.answer.length + data.output.length > LONGEST_ANSWER) {
    port.postMessage({id: data.id, error: 'The answer is larger than 8 MB.'});
  } else {
    port.postMessage({id: data.id, answer: data.answer, output: data.output});
  }
  // A spare worker costs a second of processor time, so it starts only when Python has been of use.
  spare ??= start();
}

/** Python could not be started, or broke down: open questions fail, and the next question gets another worker. */
function fail(state, reason) {
  state.worker.terminate();
  if (state === spare) {
    spare = undefined;
    return;
  }
  if (state !== active) return;
  active = undefined;
  close(state, reason);
  port.postMessage({failed: reason});
}

function close(state, reason) {
  for (const id of state.open) port.postMessage({id, error: reason});
  state.open.clear();
}

/** Ends the active worker, whatever it does, and lets the spare one take over. What is posted after `stopped` is about
 *  that one. */
function stop() {
  for (const {id} of early.splice(0)) port.postMessage({id, error: 'Python was stopped.'});
  if (!kit) {
    port.postMessage({stopped: true});
    return;
  }
  if (active) {
    active.worker.terminate();
    const ended = active;
    active = undefined;
    close(ended, 'Python was stopped.');
  }
  active = spare ?? start();
  spare = undefined;
  port.postMessage({stopped: true});
  if (active.isReady) port.postMessage({ready: true});
}

function ask({id, question}) {
  if (!kit) {
    early.push({id, question});
    return;
  }
  active ??= spare ?? start();
  if (active === spare) spare = undefined;
  active.open.add(id);
  const message = {id, question};
  if (active.isReady) active.worker.postMessage(message);
  else active.queue.push(message);
}

async function begin(files) {
  const module = await WebAssembly.compile(files.wasm);
  kit = {
    boot: blob(files.boot),
    core: blob(files.core),
    asm: blob(files.asm),
    host: files.host,
    stdlib: files.stdlib,
    wheels: files.wheels,
    memory: files.memory,
    module,
  };
  active = start();
  for (const question of early.splice(0)) ask(question);
}

onmessage = (event) => {
  // One message from the page, once; after that the port alone is heard.
  if (port || event.source !== parent || !event.ports[0]) return;
  port = event.ports[0];
  port.onmessage = ({data}) => {
    if (data.stop === true) stop();
    else if (typeof data.question === 'string') ask(data);
  };
  begin(event.data).catch((error) => port.postMessage({failed: String(error)}));
};
// An opaque origin is called "null". In a document with the page's origin no code may run.
if (self.origin === 'null') parent.postMessage('ready', '*');
