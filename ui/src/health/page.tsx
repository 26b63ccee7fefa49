import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFeed } from "../admin/feed.ts";
import type { Health } from "../admin/health.ts";
import { bytes, count, duration } from "../format.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Badge, Waiting } from "../parts/states.tsx";
import { Chart, type Line } from "./chart.tsx";

const samplesMax = 120;

export function HealthPage(): JSX.Element {
  const [samples, setSamples] = useState<readonly Health[]>([]);
  const isLive = useFeed(["health"], {
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
        <div class="scroll" tabIndex={0} role="region" aria-label="Figures">
          {last === undefined ? (
            <Waiting />
          ) : (
            <>
              <Charts samples={samples} />
              <Figures last={last} />
            </>
          )}
        </div>
      </div>
    </>
  );
}

const perSecond = (value: number): string => `${count(Math.round(value * 10) / 10)}/s`;
const bytesPerSecond = (value: number): string => `${bytes(value)}/s`;
const milliseconds = (value: number): string =>
  `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms`;
const plainNumber = (value: number): string => count(Math.round(value * 10) / 10);
const percent = (value: number): string => `${value.toFixed(0)} %`;

function line(name: string, tone: Line["tone"], values: readonly (number | undefined)[]): Line {
  return { name, tone, values };
}

/** The slowest of the services, since that is what somebody waits for. */
function latency(sample: Health, which: "p50" | "p99"): number | undefined {
  const busy = Object.values(sample.services).filter((one) => one.perSecond > 0);
  const values = busy.flatMap(({ latencySeconds }) => latencySeconds?.[which] ?? []);
  return values.length === 0 ? 0 : Math.max(...values);
}

function Charts({ samples }: { readonly samples: readonly Health[] }): JSX.Element {
  const each = (read: (sample: Health) => number | undefined) => samples.map(read);
  const charts: readonly (readonly [string, (value: number) => string, readonly Line[]])[] = [
    [
      "Requests",
      perSecond,
      [
        line(
          "all",
          "accent",
          each(({ requests }) => requests.perSecond),
        ),
        line(
          "refused",
          "warn",
          each(({ requests }) => requests.refusedPerSecond),
        ),
        line(
          "errors",
          "bad",
          each(({ requests }) => requests.errorsPerSecond),
        ),
      ],
    ],
    [
      "Latency",
      milliseconds,
      [
        line(
          "median",
          "accent",
          each((sample) => latency(sample, "p50")),
        ),
        line(
          "99 %",
          "warn",
          each((sample) => latency(sample, "p99")),
        ),
      ],
    ],
    [
      "Commits",
      perSecond,
      [
        line(
          "transactions",
          "accent",
          each(({ store }) => store.perSecond),
        ),
        line(
          "conflicts",
          "warn",
          each(({ store }) => store.conflictsPerSecond),
        ),
      ],
    ],
    [
      "Commits in one flush",
      plainNumber,
      [
        line(
          "mean",
          "accent",
          each(({ store }) => store.batch?.mean),
        ),
        line(
          "99 %",
          "warn",
          each(({ store }) => store.batch?.p99),
        ),
      ],
    ],
    [
      "Traffic",
      bytesPerSecond,
      [
        line(
          "received",
          "accent",
          each(({ content }) => content.receivedBytesPerSecond),
        ),
        line(
          "sent",
          "soft",
          each(({ content }) => content.sentBytesPerSecond),
        ),
      ],
    ],
    [
      "Processor",
      percent,
      [
        line(
          "one core is 100 %",
          "accent",
          each((s) => s.process.cpuPercent),
        ),
      ],
    ],
  ];
  return (
    <div class="charts">
      {charts.map(([title, format, lines]) => (
        <Chart key={title} title={title} format={format} lines={lines} samplesMax={samplesMax} />
      ))}
    </div>
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
    ["Requests so far", count(last.requests.total)],
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
