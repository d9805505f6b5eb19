// Starts Python in a worker of the sandboxed frame, and answers questions with the functions of host.py.
//
// Pyodide's own modules are used unchanged. They expect to fetch their files, so `fetch` and
// `WebAssembly.instantiateStreaming` are replaced while Pyodide starts, and restored afterwards.

const SITE = '/lib/volary';
/** Under this name Pyodide asks for its files. No such host exists. */
const NOWHERE = 'https://nowhere.invalid/';
/** The wall clock of an environment, in milliseconds: 2026-01-01. Each question advances it by a second. */
const EPOCH = Date.UTC(2026, 0, 1);

export default async function boot(kit) {
  try {
    await start(kit);
  } catch (error) {
    postMessage({failed: String(error)});
  }
}

async function start(kit) {
  limitMemory(kit.memory);
  postMessage({stage: 'starting'});
  // Pyodide refuses classic workers, which it recognises by this function.
  self.importScripts = undefined;
  const [{loadPyodide}, {default: createPyodideModule}] = await Promise.all([import(kit.core), import(kit.asm)]);
  const py = await withFiles(kit, () => loadPyodide({
    indexURL: NOWHERE,
    packageBaseUrl: NOWHERE,
    createPyodideModule,
    env: {PYTHONHASHSEED: '0', HOME: '/home/pyodide'},
    lockFileContents: {
      info: {abi_version: '2026_0', arch: 'wasm32', platform: 'emscripten_5_0_3', python: '3.14.2'},
      packages: {},
    },
  }));
  postMessage({stage: 'unpacking'});
  py.FS.mkdirTree(SITE);
  for (const wheel of kit.wheels) py.unpackArchive(new Uint8Array(wheel), 'wheel', {extractDir: SITE});
  py.runPython(`import sys; sys.path.insert(0, ${JSON.stringify(SITE)})`);
  postMessage({stage: 'importing'});
  py.FS.writeFile(`${SITE}/volary_host.py`, kit.host);
  const host = py.pyimport('volary_host');
  const clock = determinism();
  host.use_clock(clock);
  const answer = host.answer;
  // Names of no use to an environment. The frame's policy is the wall; this is a second one.
  for (const name of ['Worker', 'caches', 'BroadcastChannel', 'WebSocketStream', 'indexedDB']) remove(name);
  let turn = Promise.resolve();
  self.onmessage = ({data: {id, question}}) => {
    // One after the other: the clock and the random numbers belong to one question at a time.
    turn = turn.then(async () => {
      const result = await answer(question);
      const [text, output] = result.toJs();
      result.destroy();
      postMessage({id, answer: text, output});
    }).catch((error) => postMessage({id, answer: JSON.stringify({status: 500, body: {detail: String(error)}}), output: ''}));
  };
  postMessage({ready: true});
}

/** Runs `act` while `fetch` and streaming compilation give the files of the kit. */
async function withFiles(kit, act) {
  const {fetch} = self;
  const {instantiateStreaming} = WebAssembly;
  self.fetch = async (url) => new Response(String(url).includes('pyodide.asm.wasm') ? new Uint8Array(0) : kit.stdlib);
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module: kit.module,
    instance: await WebAssembly.instantiate(kit.module, imports),
  });
  try {
    return await act();
  } finally {
    self.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/** Lets Python see a MemoryError where it would take more than `megabytes`. */
function limitMemory(megabytes) {
  const {grow} = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function limited(pages) {
    if (this.buffer.byteLength + pages * 65536 > megabytes * 2 ** 20) throw new RangeError('limit of memory');
    return grow.call(this, pages);
  };
}

/** Replaces the wall clock and the source of random bytes, and gives the functions that set them. */
function determinism() {
  let now = EPOCH;
  let state = 1;
  Date.now = () => now;
  const random = () => {
    // Mulberry32: short, and good enough for what an environment draws.
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  Math.random = () => random() / 2 ** 32;
  crypto.getRandomValues = (view) => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = random();
    return view;
  };
  return {
    set(seed, seconds) {
      state = (seed ^ Math.imul(seconds + 1, 0x9e3779b1)) | 0;
      now = EPOCH + 1000 * seconds;
    },
  };
}

function remove(name) {
  for (let owner = self; owner; owner = Object.getPrototypeOf(owner)) {
    try {
      delete owner[name];
    } catch {
      // A browser that does not let go of the name keeps it; the policy holds all the same.
    }
  }
}
