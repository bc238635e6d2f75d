// Runs the checks: `node run.mjs` proves that they state what Node itself does; `node run.mjs --ours` runs
// them against our JavaScript in a bare realm (a fresh V8 context has, like QuickJS, only the language),
// where `haft:ops` is `ops.mjs`. `node run.mjs --engine PATH` runs them in the real engine, where PATH is the
// host's program. `--only NAME` picks one file, `--verbose` names each check before it runs.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";
import { engineRealm } from "./engine.mjs";
import { nodeOps } from "./ops.mjs";
import { startServer } from "./server.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const js = path.join(here, "../../js");
const ours = process.argv.includes("--ours");
const engine = process.argv.includes("--engine") ? process.argv[process.argv.indexOf("--engine") + 1] : null;
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : null;

if (ours && !vm.SourceTextModule) {
  const flags = [
    "--experimental-vm-modules",
    "--no-warnings",
    fileURLToPath(import.meta.url),
    ...process.argv.slice(2),
  ];
  process.exit(spawnSync(process.execPath, flags, { stdio: "inherit" }).status ?? 1);
}

// Values of the outer realm made anew inside: what the engine hands over is always of the realm that asked.
const REBUILD = `(() => {
  const kind = (v) => Object.prototype.toString.call(v).slice(8, -1);
  function inside(v) {
    if (v === null || typeof v !== "object") return v;
    if (kind(v) === "ArrayBuffer") { const b = new ArrayBuffer(v.byteLength); new Uint8Array(b).set(new Uint8Array(v)); return b; }
    if (kind(v) === "Promise") return new Promise((done, fail) => v.then((x) => done(inside(x)), (e) => fail(insideError(e))));
    if (Array.isArray(v)) return v.map(inside);
    const out = {};
    for (const key of Object.keys(v)) out[key] = inside(v[key]);
    return out;
  }
  function insideError(e) {
    const Kind = { TypeError, RangeError, SyntaxError }[e.name] ?? Error;
    const out = new Kind(e.message);
    for (const key of Object.keys(e)) out[key] = e[key];
    if (e.code) out.code = e.code;
    return out;
  }
  return (op, args) => { try { return inside(op(...args)); } catch (e) { throw insideError(e); } };
})()`;

const checks = fs
  .readdirSync(path.join(here, "checks"))
  .filter((f) => f.endsWith(".mjs") && (!only || only.split(",").includes(f.slice(0, -4))))
  .sort();
// The checks of `fetch` and `http` find their server here.
process.env.SHIMS_SERVER = await startServer();
const realm = engine
  ? engineRealm(engine)
  : ours
    ? ourRealm()
    : { load: (file) => import(pathToFileURL(file)) };
let passed = 0;
const failed = [];
for (const name of checks) {
  if (!ours && !engine && name.startsWith("bun") && typeof Bun === "undefined") continue;
  const list = (await realm.load(path.join(here, "checks", name))).default;
  for (const [what, run] of list) {
    if (process.argv.includes("--verbose")) console.log(`${name}: ${what}`);
    try {
      await Promise.race([
        run(),
        new Promise((_, fail) => setTimeout(fail, 10_000, new Error("took more than ten seconds")).unref()),
      ]);
      passed += 1;
    } catch (error) {
      failed.push(
        `${name}: ${what}\n    ${String(error?.stack ?? error)
          .split("\n")
          .slice(0, 6)
          .join("\n    ")}`,
      );
    }
  }
}
for (const line of failed) console.log(`FAIL ${line}`);
console.log(`${passed} passed, ${failed.length} failed (${engine ? "engine" : ours ? "ours" : "node"})`);
process.exit(failed.length ? 1 : 0);

// A realm with nothing but the language and our modules.
function ourRealm() {
  const context = vm.createContext({ __proto__: null });
  const modules = new Map();
  // QuickJS-ng's language is newer than that of Node 20, and it has no Intl.
  vm.runInContext(
    `
    delete globalThis.Intl;
    Promise.withResolvers ??= function () { let all; const promise = new this((resolve, reject) => (all = { resolve, reject })); return { promise, ...all }; };
    Array.fromAsync ??= async function (source) { const out = []; for await (const item of source) out.push(item); return out; };
  `,
    context,
  );
  const rebuild = vm.runInContext(REBUILD, context);
  const made = (name, source) => {
    if (!modules.has(name)) {
      modules.set(
        name,
        new vm.SourceTextModule(source, {
          context,
          identifier: name,
          initializeImportMeta: (meta) => void (meta.url = pathToFileURL(name).href),
        }),
      );
    }
    return modules.get(name);
  };
  const locate = (specifier, from) => {
    if (specifier === "haft:ops") return specifier;
    if (specifier.startsWith("haft:")) return path.join(js, `${specifier.slice(5)}.js`);
    if (specifier === "bun") return path.join(js, "bun/index.js");
    if (specifier.startsWith(".")) return path.join(path.dirname(from), specifier);
    return path.join(js, "node", `${specifier.replace(/^node:/, "")}.js`);
  };
  const moduleAt = (file) =>
    modules.has(file) ? modules.get(file) : made(file, fs.readFileSync(file, "utf8"));
  // Linking in V8 wants a promise, so everything of ours is linked ahead; evaluating stays lazy.
  const link = (specifier, from) => moduleAt(locate(specifier, from.identifier));

  const evaluated = (module) => {
    module.evaluate();
    if (module.status === "errored") throw module.error;
    return module.namespace;
  };
  const internal = (name) => evaluated(moduleAt(locate(`haft:${name}`)));
  const raw = nodeOps({
    internal: null,
    files: {
      resolve: (specifier, from) => resolveFor(specifier, from),
      compileFunction: (source, file, params) =>
        vm.compileFunction(source, params, { filename: file, parsingContext: context }),
      importFile: (file) => evaluated(moduleAt(file)),
    },
  });
  const direct = new Set(["compileFunction", "importFile"]);
  const wrapped = { internal };
  for (const [name, op] of Object.entries(raw)) {
    if (name === "internal" || typeof op !== "function") continue;
    wrapped[name] = direct.has(name) ? op : (...args) => rebuild(op, args);
  }
  const opsModule = new vm.SyntheticModule(
    ["default", ...Object.keys(wrapped)],
    function () {
      for (const [name, op] of Object.entries(wrapped)) this.setExport(name, op);
      this.setExport("default", wrapped);
    },
    { context, identifier: "haft:ops" },
  );
  modules.set("haft:ops", opsModule);

  const ready = (async () => {
    for (const file of fs
      .readdirSync(js, { recursive: true })
      .filter((f) => /^(node|web|bun)\/.*\.js$/.test(f))) {
      const module = moduleAt(path.join(js, file));
      if (module.status === "unlinked") await module.link(link);
    }
    internal("web/globals").install();
  })();
  const builtin = (name) => fs.existsSync(path.join(js, "node", `${name}.js`)) && !name.includes("parts");
  function resolveFor(specifier, from) {
    const name = specifier.replace(/^node:/, "");
    if (builtin(name)) return { kind: "internal", name: `node/${name}` };
    const file = path.resolve(path.dirname(from), specifier);
    const found = [file, `${file}.js`, `${file}.json`, path.join(file, "index.js")].find(
      (f) => fs.existsSync(f) && fs.statSync(f).isFile(),
    );
    if (!found)
      throw Object.assign(new Error(`Cannot find module '${specifier}'`), { code: "MODULE_NOT_FOUND" });
    return {
      kind: "file",
      path: found,
      format: found.endsWith(".json") ? "json" : found.endsWith(".mjs") ? "module" : "commonjs",
    };
  }
  return {
    async load(file) {
      await ready;
      const module = moduleAt(file);
      await module.link(link);
      await module.evaluate();
      return module.namespace;
    },
  };
}
