// `haft:ops` over Node's own modules: the page js/OPS.md implemented a second time, so that the checks can
// run our JavaScript without the engine. Results are rebuilt inside the sandboxed realm (see `run.mjs`), as
// the engine's would be.
import childProcess from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const bytesOf = (view) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
const exact = (buffer) => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);

const kindOf = (s) =>
  s.isFile()
    ? "file"
    : s.isDirectory()
      ? "dir"
      : s.isSymbolicLink()
        ? "symlink"
        : s.isFIFO()
          ? "fifo"
          : s.isSocket()
            ? "socket"
            : s.isCharacterDevice()
              ? "char"
              : "block";

function statOf(s) {
  const out = { kind: kindOf(s) };
  for (const key of [
    "size",
    "mode",
    "ino",
    "dev",
    "nlink",
    "uid",
    "gid",
    "rdev",
    "blksize",
    "blocks",
    "atimeMs",
    "mtimeMs",
    "ctimeMs",
    "birthtimeMs",
  ])
    out[key] = s[key];
  return out;
}

const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];
const urlParts = (url) => Object.fromEntries(PARTS.map((part) => [part, url[part]]));

const stdio = (value, fallback) => (value === undefined ? fallback : value);

export function nodeOps({ internal, files }) {
  const children = new Map();
  const sleeps = new Map();
  let nextId = 1;
  const ops = {
    internal,
    cwd: () => process.cwd(),
    chdir: (dir) => process.chdir(dir),
    env: () => ({ ...process.env }),
    argv: () => [process.execPath],
    version: () => "0.0.0",
    platform: () => process.platform,
    arch: () => process.arch,
    pid: () => process.pid,
    ppid: () => process.ppid,
    hostname: os.hostname,
    homedir: os.homedir,
    tmpdir: os.tmpdir,
    user: () => os.userInfo(),
    system: () => ({
      type: os.type(),
      release: os.release(),
      version: os.version(),
      machine: os.machine(),
      cpus: os.cpus().length,
      cpuModel: os.cpus()[0]?.model ?? "",
      totalmem: os.totalmem(),
      freemem: os.freemem(),
      loadavg: os.loadavg(),
      uptime: os.uptime(),
    }),
    memory: () => process.memoryUsage(),
    now: () => performance.timeOrigin + performance.now(),
    hrtime: () => Number(process.hrtime.bigint()) / 1e6,
    log: (level, text) => ops.logged.push([level, text]),
    mapStack: (stack) => stack,
    logged: [],
    randomBytes: (n) => exact(Buffer.from(crypto.randomBytes(n))),
    uuid: () => crypto.randomUUID(),
    hash: (alg, bytes) => exact(Buffer.from(crypto.createHash(alg).update(bytesOf(bytes)).digest())),
    hmac: (alg, key, bytes) =>
      exact(Buffer.from(crypto.createHmac(alg, bytesOf(key)).update(bytesOf(bytes)).digest())),
    encodeUtf8: (s) => exact(Buffer.from(s, "utf8")),
    decode: (label, bytes, options) => new TextDecoder(label, options).decode(bytesOf(bytes)),
    encodingName(label) {
      try {
        return new TextDecoder(label).encoding;
      } catch {
        return null;
      }
    },
    base64Encode: (bytes) => bytesOf(bytes).toString("base64"),
    base64Decode: (s) => exact(Buffer.from(Buffer.from(s, "base64"))),
    parseUrl: (href, base) => (URL.canParse(href, base) ? urlParts(new URL(href, base)) : null),
    setUrl(href, part, value) {
      const url = new URL(href);
      try {
        url[part] = value;
      } catch {
        /* an impossible value leaves it as it was */
      }
      return urlParts(url);
    },
    requestSync() {
      throw new Error("nobody answers in the checks");
    },
    kill: (pid, signal) => void process.kill(pid, signal),

    readFile: (file) => exact(Buffer.from(fs.readFileSync(file))),
    writeFile: (file, bytes, o = {}) =>
      fs.writeFileSync(file, bytesOf(bytes), {
        flag: (o.append ? "a" : "w") + (o.exclusive ? "x" : ""),
        mode: o.mode ?? 0o666,
      }),
    stat: (file, follow) => statOf(follow ? fs.statSync(file) : fs.lstatSync(file)),
    readdir: (dir) =>
      fs.readdirSync(dir, { withFileTypes: true }).map((e) => ({ name: e.name, kind: kindOf(e) })),
    mkdir: (dir, o = {}) => fs.mkdirSync(dir, o),
    rm: (file, o = {}) => fs.rmSync(file, o),
    rmdir: (dir) => fs.rmdirSync(dir),
    unlink: (file) => fs.unlinkSync(file),
    readlink: (file) => fs.readlinkSync(file),
    realpath: (file) => fs.realpathSync.native(file),
    rename: (a, b) => fs.renameSync(a, b),
    link: (a, b) => fs.linkSync(a, b),
    symlink: (target, file) => fs.symlinkSync(target, file),
    copyFile: (a, b, exclusive) => fs.copyFileSync(a, b, exclusive ? fs.constants.COPYFILE_EXCL : 0),
    chmod: (file, mode) => fs.chmodSync(file, mode),
    chown: (file, uid, gid, follow) => (follow ? fs.chownSync : fs.lchownSync)(file, uid, gid),
    utimes: (file, a, m, follow) => (follow ? fs.utimesSync : fs.lutimesSync)(file, a, m),
    truncate: (file, length) => fs.truncateSync(file, length),
    access: (file, mode) => fs.accessSync(file, mode),
    mkdtemp: (prefix) => fs.mkdtempSync(prefix),
    open: (file, flags, mode) => fs.openSync(file, flags, mode),
    read(fd, length, position) {
      const buffer = Buffer.alloc(length);
      return exact(buffer.subarray(0, fs.readSync(fd, buffer, 0, length, position)));
    },
    write: (fd, bytes, position) => fs.writeSync(fd, bytesOf(bytes), 0, bytes.byteLength, position),
    fstat: (fd) => statOf(fs.fstatSync(fd)),
    ftruncate: (fd, length) => fs.ftruncateSync(fd, length),
    fsync: (fd) => fs.fsyncSync(fd),
    close: (fd) => fs.closeSync(fd),

    spawnSync(o) {
      const r = childProcess.spawnSync(o.file, o.args, {
        cwd: o.cwd,
        env: o.env,
        argv0: o.argv0,
        input: o.input && bytesOf(o.input),
        timeout: o.timeoutMs,
        maxBuffer: o.maxBuffer ?? Infinity,
        killSignal: o.killSignal,
        stdio: [
          o.input ? "pipe" : stdio(o.stdin, "ignore"),
          stdio(o.stdout, "pipe"),
          stdio(o.stderr, "pipe"),
        ],
      });
      const empty = new ArrayBuffer(0);
      return {
        pid: r.pid,
        status: r.status,
        signal: r.signal,
        stdout: r.stdout ? exact(Buffer.from(r.stdout)) : empty,
        stderr: r.stderr ? exact(Buffer.from(r.stderr)) : empty,
        error: r.error && { code: r.error.code, message: r.error.message },
      };
    },

    sleep(ms) {
      const id = nextId++;
      const promise = new Promise((done) =>
        sleeps.set(id, ms > 0 ? setTimeout(done, ms) : setImmediate(done)),
      );
      return { id, promise };
    },
    cancelSleep(id) {
      clearTimeout(sleeps.get(id));
      clearImmediate(sleeps.get(id));
    },
    async request(op, input) {
      if (op !== "fetch") throw new Error(`nobody answers ${op} in the checks`);
      const r = await fetch(input.url, {
        method: input.method,
        headers: input.headers,
        redirect: input.redirect,
        body: input.body == null ? undefined : Buffer.from(input.body, "base64"),
      });
      const body = Buffer.from(await r.arrayBuffer()).toString("base64");
      return {
        status: r.status,
        statusText: r.statusText,
        url: r.url,
        redirected: r.redirected,
        headers: [...r.headers],
        body,
      };
    },
    spawn(o) {
      if (!o.file.includes("/")) ops.mustFind(o.file, o.env);
      else if (!fs.existsSync(o.file)) ops.noProgram(o.file);
      const child = childProcess.spawn(o.file, o.args, {
        cwd: o.cwd,
        env: o.env,
        argv0: o.argv0,
        detached: o.detached,
        stdio: [o.stdin, stdio(o.stdout, "pipe"), stdio(o.stderr, "pipe")],
      });
      const id = nextId++;
      const ended = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
      child.on("error", () => {});
      child.stdin?.on("error", () => {});
      const chunks = [null, child.stdout?.[Symbol.asyncIterator](), child.stderr?.[Symbol.asyncIterator]()];
      children.set(id, { child, ended, chunks });
      return { id, pid: child.pid };
    },
    mustFind(file, env) {
      const found = (env?.PATH ?? "").split(":").some((dir) => fs.existsSync(path.join(dir, file)));
      if (!found) ops.noProgram(file);
    },
    noProgram(file) {
      throw Object.assign(new Error(`spawn ${file} ENOENT`), {
        code: "ENOENT",
        errno: -2,
        syscall: `spawn ${file}`,
        path: file,
      });
    },
    async childRead(id, which) {
      const { value, done } = await children.get(id).chunks[which].next();
      return done ? null : exact(Buffer.from(value));
    },
    childWrite: (id, bytes) =>
      new Promise((done, fail) =>
        children.get(id).child.stdin.write(bytesOf(bytes), (e) => (e ? fail(e) : done())),
      ),
    childEnd: (id) => void children.get(id).child.stdin?.end(),
    childWait: (id) => children.get(id).ended,
    childKill: (id, signal) => children.get(id).child.kill(signal),
    ...files,
  };
  return ops;
}
