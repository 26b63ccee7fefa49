import type { JSX } from "preact";
import { breakLease, type HeldLease, type LeasesView } from "../admin/live.ts";
import type { Loaded } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { report } from "../parts/notices.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import { useAbilitiesIn } from "../permissions.ts";
import { ResourceLink } from "./resource-link.tsx";
import { TimeLeft } from "./time-left.tsx";

/** Lists the leases that are held, with a button to break each. */
export function LeasesTab({ loaded }: { readonly loaded: Loaded<LeasesView> }): JSX.Element | null {
  if (loaded.value === undefined) return null;
  const { leases } = loaded.value;
  if (leases.length === 0) {
    return (
      <div class="list">
        <Empty>No leases. A lease appears here as soon as a client acquires it.</Empty>
      </div>
    );
  }
  const end = async (held: HeldLease): Promise<void> => {
    if (report(await breakLease(held), "Lease broken")) loaded.reload();
  };
  return (
    <div class="list">
      <Grid
        label="Held leases"
        rows={rowsOf(leases)}
        columns={columnsOf((held) => void end(held))}
        keyOf={({ kind, account, container, path }) => `${kind}/${account}/${container}/${path}`}
      />
    </div>
  );
}

interface BreakButtonProps {
  readonly held: HeldLease;
  readonly onBreak: (held: HeldLease) => void;
}

/** The view lists the leases of all accounts and containers that the login may read. */
function BreakButton({ held, onBreak }: BreakButtonProps): JSX.Element | null {
  const { kind, account, service, container } = held;
  const { write, manage } = useAbilitiesIn(account, service, container);
  if (!(kind === "container" || kind === "share" ? manage : write)) return null;
  return (
    <Button kind="danger" onClick={() => onBreak(held)}>
      Break lease
    </Button>
  );
}

function columnsOf(onBreak: (held: HeldLease) => void): readonly Column<HeldLease>[] {
  return [
    {
      title: "What",
      width: "minmax(8rem, 2fr)",
      cell: (held) => (
        <>
          <Badge>{held.kind}</Badge> <ResourceLink resource={held} />
        </>
      ),
    },
    {
      title: "Account",
      width: "minmax(0, 1fr)",
      isMinor: true,
      cell: ({ account }) => <span class="soft">{account}</span>,
    },
    {
      title: "Lease id",
      width: "minmax(0, 1.5fr)",
      isMinor: true,
      cell: ({ id }) => <code>{id}</code>,
    },
    {
      title: "State",
      width: "6rem",
      isMinor: true,
      cell: ({ state }) => <Badge tone={state === "breaking" ? "bad" : "warn"}>{state}</Badge>,
    },
    {
      title: "Time left",
      width: "minmax(4.5rem, 11rem)",
      cell: ({ secondsLeft, durationSeconds }) => (
        <TimeLeft
          secondsLeft={secondsLeft}
          {...(durationSeconds > 0 ? { ofSeconds: durationSeconds } : {})}
        />
      ),
    },
    {
      title: "Actions",
      isTitleHidden: true,
      width: "7rem",
      align: "end",
      cell: (held) => <BreakButton held={held} onBreak={onBreak} />,
    },
  ];
}
