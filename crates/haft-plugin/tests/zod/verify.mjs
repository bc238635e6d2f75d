// Holds haft's zod to the recorded answers of the zod package, in any engine and without the package.
import recorded from "./answers.mjs";
import { answers, digest } from "./corpus.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { robustness } from "./robustness.mjs";

/** What is wrong with `z`, as lines to read; none when all is well. */
export async function verify(z) {
  const known = new Set(DIFFERENCES.map((entry) => entry.question));
  const given = await answers(z);
  const wrong = robustness(z).filter(([, holds]) => !holds).map(([law]) => `does not hold: ${law}`);
  if (given.length !== recorded.length) wrong.push("answers.mjs is not of this corpus; run compare.mjs --write");
  given.forEach(([question, answer], i) => {
    if (digest(answer) === recorded[i] || known.has(question)) return;
    wrong.push(`${question}\n  answered ${answer}, which is not what zod says; run compare.mjs to see that`);
  });
  return wrong;
}
