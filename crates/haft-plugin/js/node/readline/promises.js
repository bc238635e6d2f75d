// `readline/promises`: questions to await.
import { Interface as Plain } from "haft:node/readline";

export class Interface extends Plain {
  question(query, { signal } = {}) {
    return new Promise((done, fail) => {
      signal?.addEventListener("abort", () => fail(signal.reason), { once: true });
      super.question(query, done);
    });
  }
}
export const createInterface = (options, output) => new Interface(options, output);
export default { Interface, createInterface };
