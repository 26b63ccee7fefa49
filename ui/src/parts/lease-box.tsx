import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getLeases, type HeldLease } from "../admin/live.ts";
import { getRecording } from "../admin/recording.ts";
import { duration, moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { done, type Result } from "../result.ts";
import { lease, type Leased, type LeaseRequest } from "../rest/lease.ts";
import { keepLease, ownLease, ownLeases } from "../rest/own-leases.ts";
import { useStore } from "../store.ts";
import { useAbilities } from "./abilities.ts";
import { Button } from "./button.tsx";
import { Facts } from "./detail.tsx";
import { Field } from "./field.tsx";
import { textIn } from "./form-values.ts";
import { report } from "./notices.tsx";
import { Badge, Problem } from "./states.tsx";

interface LeaseBoxProps {
  readonly leased: Leased;
  readonly state: string;
  readonly onChanged: () => void;
}

const durationDefault = 60;
const breakSecondsMax = 60;

/** The lease of a blob, container, file or share: who holds it, and what can be done with it. */
export function LeaseBox({ leased, state, onChanged }: LeaseBoxProps): JSX.Element {
  useStore(ownLeases);
  const ownId = ownLease(leased.service, leased.path);
  const isHeld = state === "leased" || state === "breaking";
  const mayChange = useAbilities()[needOf(leased)];
  const act = async (leaseRequest: LeaseRequest, words: string): Promise<void> => {
    const result = await lease(leased, leaseRequest);
    if (!report(result, words) || !result.ok) return;
    const { action, durationSeconds = durationDefault } = leaseRequest;
    const isHolding = action === "acquire" || action === "renew";
    keepLease(
      leased.service,
      leased.path,
      isHolding ? { id: result.value, durationSeconds } : undefined,
    );
    onChanged();
  };
  return (
    <>
      <div class="editor-bar">
        <Badge tone={isHeld ? "warn" : "good"}>{state}</Badge>
        {ownId !== undefined && <code class="wrap">{ownId}</code>}
      </div>
      {isHeld && <Holder leased={leased} ownId={ownId} state={state} />}
      {isHeld && mayChange && <HeldActions key={ownId} leased={leased} ownId={ownId} onAct={act} />}
      {!isHeld && mayChange && <AcquireForm leased={leased} onAct={act} />}
    </>
  );
}

interface ActionProps {
  readonly leased: Leased;
  readonly onAct: (leaseRequest: LeaseRequest, words: string) => Promise<void>;
}

/** A container or share is the second segment of its path. */
function needOf({ path }: Leased): "manage" | "write" {
  return path.length === 2 ? "manage" : "write";
}

/** Leases of files have no end. */
function isEndless({ service, path }: Leased): boolean {
  return service === "file" && path.length === 3;
}

function AcquireForm({ leased, onAct }: ActionProps): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const seconds = isEndless(leased) ? -1 : Number(textIn(values, "seconds"));
    const isAllowed = seconds === -1 || (seconds >= 15 && seconds <= 60);
    setProblem(isAllowed ? undefined : "Duration: 15 to 60 seconds, or -1 for a lease without end");
    if (!isAllowed) return;
    const proposedId = textIn(values, "id").trim() || undefined;
    void onAct({ action: "acquire", durationSeconds: seconds, proposedId }, "Lease acquired");
  };
  return (
    <form class="lease-form" onSubmit={submit}>
      <div class="row">
        {!isEndless(leased) && (
          <Field
            label="Duration (seconds; -1: without end)"
            name="seconds"
            type="number"
            value={String(durationDefault)}
          />
        )}
        <Field label="Lease id (default random)" name="id" />
        <Button type="submit" icon="lock" needs={needOf(leased)}>
          Acquire lease
        </Button>
      </div>
      <Problem text={problem} />
    </form>
  );
}

interface HeldActionsProps extends ActionProps {
  readonly ownId: string | undefined;
}

function HeldActions({ leased, ownId, onAct }: HeldActionsProps): JSX.Element {
  const [id, setId] = useState(ownId ?? "");
  const [period, setPeriod] = useState("0");
  const needs = needOf(leased);
  const act = (action: "renew" | "release", words: string): void =>
    void onAct({ action, leaseId: id.trim() }, words);
  const breakSeconds = Math.min(breakSecondsMax, Math.max(0, Number(period) || 0));
  return (
    <div class="lease-form">
      <div class="row">
        <Field label="Lease id" name="leaseId" value={ownId ?? ""} onInput={setId} />
        <Button
          needs={needs}
          disabled={id.trim() === ""}
          onClick={() => act("renew", "Lease renewed")}
        >
          Renew lease
        </Button>
        <Button
          needs={needs}
          disabled={id.trim() === ""}
          onClick={() => act("release", "Lease released")}
        >
          Release lease
        </Button>
      </div>
      <div class="row">
        {!isEndless(leased) && (
          <Field
            label="Break period (seconds)"
            name="period"
            type="number"
            value={period}
            onInput={setPeriod}
          />
        )}
        <Button
          kind="danger"
          needs={needs}
          onClick={() =>
            void onAct(
              { action: "break", breakSeconds: isEndless(leased) ? undefined : breakSeconds },
              breakSeconds === 0 ? "Lease broken" : `Lease ends in ${breakSeconds} s`,
            )
          }
        >
          Break lease
        </Button>
      </div>
    </div>
  );
}

interface HolderProps {
  readonly leased: Leased;
  readonly ownId: string | undefined;
  readonly state: string;
}

/** Who holds the lease, and until when. */
function Holder({ leased, ownId, state }: HolderProps): JSX.Element | null {
  const loaded = useLoad(
    (signal) => findHolder(leased, signal),
    [leased.path.join("/"), state, ownId],
  );
  if (loaded.value === undefined) return null;
  const { held, client } = loaded.value;
  const end = held.breaksAt ?? held.expiresAt;
  const left = held.secondsLeft === null ? "" : `, ${duration(held.secondsLeft)} left`;
  return (
    <Facts
      facts={[
        ["Held with", <code>{held.id}</code>],
        ["By", held.id === ownId ? "this page" : (client ?? "a client that was not recorded")],
        ["Until", end === undefined ? "it is released" : `${moment(end)}${left}`],
      ]}
    />
  );
}

interface Found {
  readonly held: HeldLease;
  readonly client: string | undefined;
}

async function findHolder(
  { service, path }: Leased,
  signal: AbortSignal,
): Promise<Result<Found | undefined>> {
  const [account, container, name] = path;
  const leases = await getLeases(signal);
  if (!leases.ok) return leases;
  const held = leases.value.leases.find(
    (one) =>
      one.service === service &&
      one.account === account &&
      one.container === container &&
      (one.path ?? "") === (name ?? ""),
  );
  if (held === undefined) return done(undefined);
  const of = { service, account, container, path: name };
  const recorded = await getRecording({ of, seconds: 3600 }, signal);
  const events = recorded.ok ? recorded.value.events : [];
  const { caller } = events.findLast(({ id }) => id === held.id) ?? {};
  const client = caller && [caller.name ?? caller.address, caller.agent].filter(Boolean).join(", ");
  return done({ held, client });
}
