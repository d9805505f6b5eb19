// A small MediaWiki: the two actions of its API that HotPotQA uses, with CORS for every origin.

import { createServer } from "node:http";

export class MediaWiki {
  /** @param {Record<string, string>} articles the HTML of each article, by title */
  constructor(articles) {
    this.articles = articles;
    this.requests = [];
    this.server = createServer((request, response) => this.answer(request, response));
  }

  async listen() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    this.api = `${this.origin}/w/api.php`;
  }

  close() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  answer(request, response) {
    const query = new URL(request.url, this.origin).searchParams;
    this.requests.push(request.url);
    const body = query.get("action") === "parse" ? this.parse(query.get("page")) : this.search(query.get("srsearch"));
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "access-control-allow-origin": query.get("origin") ?? "",
    });
    response.end(JSON.stringify(body));
  }

  parse(title) {
    const text = this.articles[title];
    if (text === undefined) {
      return { error: { code: "missingtitle", info: "The page you specified doesn't exist." } };
    }
    return { parse: { title, pageid: 1, text } };
  }

  search(words) {
    const found = Object.entries(this.articles).filter(([title, text]) => `${title} ${text}`.includes(words));
    return { query: { search: found.map(([title, text]) => ({ ns: 0, title, snippet: text, size: text.length, wordcount: 1 })) } };
  }
}
