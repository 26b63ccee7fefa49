import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytes, count, plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { useLeavingPanel } from "../parts/leaving-panel.ts";
import { useLeaveWarning } from "../parts/leave-warning.ts";
import { useStore } from "../store.ts";
import {
  allTransfers,
  cancelAll,
  cancelTransfer,
  clearFinished,
  overwrite,
  resumeTransfer,
  transferChanges,
  type Transfer,
} from "./transfers.ts";

/** Progress of uploads; stays visible on all pages. */
export function UploadPanel(): JSX.Element | null {
  const changes = useStore(transferChanges);
  const list = useMemo(() => allTransfers().toSorted(byUrgency), [changes]);
  useLeaveWarning(() => allTransfers().some(({ state }) => isActive(state)));
  const [isSmall, setSmall] = useState(false);
  useLeavingPanel(list.length > 0 && list.every(({ state }) => state === "done"), clearFinished);
  if (list.length === 0) return null;
  const inState = (...states: readonly string[]): number =>
    list.filter(({ state }) => states.includes(state)).length;
  const isRunning = list.some(({ state }) => isActive(state));
  const total = list.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  const sent = list.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const stuck = inState("failed", "cancelled", "exists");
  const files = `${count(inState("done"))} of ${plural(list.length, "file")}`;
  return (
    <section class="uploads" aria-label="Uploads">
      <header class="uploads-head">
        <h2>{isRunning ? "Uploading" : stuck === 0 ? "Uploaded" : "Stopped"}</h2>
        <span class="soft uploads-count">
          {files}, {bytes(sent)} of {bytes(total)}
        </span>
        {isRunning && (
          <Button icon="stop" onClick={cancelAll}>
            Cancel
          </Button>
        )}
        {!isRunning && stuck > 0 && <ResumeAll list={list} />}
        <Button
          kind="quiet"
          icon={isSmall ? "expand" : "minimise"}
          label={isSmall ? "Show files" : "Hide files"}
          onClick={() => setSmall(!isSmall)}
        />
        {!isRunning && <Button kind="quiet" icon="close" label="Clear" onClick={clearFinished} />}
      </header>
      <progress
        max={Math.max(1, total)}
        value={total === 0 ? 1 : sent}
        aria-label="Bytes uploaded"
      />
      {!isSmall && (
        <Grid label="Files" columns={columns} rows={rowsOf(list)} keyOf={({ id }) => String(id)} />
      )}
    </section>
  );
}

function isActive(state: Transfer["state"]): boolean {
  return state === "waiting" || state === "running";
}

function ResumeAll({ list }: { readonly list: readonly Transfer[] }): JSX.Element {
  const existing = list.filter(({ state }) => state === "exists");
  const stopped = list.filter(({ state }) => state === "failed" || state === "cancelled");
  return (
    <>
      {stopped.length > 0 && (
        <Button onClick={() => stopped.forEach(({ id }) => resumeTransfer(id))}>
          Resume {count(stopped.length)}
        </Button>
      )}
      {existing.length > 0 && (
        <Button kind="danger" onClick={() => existing.forEach(({ id }) => void overwrite(id))}>
          Overwrite {count(existing.length)}
        </Button>
      )}
    </>
  );
}

const urgency: Readonly<Record<Transfer["state"], number>> = {
  exists: 0,
  failed: 1,
  cancelled: 2,
  running: 3,
  waiting: 4,
  done: 5,
};

function byUrgency(one: Transfer, other: Transfer): number {
  return urgency[one.state] - urgency[other.state] || one.id - other.id;
}

const columns: readonly Column<Transfer>[] = [
  { title: "Name", width: "minmax(0, 1fr)", cell: ({ name }) => name },
  { title: "State", width: "9rem", cell: (transfer) => <State transfer={transfer} /> },
  {
    title: "Actions",
    isTitleHidden: true,
    width: "auto",
    align: "end",
    cell: ({ id, state }) => action(id, state),
  },
];

function State({ transfer }: { readonly transfer: Transfer }): JSX.Element {
  const { state, sentBytes, totalBytes, problem } = transfer;
  if (state === "running") {
    return <progress max={Math.max(1, totalBytes)} value={sentBytes} aria-label="Sent" />;
  }
  if (state === "done") return <span class="soft">{bytes(totalBytes)}</span>;
  return <span class="soft">{problem ?? state}</span>;
}

function action(id: number, state: Transfer["state"]): JSX.Element | null {
  if (isActive(state)) {
    return <Button kind="quiet" icon="close" label="Cancel" onClick={() => cancelTransfer(id)} />;
  }
  if (state === "cancelled" || state === "failed") {
    return <Button onClick={() => resumeTransfer(id)}>Resume</Button>;
  }
  if (state !== "exists") return null;
  return (
    <Button kind="danger" onClick={() => void overwrite(id)}>
      Overwrite
    </Button>
  );
}
