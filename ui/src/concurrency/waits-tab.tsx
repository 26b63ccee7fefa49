import type { JSX } from "preact";
import { getRecording, type WaitSpan } from "../admin/recording.ts";
import type { Wait, WaitsView } from "../admin/waits.ts";
import { useRepeating } from "../clock.ts";
import { duration, moment, plural } from "../format.ts";
import { useLoad, type Loaded } from "../load.ts";
import { Choice } from "../parts/field.tsx";
import { Badge, Empty, Failed, Waiting } from "../parts/states.tsx";
import { useQueryValue } from "../route.ts";
import { ResourceLink } from "./resource-link.tsx";
import { WaitGraph, type WaitEdge } from "./wait-graph.tsx";

const periods = [
  ["now", "now"],
  ["300", "in the last 5 minutes"],
  ["1800", "in the last 30 minutes"],
] as const;

/** Clients that wait now, or have waited in the last minutes, as a graph and as a list. */
export function WaitsTab({ loaded }: { readonly loaded: Loaded<WaitsView> }): JSX.Element {
  const [period, setPeriod] = useQueryValue("period", "now");
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Waiting clients">
      <div class="lane-controls">
        <Choice label="Clients that wait" value={period} options={periods} onChange={setPeriod} />
      </div>
      {period === "now" ? (
        <PresentWaits loaded={loaded} />
      ) : (
        <PastWaits key={period} seconds={Number(period) || 300} />
      )}
    </div>
  );
}

function PresentWaits({ loaded }: { readonly loaded: Loaded<WaitsView> }): JSX.Element | null {
  if (loaded.value === undefined) return null;
  const { waits, cycles } = loaded.value;
  if (waits.length === 0) {
    return (
      <Empty>
        No client waits. SMB requests that wait for a lock or a break appear here, and clients that
        were rejected because of a lease in the last minute.
      </Empty>
    );
  }
  const stuck = new Set(cycles.flat());
  const edges = waits.flatMap(({ waiter, holders }) =>
    holders.map(({ client }) => ({
      from: waiter.client,
      to: client,
      isStuck: stuck.has(waiter.client) && stuck.has(client),
    })),
  );
  return (
    <>
      {cycles.map((clients) => (
        <p key={clients.join()} class="problem" role="alert">
          Deadlock: {[...clients, clients[0]].join(" waits for ")}. It ends when one of the requests
          is cancelled or its session is closed.
        </p>
      ))}
      <WaitGraph edges={edges} />
      <ul class="waits">
        {waits.map((wait, index) => (
          <WaitItem key={index} wait={wait} />
        ))}
      </ul>
    </>
  );
}

const refreshMilliseconds = 2000;

/** Waits that the server has sampled once a second while a page of the explorer was open. */
function PastWaits({ seconds }: { readonly seconds: number }): JSX.Element {
  const loaded = useLoad((signal) => getRecording({ of: undefined, seconds }, signal), [seconds]);
  useRepeating(loaded.reload, refreshMilliseconds);
  if (loaded.failure !== undefined) {
    return <Failed what="waits" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  const { waits } = loaded.value;
  if (waits.length === 0) return <Empty>No client has waited.</Empty>;
  return (
    <>
      <WaitGraph edges={edgesOf(waits)} />
      <ul class="waits">
        {waits.map((wait, index) => (
          <PastWait key={index} wait={wait} />
        ))}
      </ul>
    </>
  );
}

/** One edge for all waits of a client for another. */
function edgesOf(waits: readonly WaitSpan[]): readonly WaitEdge[] {
  const edges = new Map<string, WaitEdge>();
  for (const { waiter, holder, isDeadlock } of waits) {
    const key = `${waiter} ${holder}`;
    const isStuck = isDeadlock || edges.get(key)?.isStuck === true;
    edges.set(key, { from: waiter, to: holder, isStuck });
  }
  return [...edges.values()];
}

function PastWait({ wait }: { readonly wait: WaitSpan }): JSX.Element {
  const { waiter, holder, operation, kind, what, from, to, isDeadlock } = wait;
  const end = to === undefined ? "until now" : `to ${moment(to).slice(11)}`;
  return (
    <li class={isDeadlock ? "card stuck" : "card"}>
      <span>
        <strong>{waiter}</strong> {operation}
      </span>
      <ResourceLink resource={wait} />
      <span>
        <Badge tone="warn">{kinds[kind]}</Badge> {moment(from).slice(11)} {end}
      </span>
      {isDeadlock && <Badge tone="bad">deadlock</Badge>}
      <span class="soft">
        held by {holder === "" ? "an unknown client" : holder}: {what}
      </span>
    </li>
  );
}

const kinds = { lock: "byte-range lock", break: "caching break", lease: "lease" } as const;

function WaitItem({ wait }: { readonly wait: Wait }): JSX.Element {
  const { kind, waiter, holders, seconds, attempts } = wait;
  return (
    <li class="card">
      <span>
        <strong>{waiter.client}</strong> {waiter.operation}
      </span>
      <ResourceLink resource={wait} />
      <span>
        <Badge tone="warn">{kinds[kind]}</Badge>{" "}
        {attempts === undefined
          ? `waits for ${duration(seconds)}`
          : `${plural(attempts, "rejected attempt")} in the last ${duration(seconds)}`}
      </span>
      {holders.map(({ client, what, open }) => (
        <span key={`${open ?? ""}${what}`} class="soft">
          held by {client === "" ? "an unknown client" : client}: {what}
        </span>
      ))}
    </li>
  );
}
