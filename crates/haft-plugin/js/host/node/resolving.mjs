// What a specifier stands for where Node finds nothing: files whose extension is left out or is the one
// TypeScript writes, and the packages that haft brings along. Bun and the embedded engine resolve so. This
// runs beside the host and in Node's own thread for it, so it asks nobody anything.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".cjs", ".cts", ".json"];
const WRITTEN_FOR = {
  ".js": [".ts", ".tsx", ".mts", ".cts"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
  ".jsx": [".tsx"],
};

/** Packages of npm that haft has its own version of, for files that have none installed. */
export const OURS = {
  "@opencode-ai/plugin": "haft:plugin/index",
  "@opencode-ai/plugin/tool": "haft:plugin/tool",
  zod: "haft:zod/index",
  "zod/v4": "haft:zod/index",
};

/** `haft:for:` and `{ name, file }`: what a name means to another file. */
export const FOR = "haft:for:";

/** What only haft's own modules may import. */
export function resolveOwn(specifier, parent) {
  const isOurs = parent === undefined || parent.startsWith("haft:") || /\/\[eval\d*\]$/.test(parent);
  const url = isOurs && parent?.startsWith("haft:") ? (OURS[specifier] ?? specifier) : specifier;
  if (/^bun(:|$)/.test(specifier)) throw lacking(specifier, parent);
  if (!url.startsWith("haft:")) return undefined;
  if (isOurs && url.startsWith(FOR))
    return { instead: JSON.parse(decodeURIComponent(url.slice(FOR.length))) };
  if (isOurs) return { url, format: "module", shortCircuit: true };
  const fix = "import Node's modules, `zod` or `@opencode-ai/plugin` instead";
  throw missing(specifier, parent, `\`${specifier}\` is internal to haft and cannot be imported`, fix);
}

/** What a specifier means after all, when Node has given up. */
export function resolveElse(specifier, parent, error) {
  const file = asPath(specifier, parent);
  if (file !== undefined) {
    const found = probe(file);
    if (found !== undefined) return { url: pathToFileURL(fs.realpathSync(found)).href, shortCircuit: true };
    if (fs.existsSync(file) && !fs.statSync(file).isDirectory()) throw error;
    const name = specifier.startsWith("file:") ? file : specifier;
    throw missing(name, parent, `there is no file \`${name}\``);
  }
  if (OURS[specifier] !== undefined) return { url: OURS[specifier], format: "module", shortCircuit: true };
  if (specifier.startsWith("node:")) throw lacking(specifier, parent);
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  throw missing(specifier, parent, `the package \`${name}\` is not installed`);
}

function lacking(specifier, parent) {
  return Object.assign(missing(specifier, parent, `this engine has no \`${specifier}\``), {
    code: "ERR_UNSUPPORTED_MODULE",
  });
}

function missing(specifier, parent, message, fix) {
  const importer = parent?.startsWith("file:") && !parent.endsWith("]") ? fileURLToPath(parent) : undefined;
  const words = importer === undefined ? message : `${message} (imported by ${importer})`;
  return Object.assign(new Error(words), {
    code: "ERR_MODULE_NOT_FOUND",
    module: specifier,
    file: importer,
    fix,
  });
}

/** A specifier that is a path, made absolute. */
function asPath(specifier, parent) {
  if (!/^(\.{0,2}\/|\.{1,2}$|file:)/.test(specifier)) return undefined;
  try {
    return fileURLToPath(new URL(specifier, parent));
  } catch {
    return undefined;
  }
}

function probe(file) {
  const extension = path.extname(file);
  const bare = file.slice(0, file.length - extension.length);
  const candidates = (WRITTEN_FOR[extension] ?? []).map((other) => bare + other);
  for (const other of EXTENSIONS) candidates.push(file + other);
  for (const other of EXTENSIONS) candidates.push(path.join(file, `index${other}`));
  return candidates.find((candidate) => fs.statSync(candidate, { throwIfNoEntry: false })?.isFile());
}
