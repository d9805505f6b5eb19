// The relay: the only script of the sandboxed frame (python.html). It starts the workers in which Python runs, and
// passes one bounded answer from a worker to the page for each question from the page to a worker.
//
// What always holds:
// - It does nothing in a document whose origin is not opaque: code that runs there could read the page's storage.
// - It takes its files from the page that it belongs to, and from no other page that frames it.
// - No foreign code runs here, so the relay always reacts: the page can end a worker at once.
// - The frame's policy names no address. The files arrive as bytes from the page, once.
// - A worker runs the code of one source. What one source does to its interpreter, no other source sees.
// - A worker's message reaches the page only if it is an answer of two texts, within the limit, to an open question
//   about its source.
'use strict';

// An opaque origin is called "null".
if (self.origin === 'null') relay();

function relay() {
  /** The longest text that a worker may answer, in UTF-16 units. */
  const LONGEST_ANSWER = 8 << 20;

  const blob = (text) => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
  const starter = blob('onmessage = (event) => import(event.data.boot).then((boot) => boot.default(event.data));');

  let port;
  /** What every worker is given; `undefined` while it is being prepared. */
  let kit;
  /** Messages of the page that came before the kit. */
  const early = [];
  /** The worker of each source; the page bounds their number. */
  const workers = new Map();
  /** The warm worker for the next source. */
  let spare;

  /** Starts a worker. It says `ready` once Python runs in it; questions wait until then. */
  function start() {
    const state = {source: undefined, open: new Set(), queue: [], isReady: false, worker: new Worker(starter)};
    state.worker.onmessage = ({data}) => hear(state, data);
    state.worker.onerror = (event) => fail(state, String(event.message || 'The worker could not be started.').slice(0, 2000));
    state.worker.postMessage(kit);
    return state;
  }

  function hear(state, data) {
    if (typeof data !== 'object' || data === null) return;
    if (!state.isReady) {
      // No code of a source has run in it yet.
      if (data.ready === true) {
        state.isReady = true;
        port.postMessage({ready: true});
        for (const question of state.queue.splice(0)) pass(state, question);
      } else if (data.failed !== undefined) fail(state, String(data.failed).slice(0, 2000));
      else if (typeof data.stage === 'string') port.postMessage({stage: data.stage.slice(0, 40)});
      return;
    }
    if (!state.open.delete(data.id)) return;
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

  /** Passes a question to a worker in which Python runs. Its time limit begins. */
  function pass(state, {id, question}) {
    state.open.add(id);
    state.worker.postMessage({id, question});
    port.postMessage({received: id});
  }

  /** A worker could not be started, or broke down. */
  function fail(state, reason) {
    state.worker.terminate();
    if (state === spare) spare = undefined;
    if (state.source !== undefined) workers.delete(state.source);
    const isOnly = ![...workers.values(), ...(spare ? [spare] : [])].some((other) => other.isReady);
    // If none can be started, the files may be damaged.
    if (!state.isReady && isOnly) port.postMessage({failed: reason});
    else if (state.source !== undefined) port.postMessage({ended: state.source, reason});
  }

  function ask({source, id, question}) {
    let state = workers.get(source);
    if (!state) {
      state = spare ?? start();
      spare = undefined;
      state.source = source;
      workers.set(source, state);
    }
    if (state.isReady) pass(state, {id, question});
    else state.queue.push({id, question});
  }

  /** Ends the worker of a source, whatever it does. */
  function end(source) {
    const state = workers.get(source);
    if (!state) return;
    workers.delete(source);
    if (state.isReady || spare) {
      state.worker.terminate();
      spare ??= start();
    } else {
      // It is still starting, and has run no code of this source.
      state.source = undefined;
      state.queue = [];
      spare = state;
    }
  }

  function obey(data) {
    if (!kit) early.push(data);
    else if (typeof data.end === 'string') end(data.end);
    else if (typeof data.question === 'string' && typeof data.source === 'string') ask(data);
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
    spare = start();
    early.splice(0).forEach(obey);
  }

  // The address of this document is one of the page's origin, although the document itself has an opaque one.
  const page = location.origin;
  onmessage = (event) => {
    // One message from the page, once; after that the port alone is heard.
    if (port || event.source !== parent || event.origin !== page || !event.ports[0]) return;
    port = event.ports[0];
    port.onmessage = ({data}) => obey(data);
    begin(event.data).catch((error) => port.postMessage({failed: String(error)}));
  };
  parent.postMessage('ready', page);
}
