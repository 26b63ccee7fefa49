import { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock } from "../base/world.ts";
import { memoryBytesHere } from "../host/process.ts";
import { Connections } from "../http/limits/connections.ts";
import {
  newProcessingLimits,
  UnsentResponses,
  RequestRates,
  type ProcessingLimits,
} from "../http/limits/processing-limits.ts";

/** The limits that keep requests from using up the memory of a process; all listeners of the
 *  process share them. */
export interface RequestLimits {
  readonly memory: MemoryBudget;
  readonly unsent: UnsentResponses;
  readonly connections: Connections;
  readonly rates: RequestRates;
  readonly processing: ProcessingLimits;
}

const mebibyte = 1024 * 1024;
/** The fraction of the memory that request bodies may take, at least `bodyBytesFloor` and at most
 *  `bodyBytesCeiling`. */
const bodyMemoryFraction = 1 / 32;
const bodyBytesFloor = 32 * mebibyte;
const bodyBytesCeiling = 256 * mebibyte;
/** Approximate memory of a connection, without request bodies. */
const bytesPerConnection = 256 * 1024;
const connectionsFloor = 256;
const connectionsCeiling = 10_000;

interface LimitSizes {
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
}

/** The limits of bodies and connections of one process, if `processes` share the memory. */
export function limitsOf(memoryBytes: number, processes = 1): LimitSizes {
  const bodies = Math.min(bodyBytesCeiling, memoryBytes * bodyMemoryFraction);
  const connections = Math.min(connectionsCeiling, memoryBytes / bytesPerConnection);
  return {
    bodyBytesMax: Math.round(Math.max(bodyBytesFloor, bodies / processes)),
    connectionsMax: Math.round(Math.max(connectionsFloor, connections / processes)),
  };
}

/** The limits for this process, derived from the memory of the machine or of the container. */
export function newRequestLimits(clock: Clock, processes = 1): RequestLimits {
  const { bodyBytesMax, connectionsMax } = limitsOf(memoryBytesHere(), processes);
  return {
    memory: new MemoryBudget(bodyBytesMax),
    unsent: new UnsentResponses(clock, bodyBytesMax),
    connections: new Connections({ clock, connectionsMax }),
    rates: new RequestRates(clock, processes),
    processing: newProcessingLimits(clock),
  };
}
