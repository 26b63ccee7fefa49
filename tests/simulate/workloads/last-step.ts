import type { Setting } from "../../verify/workload.ts";

const triesMax = 30;
const pauseSeconds = 2;

/** Repeats a step at the end of a run, when everything works: a node may learn only by it that
 *  others have fenced it, and is then restarted; a server closes idle connections. */
export async function untilDone(
  { pause }: Pick<Setting, "pause">,
  step: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (tries === triesMax) throw error;
      await pause?.(pauseSeconds);
    }
  }
}
