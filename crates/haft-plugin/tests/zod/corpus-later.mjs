// Kinds and methods that came to zod after the version @opencode-ai/plugin brings. Rows as in corpus-values.mjs.
export default [
  ["z.xor([z.string(), z.literal('a'), z.number().min(3)])", "'b', 'a', 5, 1, true"],
  ["z.xor([z.object({a: z.string()}), z.object({b: z.number()})], 'one of them')", "{a: 'x'}, {b: 1}, {a: 'x', b: 1}, {}"],
  ["z.looseRecord(z.string().regex(/^x/), z.number())", "{x: 1, b: 'q'}, {x: 'a'}, {}"],
  ["z.mac()", "'00:1a:2b:3c:4d:5e', '00:1A:2B:3C:4D:5E', '00:1a:2B:3c:4d:5e', 'x', 1"],
  ["z.mac({delimiter: '-'})", "'00-1a-2b-3c-4d-5e', '00:1a:2b:3c:4d:5e'"],
  ["z.object({a: z.string().exactOptional(), b: z.int()})", "{b: 1}, {a: 'x', b: 1}, {a: undefined, b: 1}, {a: 1, b: 1}"],
  ["z.string().exactOptional()", "undefined, 'x', 1"], ["z.string().slugify()", "'  Hello, W\\u00f6rld! foo_bar--baz ', 1"],
  ["z.string().apply(s => s.min(2))", "'a', 'ab'"], ["z.string().check(z.describe('d'), z.meta({title: 't'}))", "'a'"],
];
