import { $, Glob, file, write } from "bun";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { rejects, same, throws, wait } from "../lib.mjs";

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "shims-bun-"));
const at = (...names) => path.join(dir, ...names);
const nasty = "a b $(id) `x` \"q\" 'p' \\ \n * ~ z";
const run = async (promise) => { const o = await promise.quiet().nothrow(); return [o.exitCode, o.stdout.toString(), o.stderr.toString()]; };
const gather = async (source) => { const out = []; for await (const item of source) out.push(item); return out; };
const tree = at("tree");
fs.mkdirSync(path.join(tree, "a/.hid"), { recursive: true });
for (const name of ["x.ts", "a/y.ts", "a/z.txt", ".dot.ts", "a/.hid/q.ts", "a/n.js"]) fs.writeFileSync(path.join(tree, name), name);

export default [
  ["$ a plain command", async () => same(await run($`echo hi`), [0, "hi\n", ""])],
  ["$ a value is one word", async () => same(await run($`printf '%s|' ${nasty} ${"-n"}`), [0, `${nasty}|-n|`, ""])],
  ["$ a value in double quotes", async () => same(await run($`echo "pre ${nasty} post"`), [0, `pre ${nasty} post\n`, ""])],
  ["$ a value in single quotes", async () => same(await run($`echo 'pre ${nasty} post'`), [0, `pre ${nasty} post\n`, ""])],
  ["$ a value glued to text", async () => same(await run($`echo pre${nasty}post`), [0, `pre${nasty}post\n`, ""])],
  ["$ a value in a substitution", async () => same(await run($`echo "$(echo ${nasty})"`), [0, `${nasty}\n`, ""])],
  ["$ a dollar sign before a value", async () => same([await run($`printf '%s|' $${"a\\n'$(id)"} "$${"HOME"}" "a$"${"b"}`), await run($`echo '$${"HOME"}'`)], [[0, "$a\\n'$(id)|$HOME|a$b|", ""], [0, "$HOME\n", ""]])],
  ["$ a value after a hash", async () => same(await run($`echo ${"a"}#"${"$(id)"}" b#${"it's"}`), [0, "a#$(id) b#it's\n", ""])],
  ["$ an empty value is a word", async () => same(await run($`printf '[%s]' a ${""} b`), [0, "[a][][b]", ""])],
  ["$ lists are several words", async () => same([await run($`printf '%s|' ${["a b", "c"]}`), await run($`printf '%s|' x${["a b", "c"]}y`), await run($`echo ${[]} z`), await run($`echo "${["a", "b c"]}"`)], [[0, "a b|c|", ""], [0, "xa b|cy|", ""], [0, "z\n", ""], [0, "a b c\n", ""]])],
  ["$ raw text", async () => same(await run($`echo ${{ raw: "a | tr a b; echo c" }}`), [0, "b\nc\n", ""])],
  ["$ other values", async () => same(await run($`echo ${5} ${true} ${null} ${undefined} ${10n} ${{ toString: () => "own" }}`), [0, "5 true null undefined 10 own\n", ""])],
  ["$ a plain object is refused", async () => { let e; try { await $`echo ${{ a: 1 }}`.quiet(); } catch (x) { e = x; } same(e?.message, "Invalid JS object used in shell: [object Object], you might need to call `.toString()` on it"); }],
  ["$ a value as command", async () => same(await run($`${"echo"} hi`), [0, "hi\n", ""])],
  ["$ a value in an assignment", async () => same(await run($`X=${nasty} && echo "$X"`), [0, `${nasty}\n`, ""])],
  ["$ pipes, lists, several lines, comments", async () => same([await $`echo a | tr a b`.text(), await $`false || echo yes`.text(), await $`echo a
echo b`.text(), await $`echo "it's" ${"x"}`.text()], ["b\n", "yes\n", "a\nb\n", "it's x\n"])],
  ["$ backslashes are the shell's", async () => same(await $`echo a\ b \$HOME`.text(), "a b $HOME\n")],
  ["$ input from objects", async () => same([await $`cat < ${Buffer.from("buf")}`.text(), await $`cat < ${new Response("resp")}`.text(), await $`cat < ${new Blob(["blob"])}`.text(), await $`cat < ${file(path.join(tree, "x.ts"))}`.text()], ["buf", "resp", "blob", "x.ts"])],
  ["$ output into a buffer", async () => { const b = Buffer.alloc(5); await $`echo hi > ${b}`.quiet(); same(b.toString(), "hi\n\0\0"); }],
  ["$ output into files", async () => { await $`echo one > ${file(at("o 1"))}`.quiet(); await $`echo two >> ${at("o 1")}`.quiet(); await $`sh -c "echo e >&2" 2> ${at("o2")}`.quiet(); same([await file(at("o 1")).text(), await file(at("o2")).text()], ["one\ntwo\n", "e\n"]); }],
  ["$ failure throws", async () => { let e; try { await $`sh -c "echo o; echo e >&2; exit 4"`.quiet(); } catch (x) { e = x; } same([e.name, e.message, e.exitCode, e.stdout.toString(), e.stderr.toString(), e instanceof Error, e instanceof $.ShellError, Buffer.isBuffer(e.stdout), e.text()], ["ShellError", "Failed with exit code 4", 4, "o\n", "e\n", true, true, true, "o\n"]); }],
  ["$ text of a failure throws", async () => rejects($`exit 3`.text(), { name: "ShellError", exitCode: 3 })],
  ["$ nothrow and throws", async () => same([(await $`exit 2`.quiet().nothrow()).exitCode, (await $`exit 9`.quiet().throws(false)).exitCode], [2, 9])],
  ["$ readers of the promise", async () => same([await $`echo hi`.text(), await $`echo hi`.text("hex"), await $`echo '{"a":1}'`.json(), (await $`echo hi`.arrayBuffer()).byteLength, (await $`echo hi`.bytes()).length, await (await $`echo hi`.blob()).text()], ["hi\n", "68690a", { a: 1 }, 3, 3, "hi\n"])],
  ["$ readers of the output", async () => { const o = await $`echo '[1]'`.quiet(); same([o.text(), o.json(), o.arrayBuffer().byteLength, o.bytes().length, o.blob().size, o.exitCode, Buffer.isBuffer(o.stdout)], ["[1]\n", [1], 4, 4, 4, 0, true]); }],
  ["$ lines", async () => same([await gather($`printf 'a\nb\nc'`.lines()), await gather($`printf 'a\nb\n'`.lines())], [["a", "b", "c"], ["a", "b", ""]])],
  ["$ cwd and env", async () => same([await $`pwd`.cwd("/").text(), await $`echo $FOO`.env({ ...process.env, FOO: "bar" }).text(), await $`echo $SHIMS_B`.env({ ...process.env, SHIMS_B: undefined }).nothrow().text()], ["/\n", "bar\n", "\n"])],
  ["$ is lazy", async () => { const p = $`touch ${at("lazy")}`.quiet(); await wait(20); const before = fs.existsSync(at("lazy")); await p; same([before, fs.existsSync(at("lazy"))], [false, true]); }],
  ["$ runs once", async () => { const p = $`echo x >> ${at("once")}`.quiet(); await p; await p; same(fs.readFileSync(at("once"), "utf8"), "x\n"); }],
  ["$ run, then, catch, finally", async () => { same((await $`true`.quiet().run()).exitCode, 0); let f = 0; same(await $`exit 5`.quiet().then(() => 0, (e) => e.exitCode), 5); same(await $`exit 6`.quiet().catch((e) => e.exitCode), 6); await $`true`.quiet().finally(() => f++); same(f, 1); }],
  ["$ in parallel", async () => same((await Promise.all([1, 2, 3].map((n) => $`echo ${n}`.text()))).join(""), "1\n2\n3\n")],
  ["$ cannot be changed while running", async () => { const p = $`true`.quiet(); await p; throws(() => p.cwd("/"), { message: "Shell is already running" }); }],
  ["$ a promise by kind", async () => { const p = $`true`.quiet(); same([p instanceof Promise, p.constructor.name], [true, "ShellPromise"]); await p; }],
  ["$ shells of one's own", async () => { const s = new $.Shell(); s.nothrow(); s.cwd("/"); same([(await s`exit 2`.quiet()).exitCode, await s`pwd`.text()], [2, "/\n"]); await rejects($`exit 2`.quiet()); }],
  ["$ defaults", async () => { $.cwd("/"); $.env({ ...process.env, A: "1" }); same(await $`echo $PWD $A`.text(), "/ 1\n"); $.cwd(process.cwd()); $.env(process.env); same(await $`echo $A`.text(), "\n"); }],
  ["$.escape", () => same([$.escape("ab"), $.escape("a b"), $.escape("$(x)"), $.escape('a"b'), $.escape("it's"), $.escape("")], ["ab", '"a b"', '"\\$(x)"', '"a\\"b"', '"it\'s"', '""'])],
  ["$.braces", () => same([$.braces("a{b,c}d"), $.braces("{1,2}-{x,{y,z}}"), $.braces("none")], [["abd", "acd"], ["1-x", "1-y", "1-z", "2-x", "2-y", "2-z"], ["none"]])],
  ["$ a very long value", async () => { const long = "x'y ".repeat(60_000); same((await $`echo ${long}`.text()) === `${long}\n`, true); }],
  ["$ large output", async () => same((await $`head -c 300000 /dev/zero`.quiet()).stdout.length, 300000)],
  ["Bun.file", async () => { same([await file(at("f.json")).exists(), file(at("f.json")).size], [false, 0]); const f = file(at("f.json")); await write(f, '{"a":1}'); same([f.type, f.name], ["application/json;charset=utf-8", at("f.json")]); same([await f.exists(), f.size, await f.text(), await f.json(), (await f.bytes()).length, (await f.arrayBuffer()).byteLength, await f.slice(1, 4).text(), f instanceof Blob, (await f.stat()).size, f.lastModified > 0], [true, 7, '{"a":1}', { a: 1 }, 7, 7, '"a"', true, 7, true]); }],
  ["Bun.file is fresh", async () => { const f = file(at("f.json")); fs.writeFileSync(at("f.json"), "[2]"); same(await f.json(), [2]); }],
  ["Bun.file of nothing", async () => { await rejects(file("/nope").text(), { code: "ENOENT" }); same([await file(dir).exists(), await file("/nope").exists()], [false, false]); }],
  ["Bun.file types", () => same(["a.ts", "a.html", "a.md", "a.png", "a.txt", "a", "a.yaml"].map((n) => file(n).type), ["text/javascript;charset=utf-8", "text/html;charset=utf-8", "text/markdown", "image/png", "text/plain;charset=utf-8", "application/octet-stream", "text/yaml"])],
  ["Bun.file streams and Response", async () => same([Buffer.concat(await gather(file(at("f.json")).stream())).toString(), await new Response(file(at("f.json"))).text()], ["[2]", "[2]"])],
  ["Bun.file delete and writer", async () => { const w = file(at("w")).writer(); w.write("ab"); w.write(Uint8Array.of(99)); await w.end(); same(await file(at("w")).text(), "abc"); await file(at("w")).delete(); same(fs.existsSync(at("w")), false); }],
  ["Bun.write", async () => { same([await write(at("new/dir/f"), "hé"), await write(at("b"), Uint8Array.of(1, 2)), await write(at("c"), new Response("zz")), await write(at("d"), file(at("f.json"))), await write(at("e"), new Blob(["q"]))], [3, 2, 2, 3, 1]); same([fs.readFileSync(at("new/dir/f"), "utf8"), fs.readFileSync(at("d"), "utf8")], ["hé", "[2]"]); }],
  ["Bun.spawn", async () => { const p = Bun.spawn(["sh", "-c", "echo out; echo err >&2; exit 3"], { stderr: "pipe" }); same([await new Response(p.stdout).text(), await new Response(p.stderr).text(), await p.exited, p.exitCode, p.signalCode, typeof p.pid], ["out\n", "err\n", 3, 3, null, "number"]); }],
  ["Bun.spawn defaults", async () => { const p = Bun.spawn(["echo", "hi"]); same([await p.stdout.text(), p.stdin, p.stderr], ["hi\n", undefined, undefined]); }],
  ["Bun.spawn input", async () => { const p = Bun.spawn(["cat"], { stdin: "pipe" }); p.stdin.write("abc"); p.stdin.end(); same(await new Response(p.stdout).text(), "abc"); same(await new Response(Bun.spawn({ cmd: ["cat"], stdin: new Blob(["blobby"]) }).stdout).text(), "blobby"); }],
  ["Bun.spawn kill, exit and cwd", async () => { const p = Bun.spawn(["sleep", "5"]); p.kill(); same([await p.exited, p.exitCode, p.signalCode, p.killed], [143, null, "SIGTERM", true]); same(await new Promise((done) => Bun.spawn(["sh", "-c", "exit 2"], { onExit: (_, code, signal) => done([code, signal]) })), [2, null]); same(await new Response(Bun.spawn(["pwd"], { cwd: "/" }).stdout).text(), "/\n"); }],
  ["Bun.spawn of nothing", () => throws(() => Bun.spawn(["no-such-program"]), { code: "ENOENT", message: 'Executable not found in $PATH: "no-such-program"' })],
  ["Bun.spawnSync", () => { const r = Bun.spawnSync(["sh", "-c", "echo o; exit 2"]); same([r.success, r.exitCode, r.stdout.toString(), r.stderr.toString()], [false, 2, "o\n", ""]); same(Bun.spawnSync({ cmd: ["cat"], stdin: Buffer.from("in") }).stdout.toString(), "in"); }],
  ["Bun.which", () => same([Bun.which("sh").endsWith("/sh"), Bun.which("no-such-program"), Bun.which("ls", { PATH: "/nope" })], [true, null, null])],
  ["Bun.sleep", async () => same(await Bun.sleep(1), undefined)],
  ["Bun.Glob match", () => same([["*.ts", "a.ts"], ["*.ts", "a/b.ts"], ["**/*.ts", "a/b.ts"], ["**/*.ts", "b.ts"], ["a?c", "abc"], ["[a-c]x", "bx"], ["[!a]x", "bx"], ["{a,b}.ts", "b.ts"], ["*", ".a"], ["a/**", "a"], ["a/**", "a/b/c"], ["!a", "b"], ["a\\*", "a*"], ["**", "a/b"], ["[^a]", "b"], ["a/**/b", "a/b"], ["*.{ts,js}", "a.js"], ["a.b", "axb"]].map(([p, s]) => new Glob(p).match(s)), [true, false, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, false])],
  ["Bun.Glob scan", async () => { const g = new Glob("**/*.{ts,txt}"); same((await gather(g.scan({ cwd: tree }))).sort(), ["a/y.ts", "a/z.txt", "x.ts"]); same([...g.scanSync(tree)].length, 3); same([...new Glob("**/*.ts").scanSync({ cwd: tree, dot: true })].sort(), [".dot.ts", "a/.hid/q.ts", "a/y.ts", "x.ts"]); same([...new Glob("*").scanSync({ cwd: tree, onlyFiles: false })].sort(), ["a", "x.ts"]); same([...new Glob("*.ts").scanSync({ cwd: tree, absolute: true })], [path.join(tree, "x.ts")]); }],
  ["Bun.escapeHTML and friends", () => same([Bun.escapeHTML(`<a href="x">'&</a>`), Bun.deepEquals({ a: [1] }, { a: [1] }), Bun.fileURLToPath("file:///a%20b"), String(Bun.pathToFileURL("/a b")), Bun.stripANSI("\x1b[31mx\x1b[0m"), Bun.stringWidth("ab漢"), Bun.randomUUIDv7()[14], typeof Bun.nanoseconds()], ["&lt;a href=&quot;x&quot;&gt;&#x27;&amp;&lt;/a&gt;", true, "/a b", "file:///a%20b", "x", 4, "7", "number"])],
  ["Bun.CryptoHasher", () => same([new Bun.CryptoHasher("sha256").update("a").digest("hex").slice(0, 8), Bun.CryptoHasher.hash("md5", "a", "hex").slice(0, 8)], ["ca978112", "0cc175b9"])],
  ["Bun.readableStreamTo…", async () => same([await Bun.readableStreamToText(new Blob(["q"]).stream()), await Bun.readableStreamToJSON(new Blob(["[1]"]).stream())], ["q", [1]])],
  ["Bun facts", () => same([typeof Bun.version, typeof Bun.main, Bun.env === process.env, Bun.$ === $, Bun.noSuchThing, typeof Bun.inspect({ a: 1 })], ["string", "string", true, true, undefined, "string"])],
  ["clean up", () => fs.rmSync(dir, { recursive: true })],
];
