import { Buffer as Named, constants, isUtf8, isAscii } from "node:buffer";
import { StringDecoder } from "string_decoder";
import { same, throws } from "../lib.mjs";

const b = (text, encoding) => Buffer.from(text, encoding);
export default [
  ["the module's Buffer is the global", () => same(Named === Buffer, true)],
  ["from utf8 and back", () => same([b("hé€😀").length, b("hé€😀").toString()], [10, "hé€😀"])],
  ["hex", () => same([b("00ff10", "hex"), b("abc").toString("hex"), b("abxx", "hex"), b("abc", "hex").length], [Uint8Array.of(0, 255, 16), "616263", Uint8Array.of(0xab), 1])],
  ["base64", () => same([b("aGk=", "base64").toString(), b("aGk", "base64").toString(), b("hi?>").toString("base64")], ["hi", "hi", "aGk/Pg=="])],
  ["base64 skips white space", () => same(b("aG\nk =", "base64").toString(), "hi")],
  ["base64url", () => same([b("hi?>").toString("base64url"), b("aGk_Pg", "base64url").toString(), b("aGk_Pg", "base64").toString()], ["aGk_Pg", "hi?>", "hi?>"])],
  ["latin1", () => same([b("é", "latin1"), Buffer.from([0xe9]).toString("latin1"), Buffer.from([0xe9]).toString("binary")], [Uint8Array.of(0xe9), "é", "é"])],
  ["ascii drops the high bit", () => same(Buffer.from([0xe1]).toString("ascii"), "a")],
  ["utf16le", () => same([b("aé", "utf16le"), b("aé", "ucs2").toString("utf-16le")], [Uint8Array.of(97, 0, 233, 0), "aé"])],
  ["malformed utf8 becomes replacement characters", () => same(Buffer.from([0x61, 0xff, 0x62]).toString(), "a\ufffdb")],
  ["a byte order mark is kept", () => same(Buffer.from([0xef, 0xbb, 0xbf, 0x61]).toString().length, 2)],
  ["lone surrogates are replaced", () => same(b("\ud800"), Uint8Array.of(0xef, 0xbf, 0xbd))],
  ["from an array, a buffer and an object", () => same([Buffer.from([1, 256, -1]), Buffer.from(Buffer.from([7])), Buffer.from({ type: "Buffer", data: [1, 2] })], [Uint8Array.of(1, 0, 255), Uint8Array.of(7), Uint8Array.of(1, 2)])],
  ["from an ArrayBuffer shares memory", () => { const a = new ArrayBuffer(4); const x = Buffer.from(a, 1, 2); x[0] = 9; same([new Uint8Array(a)[1], x.length], [9, 2]); }],
  ["from a wrong value", () => throws(() => Buffer.from(5), { code: "ERR_INVALID_ARG_TYPE" })],
  ["alloc and fill", () => same([Buffer.alloc(3), Buffer.alloc(3, 1), Buffer.alloc(5, "ab"), Buffer.alloc(2).fill("ff", "hex")], [Uint8Array.of(0, 0, 0), Uint8Array.of(1, 1, 1), b("ababa"), Uint8Array.of(255, 255)])],
  ["alloc of a bad size", () => throws(() => Buffer.alloc(-1), { code: "ERR_OUT_OF_RANGE", name: "RangeError" })],
  ["concat", () => same([Buffer.concat([b("a"), b("bc")]), Buffer.concat([b("abc")], 2), Buffer.concat([b("a")], 2)], [b("abc"), b("ab"), Uint8Array.of(97, 0)])],
  ["byteLength", () => same([Buffer.byteLength("é"), Buffer.byteLength("aGk=", "base64"), Buffer.byteLength(new ArrayBuffer(3))], [2, 2, 3])],
  ["isBuffer and isEncoding", () => same([Buffer.isBuffer(b("")), Buffer.isBuffer(new Uint8Array()), Buffer.isEncoding("UTF-8"), Buffer.isEncoding("nope")], [true, false, true, false])],
  ["compare and equals", () => same([Buffer.compare(b("a"), b("b")), b("b").compare(b("a")), b("a").equals(b("a")), b("ab").compare(b("xab"), 1)], [-1, 1, true, 0])],
  ["slice and subarray share memory", () => { const x = b("abc"); x.slice(1)[0] = 0x7a; x.subarray(0, 1)[0] = 0x79; same(x.toString(), "yzc"); }],
  ["slice counts from the end", () => same([b("abc").slice(-2).toString(), b("abc").slice(1, -1).toString()], ["bc", "b"])],
  ["indexOf", () => same([b("abcabc").indexOf("c"), b("abcabc").indexOf("ca"), b("abc").indexOf(99), b("abc").indexOf(b("z")), b("abcabc").indexOf("a", 1), b("abcabc").lastIndexOf("ab"), b("abc").indexOf("c", -1)], [2, 2, 2, -1, 3, 3, 2])],
  ["includes", () => same([b("abc").includes("bc"), b("abc").includes("x")], [true, false])],
  ["toString of a part", () => same(b("abcdef").toString("utf8", 1, 3), "bc")],
  ["toJSON", () => same(JSON.stringify(b("a")), '{"type":"Buffer","data":[97]}')],
  ["write", () => { const x = Buffer.alloc(4); same([x.write("abc", 1), x.write("zz", 3), x.toString("latin1")], [3, 1, "\0abz"]); }],
  ["write does not cut characters", () => { const x = Buffer.alloc(4); same([x.write("aé€"), x[3]], [3, 0]); }],
  ["copy", () => { const x = Buffer.alloc(3); same([b("abcd").copy(x, 1, 1), x], [2, Uint8Array.of(0, 98, 99)]); }],
  ["swap16", () => same(b("abcd").swap16().toString(), "badc")],
  ["integers", () => {
    const x = Buffer.alloc(8);
    x.writeUInt16BE(0x1234, 0); x.writeInt32LE(-2, 2);
    same([x.readUInt16BE(0), x.readUint16LE(0), x.readInt32LE(2), x.readUInt8(0), x.readInt8(2), x.readInt16BE(0)], [0x1234, 0x3412, -2, 0x12, -2, 0x1234]);
  }],
  ["big integers and floats", () => {
    const x = Buffer.alloc(16);
    x.writeBigUInt64LE(2n ** 63n, 0); x.writeDoubleBE(1.5, 8);
    same([x.readBigUInt64LE(0), x.readBigInt64LE(0), x.readDoubleBE(8), x.writeFloatLE(0.5, 0), x.readFloatLE(0)], [2n ** 63n, -(2n ** 63n), 1.5, 4, 0.5]);
  }],
  ["integers of any width", () => { const x = Buffer.alloc(6); same([x.writeUIntBE(0x123456789abc, 0, 6), x.readUIntBE(0, 6), x.readUIntLE(0, 3), x.writeIntLE(-5, 0, 3), x.readIntLE(0, 3)], [6, 0x123456789abc, 0x563412, 3, -5]); }],
  ["reading outside", () => throws(() => Buffer.alloc(4).readUInt32LE(1), { code: "ERR_OUT_OF_RANGE", message: 'The value of "offset" is out of range. It must be >= 0 and <= 0. Received 1' })],
  ["writing a value that does not fit", () => throws(() => Buffer.alloc(1).writeUInt8(256), { code: "ERR_OUT_OF_RANGE" })],
  ["unknown encoding", () => throws(() => b("a").toString("nope"), { code: "ERR_UNKNOWN_ENCODING", message: "Unknown encoding: nope" })],
  ["isUtf8 and isAscii", () => same([isUtf8(b("é")), isUtf8(Buffer.from([0xff])), isAscii(b("é")), isAscii(b("e"))], [true, false, false, true])],
  ["constants are there", () => same(constants.MAX_LENGTH > 2 ** 20, true)],
  ["iterates as bytes", () => same([[...b("ab")], [...b("a").entries()]], [[97, 98], [[0, 97]]])],
  ["map keeps the class", () => same(Buffer.isBuffer(b("a").map((x) => x + 1)), true)],
  ["StringDecoder joins characters", () => { const d = new StringDecoder("utf8"); same([d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac])), d.end(Buffer.from([0xe2]))], ["", "€", "\ufffd"]); }],
  ["StringDecoder of base64", () => { const d = new StringDecoder("base64"); same([d.write(b("ab")), d.write(b("cd")), d.end()], ["", "YWJj", "ZA=="]); }],
  ["StringDecoder of utf16", () => { const d = new StringDecoder("utf16le"); same([d.write(Buffer.from([0x61])), d.write(Buffer.from([0, 0x62])), d.end(Buffer.from([0]))], ["", "a", "b"]); }],
];
