// `path`: POSIX paths as Node treats them; haft's hosts are POSIX systems. `win32` is there for those who ask.
import { cwd } from "haft:ops";
import { mustBeString } from "haft:node/parts/errors";
import win32 from "haft:node/path/win32";

export const sep = "/";
export const delimiter = ":";

// Resolves `.` and `..` in a list of names; what climbs above the start stays only if the path is relative.
function settle(names, absolute) {
  const out = [];
  for (const name of names) {
    if (name === "" || name === ".") continue;
    if (name !== "..") out.push(name);
    else if (out.length && out.at(-1) !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  return out.join("/");
}

export function normalize(path) {
  if (mustBeString("path", path) === "") return ".";
  const absolute = path.startsWith("/");
  let out = settle(path.split("/"), absolute);
  if (out === "" && !absolute) out = ".";
  if (out !== "" && path.endsWith("/")) out += "/";
  return absolute ? `/${out}` : out;
}

export const isAbsolute = (path) => mustBeString("path", path).startsWith("/");

export function join(...paths) {
  const given = paths.filter((path) => mustBeString("path", path) !== "");
  return given.length ? normalize(given.join("/")) : ".";
}

export function resolve(...paths) {
  let whole = "";
  for (let i = paths.length - 1; i >= 0 && !whole.startsWith("/"); i--) {
    if (mustBeString(`paths[${i}]`, paths[i]) !== "") whole = whole ? `${paths[i]}/${whole}` : paths[i];
  }
  if (!whole.startsWith("/")) whole = whole ? `${cwd()}/${whole}` : cwd();
  return `/${settle(whole.split("/"), true)}`;
}

export function relative(from, to) {
  mustBeString("from", from);
  mustBeString("to", to);
  if (from === to) return "";
  const [a, b] = [resolve(from), resolve(to)].map((path) => (path === "/" ? [] : path.slice(1).split("/")));
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return [...Array(a.length - same).fill(".."), ...b.slice(same)].join("/");
}

const bare = (path) => path.replace(/\/+$/, "");

export function dirname(path) {
  if (mustBeString("path", path) === "") return ".";
  const name = bare(path);
  if (name === "") return "/";
  const at = name.lastIndexOf("/");
  if (at < 0) return ".";
  // Node keeps all but the last slash of a doubled separator, and the root itself.
  return at === 0 ? "/" : at === 1 && name[0] === "/" ? "//" : name.slice(0, at);
}

export function basename(path, suffix) {
  mustBeString("path", path);
  if (suffix !== undefined) mustBeString("suffix", suffix);
  const name = bare(path).split("/").at(-1);
  if (suffix === undefined || suffix === "" || name === suffix) return suffix === path ? "" : name;
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path) {
  const name = basename(path);
  const at = name.lastIndexOf(".");
  return at <= 0 || name === ".." ? "" : name.slice(at);
}

export function parse(path) {
  mustBeString("path", path);
  const root = path.startsWith("/") ? "/" : "";
  const base = basename(path);
  const ext = extname(base);
  const name = ext ? base.slice(0, -ext.length) : base;
  const above = bare(path).slice(0, bare(path).length - base.length);
  const dir = above === "" ? root : above === "/" ? "/" : above.slice(0, -1);
  return { root, dir, base, ext, name };
}

export function format(parts) {
  if (parts === null || typeof parts !== "object") mustBeString("pathObject", parts);
  const ext = parts.ext ? (parts.ext[0] === "." ? parts.ext : `.${parts.ext}`) : "";
  const base = parts.base || `${parts.name || ""}${ext}`;
  const dir = parts.dir || parts.root;
  if (!dir) return base;
  return dir === parts.root ? `${dir}${base}` : `${dir}/${base}`;
}

export const toNamespacedPath = (path) => path;

function starMatch(text, pattern) {
  let source = "";
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "*" && pattern[i + 1] === "*") {
      const slash = pattern[i + 2] === "/";
      source += slash ? "(?:.*/)?" : ".*";
      i += slash ? 2 : 1;
    } else
      source += char === "*" ? "[^/]*" : char === "?" ? "[^/]" : char.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  }
  return new RegExp(`^${source}$`, "s").test(text);
}
export const matchesGlob = (path, pattern) =>
  starMatch(mustBeString("path", path), mustBeString("pattern", pattern));

export const posix = {
  sep,
  delimiter,
  normalize,
  isAbsolute,
  join,
  resolve,
  relative,
  dirname,
  basename,
  extname,
  parse,
  format,
  toNamespacedPath,
  matchesGlob,
};
posix.posix = posix;
posix.win32 = win32;
win32.posix = posix;
export { win32 };
export default posix;
