// Holds haft's zod to the recorded answers of the zod package, in any engine and without the package.
import * as recorded from "./answers.mjs";
import { answers, digest, laterAnswers } from "./corpus.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { robustness } from "./robustness.mjs";

/** What is wrong with `z`, as lines to read; none when all is well. */
export async function verify(z) {
  const known = new Set(DIFFERENCES.map((entry) => entry.question));
  const wrong = robustness(z)
    .filter(([, holds]) => !holds)
    .map(([law]) => `does not hold: ${law}`);
  const judge = (given, digests) => {
    if (given.length !== digests.length)
      wrong.push("answers.mjs is not of this corpus; run compare.mjs --write");
    given.forEach(([question, answer], i) => {
      if (digest(answer) === digests[i] || known.has(question)) return;
      wrong.push(
        `${question}\n  answered ${answer}, which is not what zod says; run compare.mjs to see that`,
      );
    });
  };
  judge(await answers(z), recorded.main);
  judge(laterAnswers(z), recorded.later);
  return wrong;
}
