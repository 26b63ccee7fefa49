// Grafana dashboards, generated: a panel is a title, a unit and its queries. `npm run docs` writes
// them to deploy/prometheus/dashboards.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../prepare.mjs";

const folder = join(root, "deploy", "prometheus", "dashboards");
/** Chosen in the dashboard: the servers, and the time over which rates are computed. */
const on = 'instance=~"$instance"';
const rate = (metric, labels = "") =>
  `rate(${metric}{${labels === "" ? on : `${labels},${on}`}}[$__rate_interval])`;
const quantile = (part, metric, by) =>
  `histogram_quantile(${part}, sum by (${by}) (${rate(`${metric}_bucket`)}))`;

const overview = {
  uid: "etagere-overview",
  title: "Etagere / Overview",
  panels: [
    panel("Servers that respond", "none", [["sum(up * on (instance) etagere_build_info)", "up"]]),
    panel("Versions", "none", [[`count by (version) (etagere_build_info{${on}})`, "{{version}}"]]),
    panel("Requests by service", "reqps", [
      [`sum by (service) (${rate("etagere_requests_total")})`, "{{service}}"],
    ]),
    panel("Responses by status", "reqps", [
      [`sum by (status) (${rate("etagere_requests_total")})`, "{{status}}"],
    ]),
    panel("Part of requests that failed (5xx)", "percentunit", [
      [
        `(sum(${rate("etagere_requests_total", 'status=~"5.."')}) or vector(0)) / ` +
          `sum(${rate("etagere_requests_total")})`,
        "failed",
      ],
    ]),
    panel("Latency by service, 50th percentile", "s", [
      [quantile(0.5, "etagere_request_seconds", "le, service"), "{{service}}"],
    ]),
    panel("Latency by service, 99th percentile", "s", [
      [quantile(0.99, "etagere_request_seconds", "le, service"), "{{service}}"],
    ]),
    panel("Most frequent operations", "reqps", [
      [`topk(10, sum by (operation) (${rate("etagere_requests_total")}))`, "{{operation}}"],
    ]),
    panel("CPU", "none", [[rate("process_cpu_seconds_total"), "{{instance}}"]]),
    panel("Memory", "bytes", [
      [`process_resident_memory_bytes{${on}}`, "{{instance}} resident"],
      [`etagere_heap_used_bytes{${on}}`, "{{instance}} heap"],
    ]),
  ],
};

const refused = 'status=~"304|409|412"';
const concurrency = {
  uid: "etagere-concurrency",
  title: "Etagere / Concurrency",
  panels: [
    panel("Requests refused by conditions, leases and conflicts", "reqps", [
      [`sum by (status) (${rate("etagere_requests_total", refused)})`, "{{status}}"],
    ]),
    panel("Refused by operation (409, 412)", "reqps", [
      [
        `topk(10, sum by (operation, status) (${rate("etagere_requests_total", 'status=~"409|412"')}))`,
        "{{operation}} {{status}}",
      ],
    ]),
    panel("Lease operations", "reqps", [
      [
        `sum by (operation, status) (${rate("etagere_requests_total", 'operation=~".*Lease.*"')})`,
        "{{operation}} {{status}}",
      ],
    ]),
    panel("Lease requests that found a lease (409, 412)", "reqps", [
      [
        `sum by (operation) (${rate("etagere_requests_total", 'operation=~".*Lease.*",status=~"409|412"')})`,
        "{{operation}}",
      ],
    ]),
    panel("Conflicts of transactions", "ops", [
      [`sum(${rate("etagere_store_transactions_total")})`, "commits"],
      [`sum(${rate("etagere_store_conflicts_total")})`, "conflicts"],
    ]),
    panel("Conflicts per commit", "percentunit", [
      [
        `sum(${rate("etagere_store_conflicts_total")}) / ` +
          `sum(${rate("etagere_store_transactions_total")})`,
        "conflicts per commit",
      ],
    ]),
    panel("Transactions per commit batch", "none", [
      [
        `sum(${rate("etagere_store_batch_size_sum")}) / sum(${rate("etagere_store_batch_size_count")})`,
        "mean",
      ],
      [quantile(0.99, "etagere_store_batch_size", "le"), "99th percentile"],
    ]),
    panel("SMB requests that wait for locks and breaks", "none", [
      [`sum(etagere_smb_waiting{${on}})`, "waiting"],
    ]),
    panel("SMB waits and break notifications", "ops", [
      [`sum(${rate("etagere_smb_waits_total")})`, "waits"],
      [`sum(${rate("etagere_smb_breaks_total")})`, "breaks"],
    ]),
    panel("SMB sessions and open handles", "none", [
      [`sum(etagere_smb_sessions{${on}})`, "sessions"],
      [`sum(etagere_smb_opens{${on}})`, "open handles"],
    ]),
  ],
};

const storage = {
  uid: "etagere-storage",
  title: "Etagere / Storage",
  panels: [
    panel("Content received and sent", "Bps", [
      [`sum by (direction) (${rate("etagere_content_bytes_total")})`, "{{direction}}"],
    ]),
    panel("Free disk space", "bytes", [[`etagere_disk_free_bytes{${on}}`, "{{instance}}"]]),
    panel("Part of the disk that is used", "percentunit", [
      [`1 - etagere_disk_free_bytes{${on}} / etagere_disk_size_bytes{${on}}`, "{{instance}}"],
    ]),
    panel("Records on disk", "bytes", [[`etagere_store_bytes{${on}}`, "{{instance}}"]]),
    panel("Commits", "ops", [
      [`sum(${rate("etagere_store_transactions_total")})`, "transactions"],
      [`sum(${rate("etagere_store_batch_size_count")})`, "flushed batches"],
    ]),
    panel("Content compared with its checksums", "Bps", [
      [`sum(${rate("etagere_scrub_bytes_total")})`, "verified"],
    ]),
    panel("Damaged parts of content", "none", [
      [`sum(etagere_scrub_problems_total{${on}})`, "damaged"],
    ]),
    panel("Requests rejected with 503 (disk full, storage away, overload)", "reqps", [
      [`sum(${rate("etagere_requests_total", 'status="503"')}) or vector(0)`, "503"],
    ]),
  ],
};

const cluster = {
  uid: "etagere-cluster",
  title: "Etagere / Cluster",
  panels: [
    panel("Processes on the same storage, as each sees them", "none", [
      [`etagere_processes{${on}}`, "{{instance}}"],
    ]),
    panel("Which process runs the background tasks", "none", [
      [`etagere_leader{${on}}`, "{{instance}}"],
    ]),
    panel("Requests by server", "reqps", [
      [`sum by (instance) (${rate("etagere_requests_total")})`, "{{instance}}"],
    ]),
    panel("Latency by server, 99th percentile", "s", [
      [quantile(0.99, "etagere_request_seconds", "le, instance"), "{{instance}}"],
    ]),
    panel("Conflicts by server", "ops", [
      [`sum by (instance) (${rate("etagere_store_conflicts_total")})`, "{{instance}}"],
    ]),
    panel("Workers", "none", [[`etagere_workers{${on}}`, "{{instance}}"]]),
    panel("Workers that ended unexpectedly", "none", [
      [`increase(etagere_worker_restarts_total{${on}}[1h])`, "{{instance}}"],
    ]),
    panel("Requests by worker", "reqps", [
      [`sum by (instance, pid) (${rate("etagere_worker_requests_total")})`, "{{instance}} {{pid}}"],
    ]),
    panel("Memory by worker", "bytes", [
      [`etagere_worker_resident_memory_bytes{${on}}`, "{{instance}} {{pid}}"],
    ]),
  ],
};

function panel(title, unit, queries) {
  return { title, unit, queries };
}

const columns = 2;
const size = { width: 12, height: 8 };

function render({ uid, title, panels }) {
  return {
    uid,
    title,
    tags: ["etagere"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
        {
          name: "instance",
          type: "query",
          label: "Server",
          datasource,
          query: "label_values(etagere_build_info, instance)",
          refresh: 2,
          includeAll: true,
          allValue: ".*",
          multi: true,
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map(renderPanel),
  };
}

const datasource = { type: "prometheus", uid: "${datasource}" };

function renderPanel({ title, unit, queries }, index) {
  return {
    id: index + 1,
    type: "timeseries",
    title,
    datasource,
    gridPos: {
      w: size.width,
      h: size.height,
      x: (index % columns) * size.width,
      y: Math.floor(index / columns) * size.height,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: queries.map(([expr, legendFormat], query) => ({
      refId: String.fromCodePoint("A".codePointAt(0) + query),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

/** The files by name. */
export function dashboardFiles() {
  return new Map(
    [overview, concurrency, storage, cluster].map((dashboard) => [
      `${dashboard.uid}.json`,
      `${JSON.stringify(render(dashboard), null, 2)}\n`,
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of dashboardFiles()) writeFileSync(join(folder, name), text);
}
