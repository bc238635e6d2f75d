// Where haft's zod answers otherwise than the package on purpose, each with its reason.
export const DIFFERENCES = [
  {
    question: 'z.record(z.string(), z.any()) on input 1: {"constructor": 1}',
    reason:
      "zod 4.1.8 takes a record with a key called constructor for the instance of a class and refuses it",
  },
  {
    question: "z.number().multipleOf(1e-7) on input 1: 1.5e-7",
    reason: "zod loses the digits of a value written with an exponent and accepts it",
  },
  {
    question:
      "(() => { let n = 0; const s = z.number().default(() => ++n).refine(() => true); return [s.parse(undefined), s.parse(undefined)]; })()",
    reason: "zod 4.1.8 calls the function of a default once for all when a check is added after it",
  },
  {
    question: "z.tuple([z.string().optional()]) on input 1: []",
    reason: "zod 4.1.8 wants all items when every one of them may be left out; later versions do not",
  },
  {
    question: "z.toJSONSchema(z.tuple([z.string()], z.number()), {target: 'openapi-3.0'})",
    reason: "zod 4.1.8 counts the schema of further items as an item that must be there",
  },
  {
    question: 'z.base64() on input 6: "a a9"',
    reason: "zod decodes to find out and so overlooks spaces; the pattern in its own JSON Schema has none",
  },
  {
    question: "z.success(z.string()) on input 1: 1",
    reason: "zod 4.1.8 fails on the very input that z.success is there to tell as false",
  },
  {
    question: "z.function({input: [z.string()], output: z.number()}).implement(s => s)('abc')",
    reason: "the error is called ZodError, as everywhere else, and not $ZodError",
  },
  {
    question: "z.function({input: [z.string()]}).implement(s => s)(5)",
    reason: "the error is called ZodError, as everywhere else, and not $ZodError",
  },
];
