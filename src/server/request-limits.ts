import { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock } from "../base/world.ts";
import { availableMemoryBytes, shareOfMemory } from "../host/process.ts";
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
/** Bytes of request bodies in memory: 1/32 of it. */
const bodyBytes = {
  memoryBytesPerUnit: 32,
  unitsMax: 256 * mebibyte,
  unitsPerWorkerMin: 32 * mebibyte,
};
/** Connections, each of which takes about 256 KiB without request bodies. */
const connections = {
  memoryBytesPerUnit: 256 * 1024,
  unitsMax: 10_000,
  unitsPerWorkerMin: 256,
};

interface LimitSizes {
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
}

/** The limits of bodies and connections of one of the workers that share the memory. */
export function limitsOf(memoryBytes: number, workerCount = 1): LimitSizes {
  return {
    bodyBytesMax: shareOfMemory(bodyBytes, memoryBytes, workerCount),
    connectionsMax: shareOfMemory(connections, memoryBytes, workerCount),
  };
}

/** The limits for this process, derived from the memory of the machine or of the container. */
export function newRequestLimits(clock: Clock, workerCount = 1): RequestLimits {
  const { bodyBytesMax, connectionsMax } = limitsOf(availableMemoryBytes(), workerCount);
  return {
    memory: new MemoryBudget(bodyBytesMax),
    unsent: new UnsentResponses(clock, bodyBytesMax),
    connections: new Connections({ clock, connectionsMax }),
    rates: new RequestRates(clock, workerCount),
    processing: newProcessingLimits(clock),
  };
}
