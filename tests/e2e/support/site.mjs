// Another site: a server on its own origin.

import { createServer } from "node:http";

/** A site; `answer` is called with the path and the response of each request. */
export async function site(answer) {
  const server = createServer((request, response) => answer(new URL(request.url, "http://x").pathname, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}
