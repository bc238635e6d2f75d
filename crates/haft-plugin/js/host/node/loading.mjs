// How a module becomes JavaScript that Node takes: TypeScript without its types, which haft takes away, JSON
// and texts as values, ES modules that only their text shows to be such. What has to be asked is returned,
// for whoever can ask.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const TEXTS = [".txt", ".md", ".html", ".css", ".sql"];
const own = new Map();

/** The file behind a URL, if it is one. */
export function fileOf(url) {
  return url.startsWith("file:") ? fileURLToPath(url) : undefined;
}

/**
 * How a module is loaded: `{ done }`, or a question and `finish`, which makes the same of its answer. Nothing
 * where Node does as well.
 */
export function planFor(url, attributes) {
  if (url.startsWith("haft:")) return planOwn(url.slice(5));
  const file = fileOf(url);
  if (file === undefined) return undefined;
  const extension = path.extname(file);
  if ([".ts", ".mts", ".cts"].includes(extension)) return planTypeScript(file, extension);
  if (attributes?.type !== undefined) return undefined;
  if (extension === ".json")
    return { done: value(`JSON.parse(${JSON.stringify(JSON.stringify(parsed(file)))})`) };
  if (TEXTS.includes(extension)) return { done: value(JSON.stringify(text(file))) };
  if (extension === ".js" && declared(path.dirname(file)) === undefined) return planJavaScript(file);
  return undefined;
}

/** One of our own modules. Those that belong together are sent together. */
export function planOwn(name) {
  const source = () => ({ format: "module", source: own.get(name) });
  if (own.has(name)) return { done: source() };
  const finish = ({ files }) => {
    for (const [key, code] of Object.entries(files))
      own.set(key, code.replace(/from "\.\/(.+)\.js"/g, `from "haft:${key.split("/")[0]}/$1"`));
    return source();
  };
  return { op: "module", with: { name: name.split("/")[0] }, finish };
}

function planTypeScript(file, extension) {
  const source = text(file);
  const finish = ({ code, module, problem }) => {
    if (problem) throw syntaxError(file, problem);
    const isModule = extension === ".mts" || (extension === ".ts" && (module || !looksLikeCommonJs(source)));
    return isModule ? { format: "module", source: given(code) + code } : { format: "commonjs", source: code };
  };
  return { op: "strip", with: { path: file, source }, finish };
}

// Without a package that says what it is, a .js file is what its text says.
function planJavaScript(file) {
  const source = text(file);
  const asModule = () => ({ format: "module", source: given(source) + source });
  if (!looksLikeCommonJs(source)) return { done: asModule() };
  const finish = ({ module }) => (module ? asModule() : { format: "commonjs", source });
  return { op: "strip", with: { path: file, source }, finish };
}

function value(expression) {
  return { format: "module", source: `export default ${expression};` };
}

function text(file) {
  return fs.readFileSync(file, "utf8").replace(/^\ufeff/, "");
}

function parsed(file) {
  try {
    return JSON.parse(text(file));
  } catch (error) {
    throw Object.assign(new SyntaxError(`not JSON: ${error.message}`), { file });
  }
}

function syntaxError(file, { message, line, column, help }) {
  return Object.assign(new SyntaxError(message), { file, line, column, fix: help ?? undefined });
}

function looksLikeCommonJs(source) {
  return ["module.exports", "exports.", "require(", "exports["].some((words) => source.includes(words));
}

/** Names of CommonJS that Bun gives to ES modules too. They stand in the first line: lines keep numbers. */
function given(code) {
  let names = "";
  if (code.includes("require(") && !code.includes("createRequire")) {
    names +=
      'import { createRequire as haftMade } from "node:module"; const require = haftMade(import.meta.url); ';
  }
  for (const name of ["dirname", "filename"]) {
    if (code.includes(`__${name}`) && !code.includes(`__${name} =`))
      names += `const __${name} = import.meta.${name}; `;
  }
  return names;
}

/** What the package around a folder says its files are. */
function declared(folder) {
  for (let at = folder; ; at = path.dirname(at)) {
    try {
      return JSON.parse(fs.readFileSync(path.join(at, "package.json"), "utf8")).type;
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") return undefined;
    }
    if (path.dirname(at) === at || path.basename(at) === "node_modules") return undefined;
  }
}
