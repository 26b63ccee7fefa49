import { queueService } from "../../src/queue/service.ts";
import { simService, type SimService } from "./sim-service.ts";

/** The queue service on a simulated clock; `sendAs` uses HTTPS, which bearer tokens require. */
export type SimQueue = SimService;

export async function simQueue(seed = 1): Promise<SimQueue> {
  const queue = await simService(queueService, { seed });
  return { ...queue, sendAs: (call) => queue.sendAs(call, true) };
}
