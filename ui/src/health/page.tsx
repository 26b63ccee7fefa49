import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFeedState } from "../admin/feed.ts";
import type { HealthView } from "../admin/health.ts";
import { bytes, count, duration } from "../format.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Choice } from "../parts/field.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { useQueryValue } from "../route.ts";
import { Chart } from "./chart.tsx";
import { chartOf, chartsOf, perSecond } from "./charts.ts";
import { spanChoices, useSamples } from "./use-samples.ts";

const feedFailure = { status: 0, code: "Unreachable", message: "Server not reachable" };

/** Charts and figures of the load of the server. */
export function HealthPage(): JSX.Element {
  const [last, setLast] = useState<HealthView>();
  const [service, setService] = useQueryValue("service");
  const [chosen, choose] = useQueryValue("period", "minutes");
  const { samples, span } = useSamples(chosen);
  const { isLive, hasFailed, reopen } = useFeedState(["health"], {
    health: (sample) => setLast(sample as HealthView),
  });
  const services: readonly string[] = Object.keys(last?.services ?? {});
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Health" }]} />
        {last !== undefined && <span class="soft">up {duration(last.uptimeSeconds)}</span>}
        <Badge tone={isLive ? "good" : "warn"}>{isLive ? "live" : "connecting"}</Badge>
        <Choice
          label="Service"
          value={service}
          options={[["", "all"], ...services.map((name) => [name, name] as const)]}
          onChange={setService}
        />
        <Choice label="Period" value={chosen} options={spanChoices} onChange={choose} />
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Metrics">
          {hasFailed && <Failed what="health figures" failure={feedFailure} onRetry={reopen} />}
          {last === undefined ? (
            !hasFailed && <Waiting />
          ) : (
            <>
              <div class="charts">
                {chartsOf(service).map((chart) => (
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

function Figures({ last }: { readonly last: HealthView }): JSX.Element {
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
