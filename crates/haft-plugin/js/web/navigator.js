// `navigator`: what feature detection asks for.
import { platform, system, version } from "haft:ops";

export const navigator = {
  get userAgent() {
    return `haft/${version()}`;
  },
  get hardwareConcurrency() {
    return system().cpus || 1;
  },
  get platform() {
    return platform();
  },
  language: "en-US",
  languages: ["en-US"],
};
