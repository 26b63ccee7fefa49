import { totalmem } from "node:os";
import { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock } from "../base/world.ts";
import { Connections } from "../http/connections.ts";

/** Limits shared by all requests of a process. */
export interface RequestLimits {
  readonly memory: MemoryBudget;
  readonly connections: Connections;
}

const mebibyte = 1024 * 1024;
/** Request bodies in memory may take this fraction of it, within the two bounds. */
const bodyMemoryFraction = 1 / 32;
const bodyBytesFloor = 32 * mebibyte;
const bodyBytesCeiling = 256 * mebibyte;
/** Approximate memory of a connection without its body. */
const bytesPerConnection = 256 * 1024;
const connectionsFloor = 256;
const connectionsCeiling = 10_000;

export interface LimitSizes {
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
}

export function limitsOf(memoryBytes: number): LimitSizes {
  const bodies = memoryBytes * bodyMemoryFraction;
  return {
    bodyBytesMax: Math.round(Math.min(bodyBytesCeiling, Math.max(bodyBytesFloor, bodies))),
    connectionsMax: Math.round(
      Math.min(connectionsCeiling, Math.max(connectionsFloor, memoryBytes / bytesPerConnection)),
    ),
  };
}

/** Derived from the memory of the machine, or of the container. */
export function newRequestLimits(clock: Clock): RequestLimits {
  const constrained = process.constrainedMemory();
  const isConstrained = constrained > 0 && constrained < totalmem();
  const { bodyBytesMax, connectionsMax } = limitsOf(isConstrained ? constrained : totalmem());
  return {
    memory: new MemoryBudget(bodyBytesMax),
    connections: new Connections({ clock, connectionsMax }),
  };
}
