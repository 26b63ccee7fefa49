import type { Workload } from "../workload.ts";
import { append } from "./append.ts";
import { blobRegister } from "./blob-register.ts";
import { delivery } from "./delivery.ts";
import { entityRegister } from "./entity-register.ts";
import { events } from "./events.ts";
import { lease } from "./lease.ts";
import { move } from "./move.ts";
import { smbLock } from "./smb-lock.ts";
import { timedLease } from "./timed-lease.ts";
import { tree } from "./tree.ts";
import { transfer } from "./transfer.ts";

export const workloads: readonly Workload[] = [
  blobRegister,
  entityRegister,
  lease,
  timedLease,
  append,
  transfer,
  delivery,
  move,
  tree,
  smbLock,
  events,
];
