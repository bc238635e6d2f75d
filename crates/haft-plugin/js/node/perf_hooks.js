// `perf_hooks`: the clock and its marks.
import { performance } from "haft:web/performance";

export { performance };
export const constants = {};
export default { constants, performance };
