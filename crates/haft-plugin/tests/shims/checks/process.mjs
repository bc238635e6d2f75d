import child, { exec, execFile, execFileSync, execSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process, { stdout } from "node:process";
import { promisify } from "node:util";
import { rejects, same, throws, wait } from "../lib.mjs";

const all = async (stream) => { let text = ""; for await (const chunk of stream) text += chunk; return text; };
const ended = (c) => new Promise((done) => c.on("close", (code, signal) => done([code, signal])));

export default [
  ["spawn", async () => { const c = spawn("sh", ["-c", "echo out; echo err >&2; exit 3"]); const [out, err, end] = await Promise.all([all(c.stdout), all(c.stderr), ended(c)]); same([out, err, end, typeof c.pid, c.exitCode, c.spawnargs], ["out\n", "err\n", [3, null], "number", 3, ["sh", "-c", "echo out; echo err >&2; exit 3"]]); }],
  ["spawn with input", async () => { const c = spawn("cat"); c.stdin.write("a"); c.stdin.end("b"); same(await all(c.stdout), "ab"); }],
  ["spawn with cwd and env", async () => { const c = spawn("sh", ["-c", "pwd; echo $X"], { cwd: "/", env: { PATH: process.env.PATH, X: "y" } }); same(await all(c.stdout), "/\ny\n"); }],
  ["spawn through a shell", async () => same(await all(spawn("echo a | tr a b", { shell: true }).stdout), "b\n")],
  ["spawn of nothing", async () => { const c = spawn("no-such-program", ["x"]); const e = await new Promise((done) => c.on("error", done)); same([e.code, e.errno, e.syscall, e.path, e.spawnargs, e.message, c.pid], ["ENOENT", -2, "spawn no-such-program", "no-such-program", ["x"], "spawn no-such-program ENOENT", undefined]); }],
  ["spawn event order", async () => { const c = spawn("true"); const seen = []; for (const n of ["spawn", "exit", "close"]) c.on(n, () => seen.push(n)); await ended(c); same(seen, ["spawn", "exit", "close"]); }],
  ["kill", async () => { const c = spawn("sleep", ["5"]); const end = ended(c); same(c.kill(), true); same([await end, c.killed, c.signalCode, c.kill()], [[null, "SIGTERM"], true, "SIGTERM", false]); throws(() => spawn("true").kill("SIGNOPE"), { code: "ERR_UNKNOWN_SIGNAL" }); }],
  ["spawn timeout", async () => same(await ended(spawn("sleep", ["5"], { timeout: 20 })), [null, "SIGTERM"])],
  ["spawn with a signal", async () => { const a = new AbortController(); const c = spawn("sleep", ["5"], { signal: a.signal }); const e = new Promise((done) => c.on("error", done)); a.abort(); same([(await e).name, (await e).code], ["AbortError", "ABORT_ERR"]); }],
  ["stdio ignore", async () => { const c = spawn("sh", ["-c", "echo hi"], { stdio: "ignore" }); same([c.stdout, c.stdin, (await ended(c))[0]], [null, null, 0]); }],
  ["stdio to a file", async () => { const file = path.join(os.tmpdir(), `shims-${process.pid}`); const fd = fs.openSync(file, "w"); await ended(spawn("sh", ["-c", "echo out; echo err >&2"], { stdio: ["ignore", fd, fd] })); fs.closeSync(fd); same(fs.readFileSync(file, "utf8"), "out\nerr\n"); fs.unlinkSync(file); }],
  ["large output", async () => same((await all(spawn("sh", ["-c", "head -c 300000 /dev/zero | tr '\\0' x"]).stdout)).length, 300000)],
  ["wrong arguments", () => { throws(() => spawn(""), { code: "ERR_INVALID_ARG_VALUE" }); throws(() => spawn(5), { code: "ERR_INVALID_ARG_TYPE" }); throws(() => spawn("a", "b"), { code: "ERR_INVALID_ARG_TYPE" }); }],
  ["exec", async () => same(await new Promise((done) => exec("echo $((1+1)); echo e >&2", (error, stdout, stderr) => done([error, stdout, stderr]))), [null, "2\n", "e\n"])],
  ["exec that fails", async () => { const e = await new Promise((done) => exec("echo o; echo bad >&2; exit 4", (error) => done(error))); same([e.code, e.killed, e.signal, e.cmd, e.message], [4, false, null, "echo o; echo bad >&2; exit 4", "Command failed: echo o; echo bad >&2; exit 4\nbad\n"]); }],
  ["promisify(exec)", async () => { same(await promisify(exec)("echo hi"), { stdout: "hi\n", stderr: "" }); await rejects(promisify(exec)("echo o; echo e >&2; exit 2"), { code: 2, stdout: "o\n", stderr: "e\n" }); same((await promisify(exec)("pwd", { cwd: "/" })).stdout, "/\n"); }],
  ["execFile", async () => { same(await promisify(execFile)("echo", ["a b", "$X"]), { stdout: "a b $X\n", stderr: "" }); await rejects(promisify(execFile)("no-such-program"), { code: "ENOENT" }); }],
  ["execFile maxBuffer", async () => rejects(promisify(execFile)("echo", ["aaaaaa"], { maxBuffer: 3 }), { code: "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", stdout: "aaa" })],
  ["exec in a buffer", async () => same(Buffer.isBuffer((await promisify(exec)("echo x", { encoding: "buffer" })).stdout), true)],
  ["exec timeout", async () => { const e = await new Promise((done) => exec("sleep 5", { timeout: 30 }, done)); same([e.killed, e.signal], [true, "SIGTERM"]); }],
  ["spawnSync", () => { const r = spawnSync("sh", ["-c", "cat; echo e >&2; exit 2"], { input: "in", encoding: "utf8" }); same([r.status, r.signal, r.stdout, r.stderr, r.output, r.error], [2, null, "in", "e\n", [null, "in", "e\n"], undefined]); }],
  ["spawnSync in buffers", () => same([Buffer.isBuffer(spawnSync("echo", ["x"]).stdout), spawnSync("echo", ["x"]).stdout.toString()], [true, "x\n"])],
  ["spawnSync of nothing", () => { const r = spawnSync("no-such-program"); same([r.error.code, r.status, r.error.syscall, r.error.message], ["ENOENT", null, "spawnSync no-such-program", "spawnSync no-such-program ENOENT"]); }],
  ["spawnSync timeout", () => { const r = spawnSync("sleep", ["5"], { timeout: 20 }); same([r.error.code, r.signal, r.status], ["ETIMEDOUT", "SIGTERM", null]); }],
  ["execSync", () => { same([execSync("echo hi").toString(), execSync("echo hi", { encoding: "utf8" }), execSync("cat", { input: "x", encoding: "utf8" })], ["hi\n", "hi\n", "x"]); }],
  ["execSync that fails", () => throws(() => execSync("echo o; echo bad >&2; exit 3", { stdio: "pipe" }), { status: 3, signal: null, message: "Command failed: echo o; echo bad >&2; exit 3\nbad\n", code: undefined })],
  ["execFileSync", () => { same(execFileSync("echo", ["a b"], { encoding: "utf8" }), "a b\n"); throws(() => execFileSync("no-such-program"), { code: "ENOENT" }); throws(() => execFileSync("false", { stdio: "pipe" }), { status: 1, message: "Command failed: false" }); }],
  ["a child sees our environment", () => { process.env.SHIMS_X = 5; same([execSync("echo $SHIMS_X", { encoding: "utf8" }), process.env.SHIMS_X, "SHIMS_X" in process.env], ["5\n", "5", true]); delete process.env.SHIMS_X; same([process.env.SHIMS_X, execSync("echo $SHIMS_X", { encoding: "utf8" })], [undefined, "\n"]); }],
  ["the module's default", () => same([child.spawn === spawn, typeof child.fork], [true, "function"])],
  ["process facts", () => same([process === globalThis.process, process.platform, process.arch, process.pid > 0, /^v\d+\./.test(process.version), process.version.slice(1) === process.versions.node, Array.isArray(process.argv), process.cwd()[0]], [true, os.platform(), os.arch(), true, true, true, true, "/"])],
  ["process.nextTick", async () => { const out = []; process.nextTick((a) => out.push(a), 1); out.push(0); await wait(1); same(out, [0, 1]); }],
  ["hrtime", () => { const [s, n] = process.hrtime(); const [ds, dn] = process.hrtime([s, n]); same([s >= 0, n < 1e9, ds, dn >= 0, typeof process.hrtime.bigint()], [true, true, 0, true, "bigint"]); }],
  ["memory and uptime", () => same([process.memoryUsage().rss > 0, process.memoryUsage().heapUsed > 0, process.uptime() >= 0], [true, true, true])],
  ["process events", () => { let got; const f = (v) => (got = v); process.on("shims", f); process.emit("shims", 3); process.off("shims", f); same(got, 3); }],
  ["process.kill", async () => { const c = spawn("sleep", ["5"]); const end = ended(c); same(process.kill(c.pid, 0), true); process.kill(c.pid, "SIGKILL"); same(await end, [null, "SIGKILL"]); throws(() => process.kill(c.pid, 0), { code: "ESRCH" }); throws(() => process.kill(1, "SIGNOPE"), { code: "ERR_UNKNOWN_SIGNAL" }); }],
  ["chdir", () => { const before = process.cwd(); process.chdir("/"); same([process.cwd(), path.resolve("x")], ["/", "/x"]); process.chdir(before); throws(() => process.chdir("/no-such"), { code: "ENOENT" }); }],
  ["stdout.write", () => same([typeof process.stdout.write, stdout.fd, process.stderr.fd], ["function", 1, 2])],
  ["os", () => same([os.EOL, os.homedir()[0], os.tmpdir()[0], os.cpus().length > 0, os.totalmem() > 0, typeof os.hostname(), os.userInfo().uid, os.constants.signals.SIGTERM, os.type(), os.endianness()], ["\n", "/", "/", true, true, "string", process.getuid(), 15, "Linux", "LE"])],
  ["a detached child has its own group", async () => { const c = spawn("sh", ["-c", "sleep 5 & wait"], { detached: true, stdio: "ignore" }); await wait(30); const end = ended(c); process.kill(-c.pid, "SIGKILL"); same(await end, [null, "SIGKILL"]); }],
];
