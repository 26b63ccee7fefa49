import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFeedState } from "../admin/feed.ts";
import type { Health } from "../admin/health.ts";
import { bytes, count, duration } from "../format.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { Chart } from "./chart.tsx";
import { chartOf, charts, perSecond } from "./charts.ts";

/** Samples in the charts, one per second. */
const samplesMax = 120;
const feedFailure = { status: 0, code: "Unreachable", message: "Server not reachable" };

/** Charts and figures of the load of the server. */
export function HealthPage(): JSX.Element {
  const [samples, setSamples] = useState<readonly Health[]>([]);
  const { isLive, hasFailed, reopen } = useFeedState(["health"], {
    health: (sample) => {
      setSamples((before) => [...before, sample as Health].slice(-samplesMax));
    },
  });
  const last = samples.at(-1);
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Health" }]} />
        {last !== undefined && <span class="soft">up {duration(last.uptimeSeconds)}</span>}
        <Badge tone={isLive ? "good" : "warn"}>{isLive ? "live" : "connecting"}</Badge>
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
                  <Chart key={chart.title} {...chartOf(chart, samples)} samplesMax={samplesMax} />
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
      <div class="table-wrap">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">Operation</th>
              <th scope="col" class="end">
                Since the start
              </th>
              <th scope="col" class="end">
                Now
              </th>
            </tr>
          </thead>
          <tbody>
            {operations.map((one) => (
              <tr key={`${one.service} ${one.operation}`}>
                <td>{one.service}</td>
                <td>{one.operation}</td>
                <td class="end">{count(one.total)}</td>
                <td class="end">{perSecond(one.perSecond)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
