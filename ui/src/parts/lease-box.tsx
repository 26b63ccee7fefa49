import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { lease, type Leased, type LeaseWish } from "../rest/lease.ts";
import { Button } from "./button.tsx";
import { notify, report } from "./notices.tsx";
import { Badge } from "./states.tsx";

export interface LeaseBoxProps {
  readonly leased: Leased;
  readonly state: string;
  readonly onChanged: () => void;
}

const durationSeconds = 60;

export function LeaseBox({ leased, state, onChanged }: LeaseBoxProps): JSX.Element {
  const [ownId, setOwnId] = useState<string>();
  const isHeld = state === "leased" || state === "breaking";
  const act = async (wish: LeaseWish, words: string): Promise<void> => {
    const result = await lease(leased, wish);
    if (!report(result, words) || !result.ok) return;
    if (wish.action === "acquire") setOwnId(result.value);
    if (wish.action === "release" || wish.action === "break") setOwnId(undefined);
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
          onClick={() => void act({ action: "acquire", durationSeconds }, "Lease acquired")}
        >
          Acquire for {durationSeconds} s
        </Button>
      )}
      {ownId !== undefined && isHeld && (
        <>
          <Button onClick={() => void act({ action: "renew", leaseId: ownId }, "Renewed")}>
            Renew
          </Button>
          <Button onClick={() => void act({ action: "release", leaseId: ownId }, "Released")}>
            Release
          </Button>
        </>
      )}
      {isHeld && (
        <Button
          kind="danger"
          onClick={() => {
            if (state === "breaking") notify("good", "It ends at once");
            void act({ action: "break", breakSeconds: 0 }, "Lease broken");
          }}
        >
          Break
        </Button>
      )}
    </div>
  );
}
