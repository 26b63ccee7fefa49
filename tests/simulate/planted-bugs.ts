import { leaseBlob } from "../../src/blob/write/set-blob-properties.ts";
import { putBlockBlob } from "../../src/blob/write/put-blob.ts";
import { Syncer } from "../../src/content/extents/extent-writer.ts";
import { PinTracker } from "../../src/content/reclaim/pins.ts";
import { getMessages } from "../../src/queue/message/messages.ts";
import type { EngineBatch, EngineWrite } from "../../src/store/engine.ts";
import { BreakNotifier } from "../../src/smb/files/break-notifier.ts";
import { Attempt } from "../../src/store/attempt.ts";
import { TransactionalStore } from "../../src/store/transactional-store.ts";
import { updateEntity } from "../../src/table/entity/change-entity.ts";
import { StoreFile } from "./engine-file.ts";
import { Machine } from "./machine.ts";
import { plantedNodeBugs } from "./nodes/planted-node-bugs.ts";
import { plantedWorkloadBugs } from "./planted-workload-bugs.ts";
import { replace, sometimes, wrapMethod, type Method, type PlantedBug } from "./plant.ts";
import type { SimProcess } from "./sim-process.ts";

interface AnyDecision {
  readonly put?: unknown;
  readonly effects?: readonly unknown[];
}
type AnyDecide = (context: { readonly input: { readonly action?: object } }) => AnyDecision;

function changeDecision(
  operation: object,
  change: (decision: AnyDecision, action: object | undefined) => AnyDecision,
): () => void {
  const { decide } = operation as { readonly decide: AnyDecide };
  const changed: AnyDecide = (context) => change(decide(context), context.input.action);
  return replace(operation, { decide: changed });
}

const heldLeasesTag = 0x04;
/** Commits that a loss of power takes back. */
const unflushedCommits = 4;

function losesIndexEntries(): () => void {
  const isDue = sometimes(3);
  const isKept = ({ key, value }: EngineWrite): boolean =>
    key[0] !== heldLeasesTag || value === undefined || !isDue();
  return wrapMethod(
    StoreFile.prototype,
    "apply",
    (original) =>
      function apply(this: unknown, batch: EngineBatch) {
        const writes = batch.writes.filter(isKept);
        original.call(this, { ...batch, writes } as never);
      },
  );
}

/** Commits are visible and acknowledged; a loss of power takes the last ones back. */
function acknowledgesBeforeFlush(): () => void {
  const before = new WeakMap<StoreFile, StoreFile["state"][]>();
  const unplantApply = wrapMethod(
    StoreFile.prototype,
    "apply",
    (original) =>
      function apply(this: StoreFile, batch: EngineBatch) {
        const states = [...(before.get(this) ?? []), this.state];
        before.set(this, states.slice(-unflushedCommits));
        original.call(this, batch as never);
      } as Method,
  );
  const unplantLoss = wrapMethod(
    StoreFile.prototype,
    "losePower",
    () =>
      function losePower(this: StoreFile) {
        this.state = before.get(this)?.[0] ?? this.state;
        before.delete(this);
      } as Method,
  );
  return () => {
    unplantLoss();
    unplantApply();
  };
}

function runsTransactionsTwice(): () => void {
  const isDue = sometimes(40);
  return wrapMethod(
    TransactionalStore.prototype,
    "transact",
    (original) =>
      async function transact(this: unknown, ...given: never[]) {
        const first = await original.apply(this, given);
        if (isDue()) await original.apply(this, given);
        return first;
      },
  );
}

function takesTimeFromWallClock(): () => void {
  return wrapMethod(
    Machine.prototype,
    "newProcess",
    (original) =>
      function newProcess(this: unknown) {
        const process = original.call(this) as SimProcess;
        const { clock } = process;
        Object.assign(clock, { monotonic: () => clock.wall() });
        return process;
      },
  );
}

/** Bugs of the kinds that such servers have had, in diverse places. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    bug: "commits are not validated against other batches and processes",
    plant: () => {
      const isDue = sometimes(3);
      return wrapMethod(
        Attempt.prototype,
        "isStaleAgainst",
        (original) =>
          function isStaleAgainst(this: unknown, ...given: never[]) {
            return isDue() ? false : original.apply(this, given);
          },
      );
    },
  },
  {
    bug: "conflicts inside a batch are overlooked",
    plant: () => replace(Attempt.prototype, { conflictsWith: () => false }),
  },
  { bug: "commits are acknowledged before the flush", plant: acknowledgesBeforeFlush },
  {
    bug: "records refer to bytes that are not flushed",
    plant: () => replace(Syncer.prototype, { sync: () => Promise.resolve() }),
  },
  {
    bug: "If-Match of an entity is ignored",
    plant: () => replace(updateEntity, { conditions: "none" }),
  },
  {
    bug: "a write without the lease id is accepted",
    plant: () => replace(putBlockBlob, { lease: "none" }),
  },
  {
    bug: "a released lease stays",
    plant: () =>
      changeDecision(leaseBlob, (decision, action) => {
        const isRelease = JSON.stringify(action ?? {}).includes("release");
        const { put: _, ...rest } = decision;
        return isRelease ? rest : decision;
      }),
  },
  { bug: "index entries are lost", plant: losesIndexEntries },
  { bug: "a transaction is applied twice", plant: runsTransactionsTwice },
  { bug: "store time follows the wall clock", plant: takesTimeFromWallClock },
  {
    bug: "content is removed while it is read",
    plant: () => replace(PinTracker.prototype, { horizon: (sequence: number) => sequence }),
  },
  {
    bug: "a received message stays visible",
    plant: () => {
      const isDue = sometimes(10);
      return changeDecision(getMessages, (decision) =>
        isDue() ? { ...decision, effects: [] } : decision,
      );
    },
  },
  {
    bug: "an SMB client is not notified that its lease is broken",
    plant: () => {
      const isDue = sometimes(2);
      return wrapMethod(
        BreakNotifier.prototype,
        "add",
        (original) =>
          function add(this: unknown, ...given: never[]) {
            if (!isDue()) original.apply(this, given);
          },
      );
    },
  },
  ...plantedWorkloadBugs,
  ...plantedNodeBugs,
];
