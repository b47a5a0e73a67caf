// Serves a directory of static files on this machine, with the page's content security policy as a
// header (workers get it only from there).
//   node tools/serve.mjs [DIRECTORY] [--port N]
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const args = process.argv.slice(2);
const portAt = args.indexOf("--port");
const port = portAt >= 0 ? Number(args.splice(portAt, 2)[1]) : 8008;
const root = path.resolve(args[0] ?? path.join(web, "dist"));
const policy = /Content-Security-Policy" content="([^"]+)"/.exec(fs.readFileSync(path.join(root, "index.html"), "utf8"))[1];
const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml",
  ".woff2": "font/woff2", ".zip": "application/zip", ".whl": "application/zip", ".py": "text/x-python; charset=utf-8", ".txt": "text/plain; charset=utf-8",
};

const server = http.createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  let file = path.join(root, decodeURIComponent(url.pathname));
  if (url.pathname.endsWith("/")) file = path.join(file, "index.html");
  if (!file.startsWith(root + path.sep) || !fs.existsSync(file) || !fs.statSync(file).isFile()) {
    response.writeHead(404, { "Content-Type": "text/plain" }).end("not found\n");
    return;
  }
  const { size, mtimeMs } = fs.statSync(file);
  const tag = `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`;
  const headers = {
    "Content-Type": types[path.extname(file)] ?? "application/octet-stream", "Cache-Control": "no-cache", ETag: tag,
    "Content-Security-Policy": policy + "; frame-ancestors 'self'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
  };
  if (request.headers["if-none-match"] === tag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, "Content-Length": size });
  if (request.method === "HEAD") response.end();
  // A page of many small modules waits for each: one write is sooner there than a stream.
  else if (size < 1e6) response.end(fs.readFileSync(file));
  else fs.createReadStream(file).pipe(response);
});
server.listen(port, "127.0.0.1", () => {
  console.log(`http://localhost:${server.address().port}/`);
});
