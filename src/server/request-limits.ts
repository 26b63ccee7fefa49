import { totalmem } from "node:os";
import { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock } from "../base/world.ts";
import { Connections } from "../http/connections.ts";

/** What the requests of one process may take of it together. */
export interface RequestLimits {
  readonly memory: MemoryBudget;
  readonly connections: Connections;
}

const mebibyte = 1024 * 1024;
/** A thirty-second of the memory, within these. */
const bodyPart = 1 / 32;
const bodyBytesLeast = 32 * mebibyte;
const bodyBytesMost = 256 * mebibyte;
/** About what a connection takes at most before its body is counted. */
const bytesPerConnection = 256 * 1024;
const connectionsLeast = 256;
const connectionsMost = 10_000;

export interface LimitSizes {
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
}

export function limitsOf(memoryBytes: number): LimitSizes {
  const bodies = memoryBytes * bodyPart;
  return {
    bodyBytesMax: Math.round(Math.min(bodyBytesMost, Math.max(bodyBytesLeast, bodies))),
    connectionsMax: Math.round(
      Math.min(connectionsMost, Math.max(connectionsLeast, memoryBytes / bytesPerConnection)),
    ),
  };
}

/** By the memory of the machine, or of the container this process is in. */
export function newRequestLimits(clock: Clock): RequestLimits {
  const constrained = process.constrainedMemory();
  const isConstrained = constrained > 0 && constrained < totalmem();
  const { bodyBytesMax, connectionsMax } = limitsOf(isConstrained ? constrained : totalmem());
  return {
    memory: new MemoryBudget(bodyBytesMax),
    connections: new Connections({ clock, connectionsMax }),
  };
}
