// What the client of opencode's SDK says about files, found with the functions that the plugin has itself.
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { readFile, readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/** So many files are looked through, and so much of each. */
const FILES_MAX = 20_000;
const FILE_BYTES_MAX = 4 << 20;
/** So many finds are told unless another number is asked for, and never more than that. */
const FOUND = 100;
const FOUND_MAX = 1000;
/** What is left out where no git says what to leave out. */
const LEFT_OUT = [".git", "node_modules"];

/** The content of a file. */
export async function read(options, directory) {
  const bytes = await readFile(place(directory, needed(options, "path")));
  if (!bytes.includes(0)) return { type: "text", content: bytes.toString("utf8") };
  return { type: "binary", content: bytes.toString("base64"), encoding: "base64", mimeType: "application/octet-stream" };
}

/** What is in a directory, directories first. */
export async function list(options, directory) {
  const folder = wanted(options, "path") ?? "";
  const entries = (await readdir(place(directory, folder), { withFileTypes: true })).filter(({ name }) => name !== ".git");
  const paths = entries.map(({ name }) => join(folder, name));
  const ignored = await ignoredOf(directory, paths);
  const nodes = entries.map((entry, at) => ({
    name: entry.name,
    path: paths[at],
    absolute: place(directory, paths[at]),
    type: entry.isDirectory() ? "directory" : "file",
    ignored: ignored.has(paths[at]),
  }));
  return nodes.sort((a, b) => (a.type === b.type ? (a.name < b.name ? -1 : 1) : a.type === "directory" ? -1 : 1));
}

/** The paths that are like what is asked for, the most alike first. */
export async function findFiles(options, directory) {
  const query = needed(options, "query").toLowerCase();
  const files = await filesOf(directory);
  const kind = wanted(options, "type");
  const hasFolders = kind === "directory" || (kind === undefined && `${wanted(options, "dirs") ?? true}` !== "false");
  const paths = [...(kind === "directory" ? [] : files), ...(hasFolders ? foldersOf(files) : [])];
  const ranked = paths.map((path) => ({ path, rank: rankOf(path, query) })).filter(({ rank }) => rank !== null);
  ranked.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return ranked.slice(0, limitOf(options)).map(({ path }) => path);
}

/** The lines that fit a pattern, as ripgrep tells them. */
export async function findText(options, directory) {
  const pattern = new RegExp(needed(options, "pattern"), "g");
  const limit = limitOf(options);
  const found = [];
  for (const path of await filesOf(directory)) {
    if (found.length === limit) break;
    const text = await textOf(place(directory, path));
    if (text !== null) searched(path, text, pattern, limit, found);
  }
  return found;
}

function searched(path, text, pattern, limit, found) {
  let offset = 0;
  const lines = text.split("\n");
  for (let at = 0; at < lines.length && found.length < limit; at++) {
    const line = at + 1 < lines.length ? `${lines[at]}\n` : lines[at];
    const submatches = [];
    for (const match of lines[at].matchAll(pattern)) {
      const start = Buffer.byteLength(lines[at].slice(0, match.index));
      submatches.push({ match: { text: match[0] }, start, end: start + Buffer.byteLength(match[0]) });
    }
    if (submatches.length > 0) {
      found.push({ path: { text: path }, lines: { text: line }, line_number: at + 1, absolute_offset: offset, submatches });
    }
    offset += Buffer.byteLength(line);
  }
}

/** The text of a file, unless it is none or has a great deal of it. */
async function textOf(file) {
  try {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) return null;
    const bytes = await readFile(file);
    return bytes.includes(0) ? null : bytes.toString("utf8");
  } catch {
    return null;
  }
}

/** The files of a directory and below: those that git knows or would take, or all where there is no git. */
async function filesOf(directory) {
  const listed = await git(directory, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], "");
  if (listed !== null) return [...new Set(listed.split("\0"))].filter((path) => path !== "").slice(0, FILES_MAX);
  const files = [];
  const folders = [""];
  while (folders.length > 0 && files.length < FILES_MAX) {
    const folder = folders.shift();
    for (const entry of await readdir(place(directory, folder), { withFileTypes: true }).catch(() => [])) {
      if (LEFT_OUT.includes(entry.name)) continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else if (entry.isFile()) files.push(join(folder, entry.name));
    }
  }
  return files.slice(0, FILES_MAX);
}

function foldersOf(files) {
  const folders = new Set();
  for (const file of files) {
    for (let at = file.indexOf("/"); at !== -1; at = file.indexOf("/", at + 1)) folders.add(file.slice(0, at + 1));
  }
  return [...folders];
}

async function ignoredOf(directory, paths) {
  if (paths.length === 0) return new Set();
  const told = await git(directory, ["check-ignore", "-z", "--stdin"], paths.join("\0"));
  return new Set((told ?? "").split("\0"));
}

/** What git says, or nothing where there is none, or it knows nothing of the directory. */
function git(cwd, args, input) {
  return new Promise((done) => {
    // A repository may name a program that is to be asked what has changed.
    const child = spawn("git", ["-c", "core.fsmonitor=false", ...args], { cwd, stdio: ["pipe", "pipe", "ignore"] });
    const chunks = [];
    child.on("error", () => done(null));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("close", (code) => done(code === 0 || (code === 1 && args[0] === "check-ignore") ? Buffer.concat(chunks).toString("utf8") : null));
    child.stdin.end(input);
  });
}

/** How little a path is like what is asked for; nothing if it is not at all. */
function rankOf(path, query) {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/", lower.length - 2) + 1);
  if (name.startsWith(query)) return 0;
  if (name.includes(query)) return 1;
  if (lower.includes(query)) return 2;
  let at = 0;
  for (const char of query) {
    at = lower.indexOf(char, at) + 1;
    if (at === 0) return null;
  }
  return 3;
}

function limitOf(options) {
  const limit = Math.trunc(Number(wanted(options, "limit") ?? FOUND));
  return Number.isNaN(limit) ? FOUND : Math.min(Math.max(limit, 1), FOUND_MAX);
}

function place(directory, path) {
  return isAbsolute(path) ? path : join(directory, path);
}

/** An argument, where either version of the SDK has it. */
function wanted(options, name) {
  return options?.query?.[name] ?? options?.[name];
}

function needed(options, name) {
  const value = wanted(options, name);
  if (typeof value !== "string") throw new TypeError(`\`${name}\` must be a text: { query: { ${name}: "…" } }`);
  return value;
}
