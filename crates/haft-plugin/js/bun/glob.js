// `Bun.Glob`: shell patterns with `**`, braces and classes, for strings and for folders.
import { cwd as here, readdir, stat } from "haft:ops";
import { braces } from "haft:bun/braces";

// One pattern without braces as a regular expression.
function sourceOf(pattern) {
  let out = "";
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "\\") out += `\\${pattern[++i] ?? "\\"}`;
    else if (char === "*" && pattern[i + 1] === "*") {
      const alone =
        (i === 0 || pattern[i - 1] === "/") && (i + 2 === pattern.length || pattern[i + 2] === "/");
      i += 1;
      if (alone && pattern[i + 1] === "/") {
        out += "(?:[^/]+/)*";
        i += 1;
      } else out += alone ? ".*" : "[^/]*";
    } else if (char === "*") out += "[^/]*";
    else if (char === "?") out += "[^/]";
    else if (char === "[" && pattern.indexOf("]", i + 2) > 0) {
      const end = pattern.indexOf("]", i + 2);
      const set = pattern
        .slice(i + 1, end)
        .replace(/^!/, "^")
        .replace(/[\\[]/g, "\\$&");
      out += `(?!/)[${set}]`;
      i = end;
    } else out += char.replace(/[\^$.|+()[\]{}]/g, "\\$&");
  }
  return out;
}

export class Glob {
  #test;
  #depth;
  #negated;
  constructor(pattern) {
    this.pattern = String(pattern);
    const bangs = /^!*/.exec(this.pattern)[0].length;
    this.#negated = bangs % 2 === 1;
    const plain = braces(this.pattern.slice(bangs).replace(/^\.\//, ""));
    this.#test = new RegExp(`^(?:${plain.map(sourceOf).join("|")})$`, "s");
    this.#depth = plain.some((one) => one.includes("**"))
      ? Infinity
      : Math.max(...plain.map((one) => one.split("/").length));
    this.named = plain.flatMap((one) => one.split("/")).filter((part) => part.startsWith("."));
    Object.defineProperty(this, "named", { enumerable: false });
  }
  match(text) {
    return this.#test.test(String(text)) !== this.#negated;
  }
  // Hidden entries count only when asked for, by the option or by a part of the pattern that begins with a
  // dot.
  *#walk(root, below, level, options) {
    for (const { name, kind } of readdir(below ? `${root}/${below}` : root).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (
        name.startsWith(".") &&
        !options.dot &&
        !this.named.some((part) => new RegExp(`^${sourceOf(part)}$`).test(name))
      )
        continue;
      const path = below ? `${below}/${name}` : name;
      const link = kind === "symlink" ? followed(`${root}/${path}`) : null;
      const folder = kind === "dir" || (options.followSymlinks && link === "dir");
      if ((kind === "file" || (link && link !== "dir") || !options.onlyFiles) && this.match(path))
        yield options.absolute ? `${root}/${path}` : path;
      if (folder && level < this.#depth) yield* this.#walk(root, path, level + 1, options);
    }
  }
  *scanSync(options = {}) {
    const {
      cwd,
      dot = false,
      absolute = false,
      followSymlinks = false,
      onlyFiles = true,
    } = typeof options === "string" ? { cwd: options } : options;
    const root = !cwd ? here() : cwd.startsWith("/") ? cwd : `${here()}/${cwd}`;
    yield* this.#walk(root.replace(/(?<=.)\/+$/, ""), "", 1, { dot, absolute, followSymlinks, onlyFiles });
  }
  async *scan(options) {
    yield* this.scanSync(options);
  }
}

function followed(path) {
  try {
    return stat(path, true).kind;
  } catch {
    return null;
  }
}
