import type { OtherWorkers } from "../admin/admin-context.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import type { BoundAddress, Handler } from "./listener.ts";

/** What a process needs to know if it is one of several workers that serve the same ports. */
export interface WorkerPart {
  readonly workerCount: number;
  readonly supervisorPid: number;
  /** Whether this worker serves SMB and the admin listener. */
  readonly isMain: boolean;
  /** Address of the admin listener; undefined until a main worker has reported it. */
  readonly adminAddress: BoundAddress | undefined;
  /** Called with the listener's title immediately before it binds its port. */
  readonly beforeListen: (title: string) => void;
  /** Called for each request before it is handled. */
  readonly onRequest: Handler;
  /** Adds the figures of the other processes to those of this one. */
  readonly sampleAll: (own: FigureSample) => Promise<FigureSample>;
  /** The feed events of the other workers. */
  readonly others: OtherWorkers;
}
