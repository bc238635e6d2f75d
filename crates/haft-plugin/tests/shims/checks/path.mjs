import path, { basename, dirname, extname, join, normalize, relative, resolve } from "node:path";
import posix from "path/posix";
import { same, throws } from "../lib.mjs";

const table = (name, f, rows) => rows.map((row) => [`${name}(${row.slice(0, -1).map((x) => JSON.stringify(x)).join(", ")})`, () => same(f(...row.slice(0, -1)), row.at(-1))]);

export default [
  ...table("join", join, [["a", "b", "a/b"], ["a", "../b", "b"], ["", "", "."], ["/a/", "/b/", "/a/b/"], ["a", "..", "..", ".."], ["./a", "./b", "a/b"]]),
  ...table("normalize", normalize, [["", "."], ["/a//b/../c/.", "/a/c"], ["./a", "a"], ["../../a", "../../a"], ["/../a", "/a"], ["a/..", "."], ["a/b/", "a/b/"], ["./", "./"], ["//a", "/a"]]),
  ...table("dirname", dirname, [["/a/b/c", "/a/b"], ["/a", "/"], ["a", "."], ["", "."], ["/", "/"], ["/a/b/", "/a"], ["a/b", "a"], ["//a", "//"], ["a//b", "a/"]]),
  ...table("basename", basename, [["/a/b.txt", "b.txt"], ["/a/b.txt", ".txt", "b"], ["/a/", "a"], ["/", ""], ["a.txt", "a.txt", ""], ["b.txt", "txt", "b."], ["x/a.js", "a.js", "a.js"], ["a", "", "a"]]),
  ...table("extname", extname, [["a.txt", ".txt"], ["a", ""], [".bashrc", ""], ["a.", "."], ["a.b.c", ".c"], ["..", ""], ["a/.b", ""], ["a.b/c", ""], [".a.b", ".b"]]),
  ...table("relative", relative, [["/a/b/c", "/a/d", "../../d"], ["/a", "/a/b", "b"], ["/a", "/a", ""], ["/", "/a", "a"], ["/a/b", "/", "../.."], ["/foo/bar", "/foo/barbaz", "../barbaz"]]),
  ...table("resolve", resolve, [["/a", "b", "/a/b"], ["/a", "/b", "/b"], ["/a/b", "../c", "/a/c"], ["/", "/"], ["/a/", "/a"]]),
  ["resolve uses the working directory", () => same(resolve("x"), `${process.cwd()}/x`)],
  ["resolve of nothing is the working directory", () => same(resolve(), process.cwd())],
  ["isAbsolute", () => same([path.isAbsolute("/a"), path.isAbsolute("a"), path.isAbsolute("")], [true, false, false])],
  ["parse of a file", () => same(path.parse("/home/u/f.txt"), { root: "/", dir: "/home/u", base: "f.txt", ext: ".txt", name: "f" })],
  ["parse of a bare name", () => same(path.parse("f"), { root: "", dir: "", base: "f", ext: "", name: "f" })],
  ["parse of the root and of a relative file", () => same([path.parse("/"), path.parse("./a/b.c"), path.parse("/x")], [
    { root: "/", dir: "/", base: "", ext: "", name: "" }, { root: "", dir: "./a", base: "b.c", ext: ".c", name: "b" }, { root: "/", dir: "/", base: "x", ext: "", name: "x" }])],
  ["format", () => same([path.format({ dir: "/a", base: "b.c" }), path.format({ root: "/", name: "b", ext: ".c" }), path.format({ name: "b", ext: "c" })], ["/a/b.c", "/b.c", "b.c"])],
  ["sep and delimiter", () => same([path.sep, path.delimiter], ["/", ":"])],
  ["posix is the same", () => same(posix.join("a", "b"), path.posix.join("a", "b"))],
  ["win32 normalize", () => same(["C:/a/../b", "a/b/..", "C:..", "\\\\s\\h\\x\\..", "/a/", "C:", "C:/"].map(path.win32.normalize), ["C:\\b", "a", "C:..", "\\\\s\\h\\", "\\a\\", "C:.", "C:\\"])],
  ["win32 join and resolve", () => same([path.win32.join("a", "../b", "c"), path.win32.join("C:\\", "x"), path.win32.resolve("C:\\a", "..\\b"), path.win32.resolve("C:\\a", "D:\\b"), path.win32.relative("C:\\a\\b", "C:\\A\\c")], ["b\\c", "C:\\x", "C:\\b", "D:\\b", "..\\c"])],
  ["win32 parts", () => same([path.win32.dirname("C:\\a\\b"), path.win32.basename("C:\\a\\b.txt", ".txt"), path.win32.extname("a/b.c"), path.win32.isAbsolute("C:/"), path.win32.isAbsolute("C:a"), path.win32.parse("C:\\a\\b.c")], ["C:\\a", "b", ".c", true, false, { root: "C:\\", dir: "C:\\a", base: "b.c", ext: ".c", name: "b" }])],
  ["a path must be a string", () => throws(() => join(5), { code: "ERR_INVALID_ARG_TYPE", name: "TypeError", message: 'The "path" argument must be of type string. Received type number (5)' })],
];
