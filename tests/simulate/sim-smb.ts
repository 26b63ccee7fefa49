import { WireClient } from "../smb-wire/wire-client.ts";
import type { Random } from "../verify/random.ts";
import { NeverSent } from "../verify/recorder.ts";
import type { SmbTransport } from "../verify/smb-connection.ts";
import { ClientSocket } from "./client-socket.ts";
import type { Network } from "./network.ts";
import { microsecondsPerSecond, type SimProcess } from "./sim-process.ts";

const title = "SMB endpoint";
const answerMicrosecondsMax = 10 * microsecondsPerSecond;

/** SMB clients of the simulated servers, over connections in memory. */
export function simSmb(
  network: Network,
  random: Random,
  pick: () => SimProcess | undefined,
): SmbTransport {
  const { scheduler } = network.options;
  const bytes = (length: number): Buffer =>
    Buffer.from(Array.from({ length }, () => random.below(256)));
  return {
    async connect() {
      const process = pick();
      const socket = process && ClientSocket.open(network, process, title);
      if (socket === undefined) {
        await scheduler.sleep(network.latency());
        throw new NeverSent();
      }
      return new WireClient(socket, bytes);
    },
    inTime: (work) =>
      new Promise((resolve, reject) => {
        const late = (): void => reject(new Error("no answer in time"));
        const cancel = scheduler.schedule(answerMicrosecondsMax, late);
        void work.then(resolve, reject).finally(cancel);
      }),
  };
}
