import type { JSX } from "preact";
import { lease, type Leased, type LeaseRequest } from "../rest/lease.ts";
import { keepLease, ownLease, ownLeases } from "../rest/own-leases.ts";
import { useStore } from "../store.ts";
import { Button } from "./button.tsx";
import { notify, report } from "./notices.tsx";
import { Badge } from "./states.tsx";

interface LeaseBoxProps {
  readonly leased: Leased;
  readonly state: string;
  readonly onChanged: () => void;
}

const durationSeconds = 60;

export function LeaseBox({ leased, state, onChanged }: LeaseBoxProps): JSX.Element {
  useStore(ownLeases);
  const ownId = ownLease(leased.service, leased.path);
  // A container or share is the second segment of its path.
  const needs = leased.path.length === 2 ? "manage" : "write";
  const isHeld = state === "leased" || state === "breaking";
  const act = async (leaseRequest: LeaseRequest, words: string): Promise<void> => {
    const result = await lease(leased, leaseRequest);
    if (!report(result, words) || !result.ok) return;
    const isHolding = leaseRequest.action === "acquire" || leaseRequest.action === "renew";
    const held = isHolding ? { id: result.value, durationSeconds } : undefined;
    keepLease(leased.service, leased.path, held);
    onChanged();
  };
  return (
    <div class="editor-bar">
      <Badge tone={isHeld ? "warn" : "good"}>{state}</Badge>
      {ownId !== undefined && <code class="wrap">{ownId}</code>}
      <span class="grow" />
      {!isHeld && (
        <Button
          icon="lock"
          needs={needs}
          onClick={() => void act({ action: "acquire", durationSeconds }, "Lease acquired")}
        >
          Acquire for {durationSeconds} s
        </Button>
      )}
      {ownId !== undefined && isHeld && (
        <>
          <Button
            needs={needs}
            onClick={() => void act({ action: "renew", leaseId: ownId }, "Lease renewed")}
          >
            Renew lease
          </Button>
          <Button
            needs={needs}
            onClick={() => void act({ action: "release", leaseId: ownId }, "Lease released")}
          >
            Release lease
          </Button>
        </>
      )}
      {isHeld && (
        <Button
          kind="danger"
          needs={needs}
          onClick={() => {
            if (state === "breaking") notify("good", "The break period ends at once");
            void act({ action: "break", breakSeconds: 0 }, "Lease broken");
          }}
        >
          Break lease
        </Button>
      )}
    </div>
  );
}
