import type { World } from "../base/world.ts";
import type { AccessLog } from "./access-log.ts";
import type { AuditLog } from "./audit-log.ts";
import type { OtherWorkers } from "../admin/admin-context.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import type { OpenStorage } from "../data/storage-backends.ts";
import type { RequestTracer } from "../http/http-service.ts";
import type { Connect } from "../http/source/remote-source.ts";
import type { Bind, BoundAddress, BoundSocket, Handler } from "./listener.ts";

/** The outside of a running server: time, randomness, logs and machine. The command line, `start`
 *  and simulations provide different ones. */
export interface ServerEnvironment extends World {
  /** Prints the start-up lines that tools wait for on standard output. */
  readonly announce: (line: string) => void;
  /** Writes the access log. Undefined if the server has none. */
  readonly accessLog?: AccessLog | undefined;
  /** Writes the audit log. Undefined without the flag `--auditLog`. */
  readonly auditLog?: AuditLog | undefined;
  /** Disk and network of a simulated machine; undefined: those of this machine. */
  readonly machine?: SimulatedMachine | undefined;
  /** Exports traces and metrics; undefined without `--otlp`. */
  readonly telemetry?: Telemetry | undefined;
  /** Undefined without `--workers`: then the server is one process. */
  readonly worker?: WorkerPart | undefined;
}

/** The parts of a machine that a simulation replaces. A simulated server has no admin listener,
 *  which reads files, and no threads. */
interface SimulatedMachine {
  readonly openStorage: OpenStorage;
  /** Binds a listener to an address in the simulated network. */
  readonly bind: Bind;
  /** Opens a connection to the server of a copy source in the simulated network. */
  readonly connect: Connect;
}

export interface Telemetry {
  /** Undefined if traces are disabled. */
  readonly tracer: RequestTracer | undefined;
  /** Number of spans that could not be exported; undefined if traces are disabled. */
  readonly lostSpans: () => number | undefined;
  /** Exports what `sample` returns, in regular intervals. */
  exportFigures(sample: () => FigureSample): void;
  /** Exports the spans and figures that were not sent yet, for at most 2 s. */
  close(): Promise<void>;
}

/** What only a worker process (`--workers`) has: several processes serve the same ports. */
interface WorkerPart {
  readonly workerCount: number;
  readonly supervisorPid: number;
  /** Whether this is the main worker when it starts, which serves SMB and the admin listener. */
  readonly isMain: boolean;
  /** Address of the admin listener; undefined until a main worker has reported it. */
  readonly adminAddress: BoundAddress | undefined;
  /** The bound sockets that this worker serves, by the title of the listener. */
  readonly sockets: ReadonlyMap<string, BoundSocket>;
  /** Called for each request before the handler, so that the worker knows the connections that are
   *  in use (`workers/run-worker.ts`). */
  readonly onRequest: Handler;
  /** Adds the figures of the other processes to those of this one. */
  readonly sampleAll: (own: FigureSample) => Promise<FigureSample>;
  /** Receives the feed events of the other workers. */
  readonly others: OtherWorkers;
}
