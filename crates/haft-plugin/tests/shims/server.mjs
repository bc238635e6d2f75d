// A small web server for the checks: it tells what it was asked, redirects, waits, and gives bytes.
import http from "node:http";

export function startServer() {
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/redirect") return response.writeHead(302, { location: "/echo" }).end();
      if (request.url === "/none") return response.writeHead(204).end();
      if (request.url === "/wrong")
        return response.writeHead(404, { "content-type": "text/plain" }).end("not here");
      if (request.url === "/bytes") return response.end(Buffer.from([0, 255, 128]));
      if (request.url === "/cookies") return response.writeHead(200, { "set-cookie": ["a=1", "b=2"] }).end();
      if (request.url === "/slow") return void setTimeout(() => response.end("late"), 5000).unref();
      const { method, url, headers } = request;
      response.writeHead(200, { "content-type": "application/json", "x-test": "yes" });
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
    });
  });
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () => {
      server.unref();
      done(`http://127.0.0.1:${server.address().port}`);
    }),
  );
}
