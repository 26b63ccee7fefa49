import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { useFeed, type Refusal } from "../admin/feed.ts";
import { getLeases, getMessagesInFlight, getSmb } from "../admin/live.ts";
import { getRecording } from "../admin/recording.ts";
import { getWaits } from "../admin/waits.ts";
import { useRepeating } from "../clock.ts";
import { count } from "../format.ts";
import { useLoad, type Loaded } from "../load.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Badge, Failed } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { formatRoute, replaceRoute } from "../route.ts";
import { FeedTab } from "./feed-tab.tsx";
import { LeasesTab } from "./leases-tab.tsx";
import { MessagesTab } from "./messages-tab.tsx";
import { SmbTab } from "./smb-tab.tsx";
import { WaitsTab } from "./waits-tab.tsx";

/** Polling interval for views that the request feed does not cover. */
const refreshMilliseconds = 2000;
const refusalsMax = 1000;

export function ConcurrencyPage({ tab }: { readonly tab: string }): JSX.Element {
  const { refusals, add } = useRefusals();
  const [missed, setMissed] = useState(0);
  const leases = useLoad(getLeases, []);
  const smb = useLoad(getSmb, []);
  const waits = useLoad(getWaits, []);
  const messages = useLoad((signal) => getMessagesInFlight({}, signal), []);
  const isLive = useFeed(["refused", "lease", "message"], {
    refused: add,
    lease: leases.reload,
    message: messages.reload,
    missed: ({ count: more }) => setMissed((before) => before + more),
  });
  const refresh = useCallback(() => {
    leases.reload();
    smb.reload();
    waits.reload();
    messages.reload();
  }, []);
  useRepeating(refresh, refreshMilliseconds);
  const views: Readonly<Record<string, { what: string; loaded: Loaded<unknown> }>> = {
    leases: { what: "leases", loaded: leases },
    smb: { what: "SMB sessions", loaded: smb },
    messages: { what: "messages in flight", loaded: messages },
    waits: { what: "waiting clients", loaded: waits },
  };
  const shown = views[tab];
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Concurrency" }]} />
        <Badge tone={isLive ? "good" : "warn"}>{isLive ? "live" : "connecting"}</Badge>
      </div>
      <div class="tab-bar">
        <Tabs
          label="Concurrency views"
          active={tab}
          onChange={(id) => replaceRoute(formatRoute("concurrency", [id]))}
          tabs={[
            ["leases", named("Leases", leases.value?.leases.length)],
            ["smb", named("SMB", smb.value?.files.length)],
            ["messages", named("Messages in flight", messages.value?.messages.length)],
            ["waits", named("Waits", waits.value?.waits.length)],
            ["refused", named("Rejected requests", refusals.length)],
          ]}
        />
      </div>
      <div class="work">
        {shown?.loaded.failure !== undefined && (
          <Failed what={shown.what} failure={shown.loaded.failure} onRetry={shown.loaded.reload} />
        )}
        {tab === "leases" && <LeasesTab loaded={leases} />}
        {tab === "smb" && <SmbTab loaded={smb} />}
        {tab === "messages" && <MessagesTab loaded={messages} />}
        {tab === "waits" && <WaitsTab loaded={waits} />}
        {tab === "refused" && <FeedTab refusals={refusals} missed={missed} />}
      </div>
    </>
  );
}

const historySeconds = 3600;

/** The rejected requests that the server has recorded, and those that happen now. */
function useRefusals() {
  const [live, setLive] = useState<readonly Refusal[]>([]);
  const history = useLoad(
    (signal) => getRecording({ of: undefined, seconds: historySeconds }, signal),
    [],
  );
  const seen = new Set(live.map(({ requestId, at }) => `${requestId} ${at}`));
  const before = (history.value?.events ?? [])
    .filter(({ what, requestId, at }) => what === "refused" && !seen.has(`${requestId} ${at}`))
    .toReversed() as unknown as readonly Refusal[];
  const add = (refusal: Refusal): void =>
    setLive((earlier) => [refusal, ...earlier].slice(0, refusalsMax));
  return { refusals: [...live, ...before].slice(0, refusalsMax), add };
}

function named(words: string, howMany: number | undefined): string {
  return howMany === undefined || howMany === 0 ? words : `${words} (${count(howMany)})`;
}
