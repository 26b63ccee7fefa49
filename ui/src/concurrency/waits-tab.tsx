import type { JSX } from "preact";
import type { Wait, WaitsView } from "../admin/waits.ts";
import { duration, plural } from "../format.ts";
import type { Loaded } from "../load.ts";
import { Badge, Empty } from "../parts/states.tsx";
import { ResourceLink } from "./resource-link.tsx";
import { WaitGraph } from "./wait-graph.tsx";

/** Clients that wait, as a graph and as a list. */
export function WaitsTab({ loaded }: { readonly loaded: Loaded<WaitsView> }): JSX.Element | null {
  if (loaded.value === undefined) return null;
  const { waits, cycles } = loaded.value;
  if (waits.length === 0) {
    return (
      <div class="list">
        <Empty>
          No client waits. SMB requests that wait for a lock or a break appear here, and clients
          that were rejected because of a lease in the last minute.
        </Empty>
      </div>
    );
  }
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Waiting clients">
      {cycles.map((clients) => (
        <p key={clients.join()} class="problem" role="alert">
          Deadlock: {[...clients, clients[0]].join(" waits for ")}. It ends when one of the requests
          is cancelled or its session is closed.
        </p>
      ))}
      <WaitGraph waits={waits} cycles={cycles} />
      <ul class="waits">
        {waits.map((wait, index) => (
          <WaitItem key={index} wait={wait} />
        ))}
      </ul>
    </div>
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
