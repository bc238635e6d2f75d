// Expressions whose value is compared as a whole: conversion options, errors, metadata, asynchronous parsing, the
// shape of the API.
const deep = "z.object({a: z.string(), 'b c': z.array(z.object({n: z.number()})), u: z.union([z.string(), z.int()])})";
const broken = `${deep}.safeParse({a: 1, 'b c': [{n: 'x'}, {}], u: 1.5, z: 1}).error`;
const strange = ["z.bigint()", "z.date()", "z.undefined()", "z.void()", "z.symbol()", "z.map(z.string(), z.any())", "z.set(z.any())",
  "z.string().transform(s => s)", "z.custom()", "z.nan()", "z.literal(undefined)", "z.literal(5n)", "z.literal([1n, 2])", "z.function()", "z.instanceof(Date)"];
const targets = ["draft-2020-12", "draft-7", "draft-4", "openapi-3.0"];
const shapes = ["z.tuple([z.string()], z.number())", "z.number().gt(1).lt(5)", "z.literal('a')", "z.literal(null)", "z.string().regex(/a/).regex(/b/)",
  "z.record(z.string(), z.int())", "z.object({a: z.string().nullable()})", "z.tuple([z.string(), z.int()]).optional()", "z.null()",
  "(() => { const s = z.string().meta({id: 'S'}); return z.object({a: s, b: s.describe('d'), c: s.optional()}); })()",
  "(() => { const N = z.object({get n() { return N.optional(); }}); return z.object({top: N}); })()"];
const async = "async s => s.length > 2";

export default [
  ...strange.flatMap((s) => [`z.toJSONSchema(${s})`, `z.toJSONSchema(z.object({a: ${s}}), {unrepresentable: 'any'})`, `z.toJSONSchema(z.object({a: ${s}}), {unrepresentable: 'any', io: 'input'})`]),
  ...targets.flatMap((target) => shapes.map((s) => `z.toJSONSchema(${s}, {target: '${target}'})`)),
  // conversion
  "(() => { const s = z.string().min(1); return z.toJSONSchema(z.object({a: s, b: s}), {reused: 'ref'}); })()",
  "(() => { const s = z.string().min(1); return z.toJSONSchema(z.object({a: s, b: s})); })()",
  "(() => { const s = z.object({x: z.int()}).meta({id: 'X', title: 't'}); return z.toJSONSchema(z.object({a: s, b: z.array(s), c: s.optional()})); })()",
  "(() => { const N = z.object({get n() { return N.optional(); }}); return z.toJSONSchema(N, {cycles: 'throw'}); })()",
  "(() => { const N = z.object({get n() { return z.array(N); }}).meta({id: 'Node'}); return z.toJSONSchema(N); })()",
  "(() => { const N = z.object({get n() { return z.array(N).describe('kids'); }}).describe('node'); return z.toJSONSchema(z.object({a: N, b: N})); })()",
  "z.toJSONSchema(z.object({a: z.date()}), {unrepresentable: 'any', override: c => { if (c.zodSchema._zod.def.type === 'date') { c.jsonSchema.type = 'string'; c.jsonSchema.format = 'date-time'; } }})",
  "(() => { const seen = []; z.toJSONSchema(z.object({a: z.string().describe('x').optional(), b: z.array(z.int())}), {override: c => { seen.push(c.zodSchema._zod.def.type); }}); return seen.sort(); })()",
  "(() => { const r = z.registry(); const s = z.string().register(r, {title: 'mine'}); return z.toJSONSchema(s, {metadata: r}); })()",
  "(() => { const r = z.registry(); const U = z.object({name: z.string()}); const P = z.object({by: U}); r.add(U, {id: 'User'}); r.add(P, {id: 'Post'}); return z.toJSONSchema(r); })()",
  "(() => { const r = z.registry(); const U = z.object({name: z.string()}); r.add(U, {id: 'User'}); return z.toJSONSchema(r, {uri: id => `http://x/${id}.json`}); })()",
  "z.toJSONSchema(z.string().describe('a').min(2))", "z.toJSONSchema(z.string().min(2).describe('a').optional())", "z.toJSONSchema(z.string().describe('in').optional().describe('out'))",
  "z.toJSONSchema(z.string().describe('in').default('x').describe('out').nullable())", "z.toJSONSchema(z.string().describe('d').transform(s => s), {io: 'input'})",
  "z.toJSONSchema(z.string().meta({title: 'T', examples: ['a'], deprecated: true, extra: {a: [1]}}))", "z.toJSONSchema(z.string().meta({title: 'T'}).meta({description: 'D'}))",
  "z.toJSONSchema(z.string().meta({examples: ['a']}).transform(s => s.length), {io: 'input'})", "z.toJSONSchema(z.string().transform(s => s.length).pipe(z.number()).meta({examples: [1]}), {io: 'input'})",
  "z.toJSONSchema(z.object({a: z.string().default('x').describe('d')}).describe('o'), {io: 'input'})", "z.toJSONSchema(z.object({a: z.string().prefault('x')}), {io: 'input'})",
  "z.toJSONSchema(z.object({a: z.string().prefault('x')}))", "z.toJSONSchema(z.object({a: z.string().catch('x')}), {io: 'input'})", "z.toJSONSchema(z.string().catch(c => c.error.message))",
  "z.toJSONSchema(z.stringbool(), {io: 'input'})", "z.toJSONSchema(z.stringbool())", "z.toJSONSchema(z.preprocess(x => x, z.int()), {io: 'input'})", "z.toJSONSchema(z.json())",
  "z.toJSONSchema(z.object({a: z.promise(z.string())}))", "z.toJSONSchema(z.file().min(2).max(9).mime('image/png'))", "z.toJSONSchema(z.file().mime(['image/png', 'image/gif']))",
  "z.toJSONSchema(z.object({a: z.string()}).meta({id: 'root1'}))", "z.toJSONSchema(z.array(z.string()).min(1).max(3).describe('l'))", "z.toJSONSchema(z.union([z.string(), z.null()]).describe('u'))",
  "z.toJSONSchema(z.object({a: z.number().nonnegative().describe('n')}))", "z.toJSONSchema(z.any().describe('whatever'))", "z.toJSONSchema(z.success(z.string()))", "z.toJSONSchema(z.looseObject({a: z.int()}), {io: 'input'})",
  // errors
  `${broken}.issues`, `${broken}.message`, `${broken}.toString()`, `${broken}.name`, `${broken} instanceof Error`, `${broken} instanceof z.ZodError`, `${broken}.format()`, `${broken}.flatten()`, `${broken}.isEmpty`,
  `z.treeifyError(${broken})`, `z.prettifyError(${broken})`, `z.flattenError(${broken})`, `z.formatError(${broken})`, `z.treeifyError(${broken}, i => i.code)`, `z.flattenError(${broken}, i => i.code)`, `z.formatError(${broken}, i => i.code)`,
  "z.prettifyError(z.array(z.object({'x y': z.string(), z: z.tuple([z.int()])})).safeParse([{'x y': 1, z: [1.5]}]).error)", "z.prettifyError(z.string().safeParse(1).error)",
  "z.treeifyError(z.map(z.object({a: z.int()}), z.record(z.string().min(2), z.int())).safeParse(new Map([[{a: 'x'}, {b: 1}]])).error)", "z.formatError(z.object({r: z.record(z.string().min(2), z.int())}).safeParse({r: {a: 1}}).error)",
  "z.string().parse(1)", "z.string().parse('a')", "z.object({n: z.bigint().max(5n)}).parse({n: 6n})", "z.parse(z.string(), 'a')", "z.safeParse(z.string(), 1).success", "new z.ZodError([]).message", "new z.ZodError([{code: 'custom', path: ['a'], message: 'm'}]).issues",
  "(() => { const e = new z.ZodError([]); e.addIssue({code: 'custom', path: [], message: 'm'}); e.addIssues([]); return e.message; })()", "Object.keys(z.string().safeParse(1).error)", "JSON.stringify(z.string().safeParse(1))",
  "z.string().safeParse(1, {error: i => 'per parse ' + i.code}).error.issues", "z.string('own').safeParse(1, {error: () => 'per parse'}).error.issues", "z.string().safeParse(1, {reportInput: true}).error.issues",
  "(() => { z.config({customError: i => i.code === 'invalid_type' ? 'global' : undefined}); try { return [z.string().safeParse(1).error.issues, z.string().min(2).safeParse('').error.issues]; } finally { z.config({customError: undefined}); } })()",
  "(() => { z.config(z.locales.en()); return z.string().safeParse(1).error.issues; })()", "[1, '2', 3].map(z.coerce.number().parse)", "(() => { const {safeParse} = z.string(); return safeParse('a'); })()",
  // asynchronous
  `z.string().refine(${async}).parseAsync('a').catch(e => e.issues)`, `z.string().refine(${async}).safeParseAsync('abc')`, `z.string().refine(${async}).spa('a').then(r => r.success)`, `z.string().refine(${async}).safeParse('a')`,
  "z.object({a: z.string().transform(async s => s.length), b: z.array(z.string().refine(async s => s, 'empty'))}).safeParseAsync({a: 'abc', b: ['x', '']}).then(r => r.success || r.error.issues)", "z.string().transform(async s => s).parse('a')",
  "z.union([z.string().refine(async () => false), z.number()]).parseAsync(5)", "z.promise(z.string()).parseAsync(Promise.resolve('a'))", "z.promise(z.string()).safeParseAsync(Promise.resolve(1)).then(r => r.error.issues)",
  "z.object({a: z.string().transform(async s => s + '!').optional().default('d')}).parseAsync({})", "z.record(z.string(), z.string().refine(async () => true)).parseAsync({a: 'b'})", "z.tuple([z.string().refine(async () => false, 'no')]).safeParseAsync(['a']).then(r => r.error.issues)",
  "z.intersection(z.object({a: z.string().refine(async () => true)}), z.object({b: z.int()})).parseAsync({a: 'x', b: 1})", "z.string().refine(async () => false, 'x').catch('caught').parseAsync('a')", "z.set(z.string().transform(async s => s + 1)).parseAsync(new Set(['a']))",
  "z.map(z.string(), z.string().transform(async s => s + 1)).parseAsync(new Map([['a', 'b']]))", "z.string().transform(async s => s.length).pipe(z.number().min(2)).safeParseAsync('a').then(r => r.error.issues)", "z.preprocess(async x => x, z.string()).parseAsync('a')",
  // encode
  "z.encode(z.codec(z.string(), z.number(), {decode: Number, encode: String}), 5)", "z.decode(z.codec(z.string(), z.number(), {decode: Number, encode: String}), '5')", "z.encode(z.stringbool(), true)", "z.stringbool({truthy: ['ja'], falsy: ['nein']}).encode(false)",
  "z.object({d: z.codec(z.iso.datetime(), z.date(), {decode: s => new Date(s), encode: d => d.toISOString()})}).encode({d: new Date(0)})", "z.string().transform(s => s.length).encode(5)", "z.safeEncode(z.string().min(3), 'a').error.issues", "z.encode(z.number().default(5).min?.call ? z.number() : z.number().default(5), 3)",
  "z.encodeAsync(z.string(), 'a')", "z.safeDecode(z.string(), 'a')", "z.codec(z.string().min(3), z.number().max(5), {decode: Number, encode: String}).safeEncode(9).error.issues", "z.codec(z.string().min(3), z.number(), {decode: Number, encode: String}).safeEncode(9).error.issues",
  // metadata and registries
  "z.string().describe('a').description", "z.string().describe('a').min(2).description", "z.string().describe('a').optional().description", "z.string().meta({title: 't'}).meta()", "z.string().meta()", "z.string().describe('a').meta({title: 't'}).meta()", "z.string().meta({id: 'one9', title: 't'}).describe('x').meta()",
  "(() => { const r = z.registry(); const s = z.string(); r.add(s, {a: 1}); return [r.has(s), r.get(s), r.remove(s).has(s)]; })()", "(() => { const r = z.registry(); const s = z.string().register(r, {a: 1}); return [r.get(s), r.get(s.describe('x')), r.clear().has(s)]; })()", "z.globalRegistry.has(z.string().describe('q'))", "z.globalRegistry.get(z.string().describe('q'))",
  // functions
  "z.function({input: [z.string()], output: z.number()}).implement(s => s.length)('abc')", "z.function({input: [z.string()], output: z.number()}).implement(s => s)('abc')", "z.function({input: [z.string()]}).implement(s => s)(5)", "z.function({input: [z.string()], output: z.int()}).implementAsync(async s => s.length)('ab')", "z.function().input([z.int()]).output(z.string()).implement(String)(5)",
  // the shape of schemas
  ...["z.string()", "z.email()", "z.number()", "z.int()", "z.object({})", "z.array(z.any())", "z.string().optional()", "z.string().default('x')", "z.enum(['a'])", "z.literal('a')", "z.union([z.any()])", "z.discriminatedUnion('a', [z.object({a: z.literal(1)})])", "z.lazy(() => z.any())", "z.string().transform(x => x)", "z.transform(x => x)", "z.record(z.string(), z.any())", "z.custom()", "z.stringbool()", "z.date()", "z.readonly(z.any())"]
    .map((s) => `(() => { const s = ${s}; return [s.type, s.def.type, s._zod.def.type, s._def.type, s instanceof z.ZodType, ['ZodString', 'ZodStringFormat', 'ZodEmail', 'ZodNumber', 'ZodNumberFormat', 'ZodObject', 'ZodArray', 'ZodOptional', 'ZodDefault', 'ZodEnum', 'ZodLiteral', 'ZodUnion', 'ZodDiscriminatedUnion', 'ZodLazy', 'ZodPipe', 'ZodCodec', 'ZodTransform', 'ZodRecord', 'ZodCustom', 'ZodDate', 'ZodReadonly'].filter(n => s instanceof z[n])]; })()`),
  "z.enum(['a', 'b']).options", "z.enum(['a', 'b']).enum.a", "z.literal(['a', 'b']).values", "z.literal('a').value", "z.literal(['a', 'b']).value", "Object.keys(z.object({a: z.any(), b: z.any()}).shape)", "z.string().min(2).max(5).minLength", "z.string().min(2).max(5).maxLength", "z.string().minLength", "z.string().email().format",
  "z.number().min(2).minValue", "z.number().gt(3).min(2).minValue", "z.number().maxValue", "z.number().int().isInt", "z.number().multipleOf(2).isInt", "z.number().isInt", "z.bigint().min(2n).minValue", "z.date().min(new Date(5)).minDate", "z.date().maxDate", "z.number().int().format", "z.int32().format",
  "z.string().isOptional()", "z.string().optional().isOptional()", "z.string().nullable().isNullable()", "z.array(z.string()).element.type", "z.tuple([z.string()]).def.items.length", "z.record(z.string(), z.int()).valueType.type", "z.map(z.string(), z.int()).keyType.type", "z.union([z.string(), z.int()]).options.length", "z.string().transform(x => x).in.type", "z.string().transform(x => x).out.type",
  "z.string()['~standard'].vendor", "z.string()['~standard'].version", "z.string()['~standard'].validate('a')", "z.string()['~standard'].validate(1)", `z.string().refine(${async})['~standard'].validate('abc')`, "z.string().min(2).def.checks.length", "z.string().min(2).def.checks[0]._zod.def.check", "z.string().email().def.checks[0]._zod.def.format", "z.number().min(2).def.checks[0]._zod.def.value", "z.string().optional().def.innerType.type", "z.string().default('x').def.defaultValue", "z.string().default('x')._zod.def.defaultValue",
  // misuse
  "z.object({a: z.string()}).pick({b: true}).shape", "z.object({a: z.string()}).omit({b: true}).shape", "z.object({a: z.string()}).refine(() => true).extend({b: z.int()})", "z.object({a: z.string()}).extend([])", "z.object({a: 5}).parse({a: 1})", "z.enum(['a']).extract(['b'])", "z.literal([])", "z.discriminatedUnion('k', [z.object({k: z.string()})]).parse({k: 'x'})", "z.discriminatedUnion('k', [z.object({k: z.literal('a')}), z.object({k: z.literal('a')})]).parse({k: 'x'})", "z.templateLiteral([z.object({})]).parse('x')", "z.number().multipleOf(2).parse(3n)",
  // defaults are not shared between parses
  "(() => { const s = z.object({a: z.object({n: z.int()}).default({n: 1})}); s.parse({}).a.n = 5; return s.parse({}).a.n; })()", "(() => { const s = z.array(z.int()).default([]); s.parse(undefined).push(1); return s.parse(undefined).length; })()", "Object.isFrozen(z.object({}).readonly().parse({}))",
  "(() => { const input = {a: {b: 1}}; const out = z.object({a: z.object({b: z.int()})}).parse(input); return out !== input && out.a !== input.a; })()", "(() => { const d = new Date(0); return z.date().parse(d) === d; })()",
  "(() => { let n = 0; const s = z.number().default(() => ++n).refine(() => true); return [s.parse(undefined), s.parse(undefined)]; })()",
  "(() => { let n = 0; const s = z.number().default(() => ++n).describe('x'); n = 0; return [s.parse(undefined), s.parse(undefined)]; })()",
  "(() => { const N = z.object({v: z.int(), get b() { return N.optional(); }}).strict().refine(() => true).describe('x'); return N.safeParse({v: 1, b: {v: 2, c: 3}}).error.issues; })()",
  "(() => { const N = z.object({v: z.int(), get b() { return z.array(N).optional(); }}).partial().extend({c: z.string().optional()}).omit({v: true}); return [N.parse({b: [{c: 'x'}]}), z.toJSONSchema(N)]; })()",
  // prototypes stay clean
  "(() => { const out = z.looseObject({}).parse(JSON.parse('{\"a\": 1, \"b\": {\"__proto__\": 1}}')); return [({}).x, Object.keys(out)]; })()", "(() => { z.record(z.string(), z.any()).parse(JSON.parse('{\"__proto__\": {\"polluted\": 1}}')); return ({}).polluted; })()", "(() => { z.object({}).catchall(z.any()).parse(JSON.parse('{\"constructor\": {\"prototype\": {\"polluted\": 1}}}')); return ({}).polluted; })()",
  "Object.getPrototypeOf(z.object({a: z.any()}).parse({a: 1})) === Object.prototype",
  "(() => { const bad = {get a() { throw new Error('no entry'); }}; return z.object({a: z.any()}).parse(bad); })()", "z.object({a: z.string()}).safeParse(Object.create({a: 'inherited'}))",
];
