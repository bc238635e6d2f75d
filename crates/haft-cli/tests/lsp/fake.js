// A language server that does what its arguments tell it to, right or wrong. It writes down what it is sent.
const fs = require("fs");
const modes = new Set(process.argv.slice(2));
const log = (line) => { try { fs.appendFileSync("heard.log", line + "\n"); } catch {} };
const on = (mode) => modes.has(mode);
const once = (name) => { try { fs.writeFileSync(name, "", { flag: "wx" }); return true; } catch { return false; } };
const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
};
const reply = (id, result) => send({ id, result });

if (on("usage")) { console.log("usage: fake [options]\n\n\r\n\r\n"); setInterval(() => {}, 1000); }
if (on("dies")) { console.error("starting up\nerror: no licence\n    at start (x.js:1)"); process.exit(3); }
if (on("proxy")) { console.error("error: Unknown binary 'rust-analyzer' in official toolchain 'x'."); process.exit(1); }
if (on("writes")) { try { fs.writeFileSync("written.txt", "x"); } catch { log("could not write"); } }

// A line that says "bad" is an error, one that says "poor" a warning.
const problems = (text) => text.split("\n").flatMap((line, at) => {
  const kind = line.includes("bad") ? 1 : line.includes("poor") ? 2 : 0;
  const range = { start: { line: at, character: 0 }, end: { line: at, character: line.length } };
  return kind ? [{ range, severity: kind, message: `this line is ${kind === 1 ? "bad" : "poor"}: ${line}` }] : [];
});

let asked = 0;
const waiting = new Map();
const ask = (method, params) => new Promise((resolve) => {
  const id = `fake-${++asked}`;
  waiting.set(id, resolve);
  send({ id, method, params });
});

let last = null;
const texts = new Map();
const publish = (uri, version, text) =>
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics: problems(text) } });
const shallow = (text) => text.replace(/^.*deep.*$/gm, "");

// Findings without versions, in every order.
const speak = (uri, text, before) => {
  if (on("at-once")) return publish(uri, undefined, text);
  if (on("once")) return setTimeout(() => publish(uri, undefined, text), 10);
  if (on("behind")) {
    // What is left of the text before, and what it finds in this one long after it has read on.
    if (before !== undefined) publish(uri, undefined, before);
    after = () => setTimeout(() => publish(uri, undefined, text), before === undefined ? 0 : 300);
    return;
  }
  // What is quick to find, and all of it later: the first time only when it is told to.
  const again = () => {
    if (texts.get(uri) !== text) return;
    if (!fs.existsSync("go")) return setTimeout(again, 5);
    publish(uri, undefined, text);
    log("spoke again");
  };
  setTimeout(() => { publish(uri, undefined, shallow(text)); setTimeout(again, 150); }, 10);
};
let after = () => {};

// At first it is reading the project, and finds nothing. It says so at once and is done by itself; or it begins, and says
// so, when it is asked for the first time.
let isReading = on("reading") || on("reads-when-asked");
const status = () => send({ method: "experimental/serverStatus", params: { health: "ok", quiescent: !isReading } });
const read = () => { if (isReading) setTimeout(() => { isReading = false; status(); }, 50); };

const changed = (uri, version, text) => {
  const before = texts.get(uri);
  texts.set(uri, text);
  if (on("at-once") || on("once") || on("behind") || on("again")) return speak(uri, text, before);
  if (on("reading") || on("reads-when-asked")) publish(uri, version, "");
  if (on("pull") || on("finds-nothing")) return;
  if (on("dies-at-changes")) process.exit(9);
  if (on("tsserver")) {
    // What is left of the last version, long before it answers what it is asked.
    publish(uri, undefined, "bad and old");
    return;
  }
  if (on("no-versions")) {
    // First what is quick to find, then all of it; and nothing where nothing is new.
    const found = JSON.stringify(problems(text));
    if (found === "[]" && last === "[]") return;
    last = found;
    process.stdout.cork();
    publish(uri, undefined, "");
    publish(uri, undefined, text);
    process.stdout.uncork();
    return;
  }
  if (on("stale") && version > 1) publish(uri, version - 1, "bad and old");
  setTimeout(() => publish(uri, version, text), on("slow") ? 2000 : 10);
};

const handle = async ({ id, method, params, result }) => {
  if (method === undefined) return waiting.get(id)?.(result);
  log(method);
  switch (method) {
    case "initialize":
      if (on("never-ready")) return;
      if (on("refuses")) return send({ id, error: { code: -32603, message: "this project is not for me" } });
      if (params.processId !== null) process.exit(1);
      return reply(id, { capabilities: {
        positionEncoding: on("bytes") ? "utf-8" : undefined,
        textDocumentSync: { openClose: true, change: 1, save: true },
        hoverProvider: true, definitionProvider: true, referencesProvider: true, documentSymbolProvider: true,
        executeCommandProvider: { commands: on("tsserver") || on("no-tsserver") ? ["typescript.tsserverRequest"] : [] },
        callHierarchyProvider: true, diagnosticProvider: on("pull") || on("no-pull") ? {} : undefined } });
    case "shutdown":
      if (on("stays")) return;
      return reply(id, null);
    case "exit":
      return process.exit(0);
    case "textDocument/didOpen":
      if (on("deaf")) { isDeaf = true; process.stdin.pause(); setInterval(() => {}, 1000); return; }
      return changed(params.textDocument.uri, params.textDocument.version, params.textDocument.text);
    case "textDocument/didChange":
      return changed(params.textDocument.uri, params.textDocument.version, params.contentChanges[0].text);
    case "initialized":
      if (on("reading")) { status(); read(); }
      return;
    case "textDocument/diagnostic":
      if (on("no-pull")) return send({ id, error: { code: -32601, message: "method not found" } });
      if (isReading) { status(); reply(id, { kind: "full", items: [] }); return read(); }
      return reply(id, { kind: "full", items: problems(texts.get(params.textDocument.uri)) });
    case "workspace/executeCommand": {
      if (on("no-tsserver")) return send({ id, error: { code: 1, message: "No content available." } });
      const [question, { file }] = params.arguments;
      const place = ({ line, character }) => ({ line: line + 1, offset: character + 1 });
      const body = question !== "semanticDiagnosticsSync" ? [] : problems(texts.get(file)).map((found) => ({
        start: place(found.range.start), end: place(found.range.end), text: found.message, code: 1,
        category: found.severity === 1 ? "error" : "warning" }));
      return setTimeout(() => reply(id, { type: "response", success: true, body }), 600);
    }
    case "textDocument/hover":
      if (on("mute")) return;
      // It reads everything anew whenever it is asked.
      if (on("rereads")) isReading = true;
      if (isReading) { status(); reply(id, null); return read(); }
      if (on("dies-when-asked")) process.exit(7);
      if (on("dies-once") && once("died")) process.exit(7);
      if (on("undecided") && once("decided")) return send({ id, error: { code: -32801, message: "content modified" } });
      if (on("complains")) return send({ id, error: { code: -32603, message: "cannot \u001b[31mdo that" } });
      if (on("asks")) {
        const configured = await ask("workspace/configuration", { items: [{ section: "a.b" }, { section: "c" }] });
        await ask("client/registerCapability", { registrations: [] });
        await ask("window/workDoneProgress/create", { token: 1 });
        const folders = await ask("workspace/workspaceFolders", null);
        return reply(id, { contents: { configured, folders } });
      }
      return reply(id, { contents: JSON.stringify(params.position) });
    case "textDocument/references": {
      const place = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
      const root = params.textDocument.uri.replace(/[^/]*$/, "");
      return reply(id, ["open.fake", "secret.fake"].map((name) => ({ uri: root + name, range: place })));
    }
    case "textDocument/documentSymbol":
      return reply(id, null);
    case "textDocument/definition":
      return reply(id, { contents: texts.get(params.textDocument.uri) });
    case "$/haft/fence":
      if (on("no-fence")) return;
      send({ id, error: { code: -32601, message: "method not found" } });
      after();
      return void (after = () => {});
    default:
      if (id !== undefined) send({ id, error: { code: -32601, message: "method not found" } });
  }
};

let isDeaf = false;
let heard = Buffer.alloc(0);
process.stdin.on("data", (data) => {
  heard = Buffer.concat([heard, data]);
  while (!isDeaf) {
    const end = heard.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: *(\d+)/i.exec(heard.subarray(0, end).toString())[1]);
    if (heard.length < end + 4 + length) return;
    const message = JSON.parse(heard.subarray(end + 4, end + 4 + length).toString());
    heard = heard.subarray(end + 4 + length);
    handle(message);
  }
});
process.stdin.on("end", () => process.exit(0));
