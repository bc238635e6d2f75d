// What must hold for hostile or merely large input, as [law, holds], and for schemas of two copies of zod
// together.

function outcome(run) {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

function nested(depth) {
  let value = [];
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

function nestedSchema(z, depth) {
  let schema = z.string();
  for (let i = 0; i < depth; i++) schema = z.object({ a: schema });
  return schema;
}

export function robustness(z) {
  const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "a": 1}');
  const loose = z.looseObject({}).parse(hostile);
  const caught = z.object({}).catchall(z.any()).parse(hostile);
  const named = z.object(JSON.parse('{"__proto__": 1}')) && z.record(z.string(), z.any()).parse(hostile);
  const cycle = { name: "a", kids: [] };
  cycle.kids.push(cycle, cycle);
  const Tree = z.object({
    name: z.string(),
    get kids() {
      return z.array(Tree);
    },
  });
  const endless = outcome(() => Tree.parse(cycle));
  const anything = outcome(() => z.object({ kids: z.any() }).parse(cycle));
  const deep = outcome(() => z.json().parse(nested(100_000)));
  const moderate = outcome(() => z.json().safeParse(nested(100)).success);
  const getter = outcome(() =>
    z.object({ a: z.string() }).safeParse({
      get a() {
        throw new TypeError("no entry");
      },
    }),
  );
  const proxy = outcome(() =>
    z.object({ a: z.string() }).safeParse(
      new Proxy(
        {},
        {
          get() {
            throw new TypeError("shut");
          },
        },
      ),
    ),
  );
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]));
  const many = z.strictObject({}).safeParse(wide);
  const list = z.array(z.string()).safeParse(Array.from({ length: 50_000 }, () => 1));
  const path = z.treeifyError(z.record(z.string(), z.int()).safeParse({ constructor: "x" }).error);
  const formatted = z.formatError({
    issues: [{ code: "custom", path: ["__proto__", "polluted"], message: "x" }],
  });
  const flattened = z.flattenError({ issues: [{ code: "custom", path: ["a", "b"], message: "x" }] });
  const schema = nestedSchema(z, 200);
  return [
    [
      "a __proto__ key never becomes a prototype",
      loose.polluted === undefined && caught.polluted === undefined,
    ],
    [
      "nor does it reach Object.prototype",
      {}.polluted === undefined && Object.getPrototypeOf(loose) === Object.prototype,
    ],
    ["a record drops it and keeps the rest", named.polluted === undefined && named.a === 1],
    ["input that contains itself ends in an error", endless.error instanceof Error],
    ["unless nothing looks into it", anything.value.kids === cycle.kids],
    [
      "input nested without measure ends in an error or a result",
      deep.error instanceof Error || "value" in deep,
    ],
    ["input nested by a hundred is parsed", moderate.value === true],
    ["what a getter throws comes out unchanged", getter.error?.message === "no entry"],
    ["what a proxy throws comes out unchanged", proxy.error?.message === "shut"],
    [
      "an error about very many keys can be written",
      many.error.issues[0].keys.length === 50_000 && many.error.message.length > 1,
    ],
    ["very many issues are all kept", list.error.issues.length === 50_000],
    ["errors about keys like constructor are found there", path.properties.constructor.errors.length === 1],
    [
      "formatting an error about __proto__ changes no prototype",
      {}._errors === undefined && {}.polluted === undefined && Object.keys(formatted).includes("__proto__"),
    ],
    ["flattening keeps fields apart", flattened.fieldErrors.a.length === 1],
    ["deep schemas convert", JSON.stringify(z.toJSONSchema(schema)).split('"properties"').length === 201],
  ];
}

/** What `outer` makes of schemas by `inner`. */
export function mixed(outer, inner) {
  const field = inner.string().min(2, "longer").describe("words").optional();
  const schema = outer.object({ a: field, b: outer.array(inner.int()), c: inner.email().default("a@b.co") });
  const union = outer.union([inner.string(), inner.object({ k: inner.literal("x") })]);
  const tagged = outer.discriminatedUnion("k", [
    inner.object({ k: inner.literal("x") }),
    outer.object({ k: outer.literal("y") }),
  ]);
  const read = (given, input) => {
    const result = given.safeParse(input);
    return result.success ? result.data : result.error.issues;
  };
  return [
    read(schema, { b: [1] }),
    read(schema, { a: "x", b: [1.5], c: "no" }),
    read(schema, 5),
    read(union, "a"),
    read(union, 1),
    read(tagged, { k: "x" }),
    read(tagged, { k: "z" }),
    read(
      inner
        .string()
        .transform((s) => s.length)
        .pipe(outer.number()),
      "abc",
    ),
  ];
}
