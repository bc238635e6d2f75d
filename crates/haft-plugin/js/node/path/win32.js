// `path/win32`: Windows paths, for libraries that treat both kinds whatever the system.
import { cwd } from "haft:ops";
import { mustBeString } from "haft:node/parts/errors";

export const sep = "\\";
export const delimiter = ";";

// The root of a path: a drive (`C:`), a share (`\\server\share`), each with or without the slash after it.
function split(path) {
  const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
  const device = share ? `\\\\${share[1]}\\${share[2]}` : (/^[a-zA-Z]:/.exec(path)?.[0] ?? "");
  const taken = share ? share[0].length : device.length;
  const slash = /^[\\/]+/.exec(path.slice(taken))?.[0] ?? "";
  return {
    device,
    absolute: slash !== "" || Boolean(share),
    given: path.slice(0, taken + slash.length),
    tail: path.slice(taken + slash.length),
  };
}

function settle(tail, absolute) {
  const out = [];
  for (const name of tail.split(/[\\/]/)) {
    if (name === "" || name === ".") continue;
    if (name !== "..") out.push(name);
    else if (out.length && out.at(-1) !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  return out.join("\\");
}

export const isAbsolute = (path) => /^[\\/]|^[a-zA-Z]:[\\/]/.test(mustBeString("path", path));

export function normalize(path) {
  if (mustBeString("path", path) === "") return ".";
  const { device, absolute, tail } = split(path);
  let out = settle(tail, absolute);
  if (out === "" && !absolute) out = ".";
  if (out !== "" && /[\\/]$/.test(path) && tail !== "") out += "\\";
  return `${device}${absolute ? "\\" : ""}${out}`;
}

export function join(...paths) {
  const given = paths.filter((path) => mustBeString("path", path) !== "");
  if (given.length === 0) return ".";
  // Joining may not make a share out of two plain parts.
  const whole = given.join("\\");
  return normalize(/^[\\/]{2}[^\\/]/.test(given[0]) ? whole : whole.replace(/^[\\/]{2,}/, "\\"));
}

export function resolve(...paths) {
  let [device, tail, absolute] = ["", "", false];
  for (const path of [cwd(), ...paths].reverse()) {
    if (mustBeString("path", path) === "") continue;
    const part = split(path);
    if (part.device && device && part.device.toLowerCase() !== device.toLowerCase()) continue;
    device ||= part.device;
    if (!absolute) {
      tail = `${part.tail}\\${tail}`;
      absolute = part.absolute;
    }
    if (absolute && device) break;
  }
  return `${device}${absolute ? "\\" : ""}${settle(tail, absolute)}` || ".";
}

export function relative(from, to) {
  const [a, b] = [resolve(from), resolve(to)];
  if (a.toLowerCase() === b.toLowerCase()) return "";
  const [x, y] = [a, b].map((path) => path.split("\\").filter(Boolean));
  let same = 0;
  while (same < x.length && same < y.length && x[same].toLowerCase() === y[same].toLowerCase()) same += 1;
  if (same === 0) return b;
  return [...Array(x.length - same).fill(".."), ...y.slice(same)].join("\\");
}

const bare = (path) => path.replace(/[\\/]+$/, "");

export function dirname(path) {
  const { given, tail } = split(mustBeString("path", path));
  const at = bare(tail).search(/[\\/][^\\/]*$/);
  return at < 0 ? given || "." : given + tail.slice(0, at);
}

export function basename(path, suffix = "") {
  const name = bare(split(mustBeString("path", path)).tail)
    .split(/[\\/]/)
    .at(-1);
  return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path) {
  const name = basename(path);
  const at = name.lastIndexOf(".");
  return at <= 0 || name === ".." ? "" : name.slice(at);
}

export function parse(path) {
  const { given } = split(mustBeString("path", path));
  const base = basename(path);
  const ext = extname(base);
  const dir = dirname(path);
  return {
    root: given,
    dir: dir === "." && !/^\.[\\/]/.test(path) ? "" : dir,
    base,
    ext,
    name: ext ? base.slice(0, -ext.length) : base,
  };
}

export function format({ root, dir, base, name = "", ext = "" }) {
  const file = base || `${name}${ext && ext[0] !== "." ? "." : ""}${ext}`;
  const folder = dir || root;
  if (!folder) return file;
  return folder === root ? `${folder}${file}` : `${folder}\\${file}`;
}

export const toNamespacedPath = (path) => path;
const win32 = {
  basename,
  delimiter,
  dirname,
  extname,
  format,
  isAbsolute,
  join,
  normalize,
  parse,
  relative,
  resolve,
  sep,
  toNamespacedPath,
};
win32.win32 = win32;
export default win32;
