import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFeedState } from "../admin/feed.ts";
import { getHealthHistory, type Health, type HealthSample } from "../admin/health.ts";
import { useRepeating } from "../clock.ts";
import { bytes, count, duration } from "../format.ts";
import { useLoad } from "../load.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Choice } from "../parts/field.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { Chart, type Span } from "./chart.tsx";
import { chartOf, charts, perSecond } from "./charts.ts";

const feedFailure = { status: 0, code: "Unreachable", message: "Server not reachable" };

const spans: Readonly<Record<string, Span>> = {
  minutes: { milliseconds: 120_000, words: "2 minutes" },
  hour: { milliseconds: 3_600_000, words: "1 hour" },
};
const choices = Object.entries(spans).map(([id, { words }]) => [id, `Last ${words}`] as const);
const historyMilliseconds = 15_000;
const liveSamplesMax = 120;
const noHistory: readonly HealthSample[] = [];

/** The samples of a period: those of the server's history, then those that the page received. */
function samplesOf(
  history: readonly HealthSample[],
  live: readonly HealthSample[],
  { milliseconds }: Span,
): readonly HealthSample[] {
  const firstLive = live[0]?.now ?? "9";
  const all = [...history.filter(({ now }) => now < firstLive), ...live];
  const end = Date.parse(all.at(-1)?.now ?? "");
  return all.filter(({ now }) => end - Date.parse(now) <= milliseconds);
}

/** Charts and figures of the load of the server. */
export function HealthPage(): JSX.Element {
  const [live, setLive] = useState<readonly Health[]>([]);
  const [chosen, choose] = useState("minutes");
  const history = useLoad(getHealthHistory, []);
  useRepeating(history.reload, historyMilliseconds);
  const { isLive, hasFailed, reopen } = useFeedState(["health"], {
    health: (sample) => {
      setLive((before) => [...before, sample as Health].slice(-liveSamplesMax));
    },
  });
  const last = live.at(-1);
  const span = spans[chosen] ?? { milliseconds: 120_000, words: "2 minutes" };
  const samples = samplesOf(history.value?.samples ?? noHistory, live, span);
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Health" }]} />
        {last !== undefined && <span class="soft">up {duration(last.uptimeSeconds)}</span>}
        <Badge tone={isLive ? "good" : "warn"}>{isLive ? "live" : "connecting"}</Badge>
        <Choice label="Period" value={chosen} options={choices} onChange={choose} />
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Metrics">
          {hasFailed && <Failed what="health figures" failure={feedFailure} onRetry={reopen} />}
          {last === undefined ? (
            !hasFailed && <Waiting />
          ) : (
            <>
              <div class="charts">
                {charts.map((chart) => (
                  <Chart key={chart.title} {...chartOf(chart, samples)} span={span} />
                ))}
              </div>
              <Figures last={last} />
            </>
          )}
        </div>
      </div>
    </>
  );
}

function Figures({ last }: { readonly last: Health }): JSX.Element {
  const { store, content, process, operations } = last;
  const sizes: readonly (readonly [string, string])[] = [
    ["Store", bytes(store.bytes)],
    ["Content", bytes(content.bytes)],
    ["Live content", bytes(content.liveBytes)],
    ["Reclaimable", bytes(content.reclaimableBytes)],
    ["Memory", bytes(process.residentBytes)],
    ["Requests since start", count(last.requests.total)],
  ];
  return (
    <>
      <dl class="figures">
        {sizes
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name} class="figure">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <h2 class="detail-title">Busiest operations</h2>
      <PlainTable
        titles={["Service", "Operation", "Since the start", "Now"]}
        numbers={[2, 3]}
        rows={operations.map((one) => [
          one.service,
          one.operation,
          count(one.total),
          perSecond(one.perSecond),
        ])}
      />
    </>
  );
}
