import type { FeedEvent } from "../admin/feed/feed-event.ts";
import type { FigureSample, WorkerFigures } from "../admin/views/figures.ts";
import type { Wait } from "../operation/work.ts";
import type { BoundAddress } from "../server/listener.ts";
import type { Options } from "../server/options.ts";
import type { EndpointName } from "../server/service-listener.ts";

/** The messages between the supervisor and its worker processes, on the channel of Node's
 *  `fork`. */

/** The last argument of a worker's program, so that `ps` shows which processes are workers. */
export const workerArgument = "--worker-process";

/** The first message to a worker: with it the worker starts its server. */
export interface WorkerSetup {
  /** The options of the server, with the ports that the supervisor has chosen. */
  readonly options: Options;
  readonly workerCount: number;
  readonly supervisorPid: number;
  readonly isMain: boolean;
  /** Address of the admin listener; undefined until a main worker has reported it. */
  readonly adminAddress: BoundAddress | undefined;
}

/** What a worker reports when it serves all its listeners. */
export interface WorkerListening {
  readonly urls: Readonly<Partial<Record<EndpointName, string>>>;
  readonly adminAddress: BoundAddress | undefined;
}

/** Events of a worker for the request feed; before them it has dropped `missed` others. */
export interface EventsMessage {
  readonly kind: "events";
  readonly events: readonly FeedEvent[];
  readonly missed: number;
}

/** Starts or stops sending the events of the request feed (`admin/feed`), which only the main
 *  worker shows. `reads`: the keys of the objects whose reads are events, too. */
export interface ObserveMessage {
  readonly kind: "observe";
  readonly isOn: boolean;
  readonly reads: readonly string[];
}

/** Messages to a worker. Those with an `id` are answered by a `DoneMessage`. */
export type ToWorker =
  /** Comes with the bound socket of the listener with this title, before `start`. */
  | { readonly kind: "socket"; readonly title: string }
  | { readonly kind: "start"; readonly setup: WorkerSetup }
  /** Serve SMB and the admin listener, too: the main worker has ended. */
  | { readonly kind: "become-main"; readonly id: number }
  | { readonly kind: "sample"; readonly id: number }
  /** Requests the calls of this worker that wait for a lock, a caching grant or a lease. */
  | { readonly kind: "waits"; readonly id: number }
  /** Requests the worker to reread the settings. */
  | { readonly kind: "reload"; readonly id: number }
  /** The answer to the message `figures` of a main worker. */
  | { readonly kind: "figures"; readonly id: number; readonly figures: OtherFigures }
  /** The answer to the message `other-waits` of a main worker. */
  | { readonly kind: "other-waits"; readonly id: number; readonly waits: readonly Wait[] }
  | ObserveMessage
  | EventsMessage
  /** Close this part (0 to 1) of the active connections: clients connect to other workers. */
  | { readonly kind: "close-connections"; readonly part: number }
  | { readonly kind: "stop"; readonly isDrained: boolean };

/** The answer of a worker to a message with an id; its fields depend on the message. */
export interface DoneMessage {
  readonly kind: "done";
  readonly id: number;
  readonly sample?: FigureSample;
  readonly waits?: readonly Wait[];
}

/** Messages of a worker to the supervisor. */
export type FromWorker =
  /** The worker receives messages from now on. */
  | { readonly kind: "ready" }
  /** A line for the standard output of the server, which the supervisor prints. */
  | { readonly kind: "announce"; readonly line: string }
  | { readonly kind: "listening"; readonly listening: WorkerListening }
  | { readonly kind: "refused"; readonly problems: readonly string[] }
  | DoneMessage
  /** The main worker asks for the figures of all other processes. */
  | { readonly kind: "figures"; readonly id: number; readonly own: FigureSample }
  /** The main worker asks for the waiting calls of all other workers. */
  | { readonly kind: "other-waits"; readonly id: number }
  | ObserveMessage
  | EventsMessage
  /** The share of the last period in which the main thread was busy. */
  | { readonly kind: "load"; readonly load: number }
  | { readonly kind: "ending"; readonly sample: FigureSample };

/** The answer to a main worker that asked for figures. */
export interface OtherFigures {
  /** Sum over the other workers, ended workers and the supervisor. */
  readonly others: FigureSample;
  readonly workers: WorkerFigures;
}
