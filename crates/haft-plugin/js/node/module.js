// `module`: `createRequire`, and with it CommonJS files. The engine resolves and compiles; the cache and the
// wrapper are here.
import * as ops from "haft:ops";
import { coded } from "haft:node/parts/errors";
import { dirname } from "haft:node/path";
import { fileURLToPath } from "haft:node/url";

export const builtinModules = [
  "assert",
  "assert/strict",
  "async_hooks",
  "buffer",
  "child_process",
  "console",
  "constants",
  "crypto",
  "diagnostics_channel",
  "events",
  "fs",
  "fs/promises",
  "http",
  "https",
  "module",
  "os",
  "path",
  "path/posix",
  "path/win32",
  "perf_hooks",
  "process",
  "querystring",
  "readline",
  "readline/promises",
  "stream",
  "stream/consumers",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "sys",
  "timers",
  "timers/promises",
  "tty",
  "url",
  "util",
  "util/types",
];
export const isBuiltin = (name) => builtinModules.includes(name.replace(/^node:/, ""));
export const builtin = (name) =>
  isBuiltin(name) ? valueOf(ops.internal(`node/${name.replace(/^node:/, "")}`)) : undefined;

const cache = Object.create(null);
// What `require` gives for a module of ours: its default, which has every export on it.
const valueOf = (namespace) => namespace.default ?? namespace;

export class Module {
  exports = {};
  loaded = false;
  children = [];
  constructor(id, parent) {
    this.id = this.filename = id;
    this.path = dirname(id);
    this.parent = parent;
    this.require = requireFrom(id, this);
  }
  static get _cache() {
    return cache;
  }
}

function load(path, format, parent) {
  if (cache[path]) return cache[path].exports;
  if (format === "module") return ops.importFile(path);
  const module = new Module(path, parent);
  cache[path] = module;
  try {
    const source = ops.decode("utf-8", new Uint8Array(ops.readFile(path)), {});
    if (format === "json") module.exports = parseJson(source, path);
    else {
      const run = ops.compileFunction(source.replace(/^#!.*/, ""), path, [
        "exports",
        "require",
        "module",
        "__filename",
        "__dirname",
      ]);
      run.call(module.exports, module.exports, module.require, module, path, module.path);
    }
    module.loaded = true;
  } catch (error) {
    delete cache[path];
    throw error;
  }
  return module.exports;
}

function parseJson(source, path) {
  try {
    return JSON.parse(source);
  } catch (error) {
    error.message = `${path}: ${error.message}`;
    throw error;
  }
}

function requireFrom(file, parent) {
  const find = (specifier) => {
    if (typeof specifier !== "string" || specifier === "") {
      throw coded(
        TypeError,
        "ERR_INVALID_ARG_VALUE",
        `The argument 'id' must be a non-empty string. Received ${specifier === "" ? "''" : typeof specifier}`,
      );
    }
    return ops.resolve(specifier, file);
  };
  const require = (specifier) => {
    const found = find(specifier);
    return found.kind === "internal"
      ? valueOf(ops.internal(found.name))
      : load(found.path, found.format, parent);
  };
  require.resolve = (specifier) => {
    const found = find(specifier);
    return found.kind === "internal" ? specifier : found.path;
  };
  require.cache = cache;
  require.main = undefined;
  require.extensions = Object.create(null);
  return require;
}

export function createRequire(from) {
  const file = typeof from === "string" && !from.startsWith("file:") ? from : fileURLToPath(from);
  if (!file.startsWith("/")) {
    throw coded(
      TypeError,
      "ERR_INVALID_ARG_VALUE",
      `The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received '${from}'`,
    );
  }
  return requireFrom(file, undefined);
}

// For the engine: a CommonJS file that an ES module imports.
export const requireFile = (path, format = "commonjs") => load(path, format, undefined);

export const register = () => {
  throw coded(Error, "ERR_UNSUPPORTED", "module.register is not offered by haft's own engine");
};
Object.assign(Module, { Module, builtinModules, createRequire, isBuiltin, register });
export default Module;
