import fs, { existsSync, promises, readFileSync } from "node:fs";
import fsp from "fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rejects, same, throws } from "../lib.mjs";

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "shims-"));
const at = (...names) => path.join(dir, ...names);
const call = (f, ...args) => new Promise((done, fail) => f(...args, (error, value) => (error ? fail(error) : done(value))));
const check = (name, run) => [name, run];

export default [
  check("write and read text", () => { fs.writeFileSync(at("a"), "hé"); same([readFileSync(at("a"), "utf8"), readFileSync(at("a"), { encoding: "hex" })], ["hé", "68c3a9"]); }),
  check("read gives a Buffer", () => same([Buffer.isBuffer(readFileSync(at("a"))), readFileSync(at("a")).length], [true, 3])),
  check("paths as URL and Buffer", () => same([readFileSync(pathToFileURL(at("a")), "utf8"), readFileSync(Buffer.from(at("a")), "utf8")], ["hé", "hé"])),
  check("missing file", () => throws(() => readFileSync(at("none")), { code: "ENOENT", errno: -2, syscall: "open", path: at("none"), message: `ENOENT: no such file or directory, open '${at("none")}'` })),
  check("reading a folder", () => throws(() => readFileSync(dir), { code: "EISDIR", syscall: "read" })),
  check("a wrong path", () => throws(() => readFileSync({}), { code: "ERR_INVALID_ARG_TYPE" })),
  check("a path with NUL", () => throws(() => readFileSync("a\0b"), { code: "ERR_INVALID_ARG_VALUE" })),
  check("a wrong encoding", () => throws(() => readFileSync(at("a"), "nope"), { code: "ERR_INVALID_ARG_VALUE" })),
  check("append", () => { fs.appendFileSync(at("b"), "1"); fs.appendFileSync(at("b"), Buffer.from("2")); fs.writeFileSync(at("b"), "3", { flag: "a" }); same(readFileSync(at("b"), "utf8"), "123"); }),
  check("exclusive create", () => throws(() => fs.writeFileSync(at("b"), "x", { flag: "wx" }), { code: "EEXIST" })),
  check("write typed arrays", () => { fs.writeFileSync(at("t"), new Uint16Array([0x6261])); same(readFileSync(at("t"), "latin1"), "ab"); }),
  check("write a wrong value", () => throws(() => fs.writeFileSync(at("t"), 5), { code: "ERR_INVALID_ARG_TYPE" })),
  check("write with a mode", () => { fs.writeFileSync(at("m"), "", { mode: 0o600 }); same(fs.statSync(at("m")).mode & 0o777, 0o600); }),
  check("exists", () => same([existsSync(at("a")), existsSync(at("none")), existsSync(5), existsSync(dir)], [true, false, false, true])),
  check("stat", () => { const s = fs.statSync(at("a")); same([s.isFile(), s.isDirectory(), s.size, s.mtime instanceof Date, typeof s.mtimeMs, s.mode & 0o170000], [true, false, 3, true, "number", 0o100000]); }),
  check("stat of nothing", () => { same(fs.statSync(at("none"), { throwIfNoEntry: false }), undefined); throws(() => fs.statSync(at("none")), { code: "ENOENT", syscall: "stat" }); }),
  check("stat in bigint", () => same([fs.statSync(at("a"), { bigint: true }).size, typeof fs.statSync(at("a"), { bigint: true }).mtimeNs], [3n, "bigint"])),
  check("mkdir", () => { fs.mkdirSync(at("d")); throws(() => fs.mkdirSync(at("d")), { code: "EEXIST", syscall: "mkdir" }); throws(() => fs.mkdirSync(at("x/y")), { code: "ENOENT" }); }),
  check("mkdir recursive says what it made", () => same([fs.mkdirSync(at("r/s/t"), { recursive: true }), fs.mkdirSync(at("r/s/t"), { recursive: true })], [at("r"), undefined])),
  check("readdir", () => { fs.writeFileSync(at("r/2"), ""); fs.writeFileSync(at("r/s/1"), ""); same(fs.readdirSync(at("r")), ["2", "s"]); throws(() => fs.readdirSync(at("none")), { code: "ENOENT", syscall: "scandir" }); }),
  check("readdir with types", () => same(fs.readdirSync(at("r"), { withFileTypes: true }).map((e) => [e.name, e.isFile(), e.isDirectory(), e.parentPath ?? e.path]), [["2", true, false, at("r")], ["s", false, true, at("r")]])),
  check("readdir recursive", () => same(fs.readdirSync(at("r"), { recursive: true }).sort(), ["2", "s", "s/1", "s/t"])),
  check("readdir recursive with types", () => same(fs.readdirSync(at("r"), { recursive: true, withFileTypes: true }).map((e) => path.join(e.parentPath ?? e.path, e.name)).sort(), [at("r/2"), at("r/s"), at("r/s/1"), at("r/s/t")])),
  check("rename", () => { fs.renameSync(at("r/2"), at("r/3")); same(fs.readdirSync(at("r")), ["3", "s"]); throws(() => fs.renameSync(at("q"), at("z")), { code: "ENOENT", dest: at("z"), message: `ENOENT: no such file or directory, rename '${at("q")}' -> '${at("z")}'` }); }),
  check("copyFile", () => { fs.copyFileSync(at("a"), at("c")); same(readFileSync(at("c"), "utf8"), "hé"); throws(() => fs.copyFileSync(at("a"), at("c"), fs.constants.COPYFILE_EXCL), { code: "EEXIST" }); }),
  check("cp of a tree", () => { fs.cpSync(at("r"), at("r2"), { recursive: true }); same(fs.readdirSync(at("r2"), { recursive: true }).sort(), ["3", "s", "s/1", "s/t"]); throws(() => fs.cpSync(at("r"), at("r4")), { code: "ERR_FS_EISDIR" }); }),
  check("cp with a filter", async () => { await fsp.cp(at("r"), at("r3"), { recursive: true, filter: (from) => !from.endsWith("/s") }); same(fs.readdirSync(at("r3")), ["3"]); }),
  check("symlink, readlink, lstat, realpath", () => {
    fs.symlinkSync("a", at("l"));
    same([fs.readlinkSync(at("l")), fs.lstatSync(at("l")).isSymbolicLink(), fs.statSync(at("l")).isFile(), fs.realpathSync(at("l"))], ["a", true, true, path.join(fs.realpathSync(dir), "a")]);
  }),
  check("hard link", () => { fs.linkSync(at("a"), at("h")); same(fs.statSync(at("h")).nlink, 2); fs.unlinkSync(at("h")); }),
  check("unlink", () => { fs.unlinkSync(at("l")); throws(() => fs.unlinkSync(at("l")), { code: "ENOENT", syscall: "unlink" }); }),
  check("rm", () => { throws(() => fs.rmSync(at("none")), { code: "ENOENT" }); fs.rmSync(at("none"), { force: true }); throws(() => fs.rmSync(at("r2")), { code: "ERR_FS_EISDIR" }); fs.rmSync(at("r2"), { recursive: true }); same(existsSync(at("r2")), false); }),
  check("rmdir", () => { throws(() => fs.rmdirSync(at("r")), { code: "ENOTEMPTY" }); fs.rmdirSync(at("d")); same(existsSync(at("d")), false); }),
  check("access", () => { fs.accessSync(at("a"), fs.constants.R_OK); throws(() => fs.accessSync(at("none")), { code: "ENOENT", syscall: "access" }); throws(() => fs.accessSync(at("m"), fs.constants.X_OK), { code: "EACCES" }); }),
  check("chmod", () => { fs.chmodSync(at("m"), "755"); same(fs.statSync(at("m")).mode & 0o777, 0o755); }),
  check("utimes", () => { fs.utimesSync(at("m"), new Date(1000), 2); same([fs.statSync(at("m")).atimeMs, fs.statSync(at("m")).mtimeMs, fs.statSync(at("m")).mtime], [1000, 2000, new Date(2000)]); }),
  check("truncate", () => { fs.writeFileSync(at("tr"), "abcdef"); fs.truncateSync(at("tr"), 2); same(readFileSync(at("tr"), "utf8"), "ab"); }),
  check("open, write, read, close", () => {
    const fd = fs.openSync(at("fd"), "w+");
    const buffer = Buffer.alloc(4);
    same([fs.writeSync(fd, "hello"), fs.writeSync(fd, Buffer.from("XY"), 0, 1, 0), fs.readSync(fd, buffer, 0, 4, 0), buffer.toString(), fs.fstatSync(fd).size], [5, 1, 4, "Xell", 5]);
    fs.closeSync(fd);
    throws(() => fs.readSync(fd, buffer, 0, 1, 0), { code: "EBADF" });
  }),
  check("reading on from a descriptor", () => { const fd = fs.openSync(at("fd")); const b = Buffer.alloc(2); same([fs.readSync(fd, b), b.toString(), readFileSync(fd, "utf8")], [2, "Xe", "llo"]); fs.closeSync(fd); }),
  check("open with wrong flags", () => throws(() => fs.openSync(at("a"), "zz"), { code: "ERR_INVALID_ARG_VALUE" })),
  check("open with numbers", () => { const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants; throws(() => fs.openSync(at("a"), O_CREAT | O_EXCL | O_WRONLY), { code: "EEXIST" }); }),
  check("opendir", async () => { const names = []; for await (const e of await fsp.opendir(at("r"))) names.push(e.name); same(names.sort(), ["3", "s"]); }),
  check("callbacks", async () => { await call(fs.writeFile, at("cb"), "x"); same([await call(fs.readFile, at("cb"), "utf8"), (await call(fs.stat, at("cb"))).size, await call(fs.readdir, at("r"))], ["x", 1, ["3", "s"]]); }),
  check("callback errors", async () => { await rejects(call(fs.readFile, at("none")), { code: "ENOENT" }); throws(() => fs.readFile(at("a")), { code: "ERR_INVALID_ARG_TYPE" }); throws(() => fs.readFile({}, () => {}), { code: "ERR_INVALID_ARG_TYPE" }); }),
  check("callbacks come later", async () => { let now = true; const seen = await new Promise((done) => { fs.stat(at("a"), () => done(now)); now = false; }); same(seen, false); }),
  check("fs.exists", async () => same([await new Promise((done) => fs.exists(at("a"), done)), await promisify(fs.exists)(at("none"))], [true, false])),
  check("promisify(fs.readFile)", async () => same(await promisify(fs.readFile)(at("cb"), "utf8"), "x")),
  check("promises", async () => { await promises.writeFile(at("p"), "y"); await fsp.appendFile(at("p"), "z"); same([await fsp.readFile(at("p"), "utf8"), (await fsp.stat(at("p"))).size, await fsp.readdir(at("r"))], ["yz", 2, ["3", "s"]]); }),
  check("promise errors", async () => { await rejects(fsp.readFile(at("none")), { code: "ENOENT", syscall: "open" }); await rejects(fsp.access(at("none")), { code: "ENOENT" }); await rejects(fsp.readFile({}), { code: "ERR_INVALID_ARG_TYPE" }); }),
  check("promises: mkdir, rename, rm", async () => { same(await fsp.mkdir(at("pm/x"), { recursive: true }), at("pm")); await fsp.rename(at("pm"), at("pn")); await fsp.rm(at("pn"), { recursive: true, force: true }); same(existsSync(at("pn")), false); }),
  check("writeFile from an iterable", async () => { await fsp.writeFile(at("it"), (async function* () { yield "a"; yield "b"; })()); same(readFileSync(at("it"), "utf8"), "ab"); }),
  check("FileHandle", async () => {
    const file = await fsp.open(at("fh"), "w+");
    await file.write("abc"); await file.appendFile("def");
    const { bytesRead, buffer } = await file.read(Buffer.alloc(3), 0, 3, 1);
    same([bytesRead, buffer.toString(), (await file.stat()).size, typeof file.fd], [3, "bcd", 6, "number"]);
    await file.truncate(2); await file.close();
    same(readFileSync(at("fh"), "utf8"), "ab");
    await rejects(file.stat(), { code: "EBADF" });
  }),
  check("FileHandle.readLines", async () => { fs.writeFileSync(at("lines"), "a\r\nb\n\nc"); const file = await fsp.open(at("lines")); const lines = []; for await (const line of file.readLines()) lines.push(line); same(lines, ["a", "b", "", "c"]); }),
  check("mkdtemp", async () => { const made = await fsp.mkdtemp(at("tmp-")); same([made.startsWith(at("tmp-")), made.length - at("tmp-").length], [true, 6]); }),
  check("createReadStream", async () => { fs.writeFileSync(at("s"), "hello"); let text = ""; for await (const chunk of fs.createReadStream(at("s"), { encoding: "utf8", highWaterMark: 2 })) text += `${chunk}|`; same(text, "he|ll|o|"); }),
  check("createReadStream of a part", async () => { const chunks = []; for await (const chunk of fs.createReadStream(at("s"), { start: 1, end: 3 })) chunks.push(chunk); same(Buffer.concat(chunks).toString(), "ell"); }),
  check("createReadStream of nothing", async () => same(await new Promise((done) => fs.createReadStream(at("none")).on("error", (e) => done(e.code))), "ENOENT")),
  check("createWriteStream", async () => { const out = fs.createWriteStream(at("ws")); out.write("a"); out.write(Buffer.from("b")); await new Promise((done) => out.end("c", done)); same([readFileSync(at("ws"), "utf8"), out.bytesWritten], ["abc", 3]); }),
  check("stream classes by name", () => same([fs.createReadStream(at("s")) instanceof fs.ReadStream, new fs.WriteStream(at("ws2")) instanceof fs.WriteStream], [true, true])),
  check("pipe file to file", async () => { await new Promise((done, fail) => fs.createReadStream(at("s")).pipe(fs.createWriteStream(at("s2"))).on("finish", done).on("error", fail)); same(readFileSync(at("s2"), "utf8"), "hello"); }),
  check("constants", () => same([fs.constants.R_OK, fs.constants.O_RDONLY, fsp.constants === fs.constants], [4, 0, true])),
  check("clean up", () => fs.rmSync(dir, { recursive: true })),
];
