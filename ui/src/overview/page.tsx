import type { JSX } from "preact";
import { server } from "../accounts.ts";
import { useFeed } from "../admin/feed.ts";
import { getHealth, type HealthView } from "../admin/health.ts";
import { getLeases, getMessagesInFlight } from "../admin/live.ts";
import type { ServiceName } from "../admin/server.ts";
import { getStored, getWaits, type StoredView } from "../admin/waits.ts";
import { useRepeating } from "../clock.ts";
import { bytes, count, duration } from "../format.ts";
import { Chart } from "../health/chart.tsx";
import { chartOf, chartsOf, milliseconds, perSecond } from "../health/charts.ts";
import { spanChoices, useSamples } from "../health/use-samples.ts";
import { useLoad, type Loaded } from "../load.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Choice } from "../parts/field.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { Badge, Failed } from "../parts/states.tsx";
import { formatRoute, useQueryValue } from "../route.ts";
import { useStore } from "../store.ts";

interface OverviewPageProps {
  readonly account: string;
  /** Whether the login administers the server, whose figures include all accounts. */
  readonly isServerLogin: boolean;
}

const refreshMilliseconds = 2000;
const refusedKind = ["refused", "lease"];
const noListeners = {};

/** Stored data, load, errors, slow operations and waiting clients at a glance. */
export function OverviewPage({ account, isServerLogin }: OverviewPageProps): JSX.Element {
  const stored = useLoad((signal) => getStored(account, signal), [account]);
  const failed = stored.failure;
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Overview" }]} />
        <span class="soft">{account}</span>
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Overview">
          {failed !== undefined && (
            <Failed what="overview" failure={failed} onRetry={stored.reload} />
          )}
          <StoredFigures account={account} stored={stored} />
          <WaitingFigures />
          {isServerLogin && <ServerFigures />}
        </div>
      </div>
    </>
  );
}

type Figure = readonly [
  name: string,
  value: string,
  href?: string | undefined,
  isAlarming?: boolean,
];

function FigureList({ figures }: { readonly figures: readonly Figure[] }): JSX.Element {
  return (
    <dl class="figures">
      {figures
        .filter(([, value]) => value !== "")
        .map(([name, value, href, isAlarming = false]) => (
          <div key={name} class="figure">
            <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
            <dd>{isAlarming ? <Badge tone="bad">{value}</Badge> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

const links: readonly (readonly [ServiceName, string, string])[] = [
  ["blob", "Containers", "blobs"],
  ["table", "Tables", "tables"],
  ["queue", "Queues", "queues"],
  ["file", "Shares", "shares"],
];

interface StoredFiguresProps {
  readonly account: string;
  readonly stored: Loaded<StoredView>;
}

function StoredFigures({ account, stored }: StoredFiguresProps): JSX.Element {
  useRepeating(stored.reload, refreshMilliseconds * 5);
  const figures = links.map(([service, words, page]): Figure => {
    const found = stored.value?.services[service];
    const shown = found === undefined ? "" : `${count(found.count)}${found.isComplete ? "" : "+"}`;
    return [words, shown, formatRoute(page, [account])];
  });
  const { quotaBytes, usedBytes } = stored.value ?? {};
  const quota = quotaBytes === undefined ? [] : [quotaFigure(quotaBytes, usedBytes)];
  return (
    <section class="section">
      <h2>Stored in {account}</h2>
      <FigureList figures={[...figures, ...quota]} />
    </section>
  );
}

/** Part of the quota from which the figure is marked. */
const quotaWarningPart = 0.9;

function quotaFigure(quotaBytes: number, usedBytes: number | undefined): Figure {
  const used = usedBytes === undefined ? "counting" : bytes(usedBytes);
  const isAlmostFull = usedBytes !== undefined && usedBytes >= quotaBytes * quotaWarningPart;
  return ["Used of quota", `${used} of ${bytes(quotaBytes)}`, undefined, isAlmostFull];
}

function WaitingFigures(): JSX.Element {
  const waits = useLoad(getWaits, []);
  const leases = useLoad(getLeases, []);
  const messages = useLoad((signal) => getMessagesInFlight({}, signal), []);
  useRepeating(waits.reload, refreshMilliseconds);
  useRepeating(leases.reload, refreshMilliseconds);
  useRepeating(messages.reload, refreshMilliseconds);
  // Rejections because of a lease are known only while the event feed has a subscriber.
  useFeed(refusedKind, noListeners);
  const view = (tab: string): string => formatRoute("concurrency", [tab]);
  const { waits: found = [], cycles = [] } = waits.value ?? {};
  const held = leases.value?.leases.length;
  const inFlight = messages.value?.messages.length;
  return (
    <section class="section">
      <h2>Concurrency</h2>
      <FigureList
        figures={[
          ["Waiting clients", count(waits.value && found.length), view("waits"), found.length > 0],
          ["Deadlocks", count(waits.value && cycles.length), view("waits"), cycles.length > 0],
          ["Held leases", count(held), view("leases")],
          ["Messages in flight", count(inFlight), view("messages")],
        ]}
      />
    </section>
  );
}

function ServerFigures(): JSX.Element | null {
  const health = useLoad(getHealth, []);
  const info = useStore(server);
  useRepeating(health.reload, refreshMilliseconds);
  const { value, failure } = health;
  if (failure !== undefined) {
    return <Failed what="figures of the server" failure={failure} onRetry={health.reload} />;
  }
  if (value === undefined) return null;
  return (
    <>
      <section class="section">
        <h2>Server</h2>
        <FigureList figures={serverFigures(value, info?.store ?? "")} />
      </section>
      <LoadCharts />
      <section class="section">
        <h2>Slow operations</h2>
        <PlainTable
          titles={["Service", "Operation", "Requests", "Mean", "Longest"]}
          numbers={[2, 3, 4]}
          rows={value.slowOperations.map((one) => [
            one.service,
            one.operation,
            count(one.total),
            milliseconds(one.meanSeconds),
            milliseconds(one.maxSeconds),
          ])}
        />
      </section>
    </>
  );
}

/** The most important charts of the health page. */
function LoadCharts(): JSX.Element {
  const [period, setPeriod] = useQueryValue("period", "ten");
  const { samples, span } = useSamples(period);
  return (
    <section class="section">
      <div class="chart-head">
        <h2>Load</h2>
        <Choice label="Period" value={period} options={spanChoices} onChange={setPeriod} />
      </div>
      <div class="charts">
        {chartsOf("")
          .slice(0, 4)
          .map((chart) => (
            <Chart key={chart.title} {...chartOf(chart, samples)} span={span} />
          ))}
      </div>
    </section>
  );
}

function serverFigures({ requests, store, content, uptimeSeconds }: HealthView, kind: string) {
  const health = formatRoute("health", []);
  const rejected = formatRoute("concurrency", ["refused"]);
  const { perSecond: rate, refusedPerSecond, errorsPerSecond } = requests;
  const figures: readonly Figure[] = [
    ["Requests", perSecond(rate), health],
    ["Rejected", perSecond(refusedPerSecond), rejected],
    ["Errors", perSecond(errorsPerSecond), health, errorsPerSecond > 0],
    ["Records", bytes(store.bytes)],
    ["Content", bytes(content.bytes)],
    ["Live content", bytes(content.liveBytes)],
    ["Store", kind],
    ["Up", duration(uptimeSeconds)],
  ];
  return figures;
}
