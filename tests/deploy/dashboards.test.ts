import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { metricNamesIn, panelQueries } from "./panel-queries.ts";

const folder = "deploy/prometheus";
const metricSources = ["admin-listener.ts", "render-metrics.ts"].map((name) =>
  readFileSync(join("src/server", name), "utf8"),
);

it("the dashboards are up to date (npm run docs)", () => {
  const program = `import { dashboardFiles } from "./scripts/docs/dashboards.mjs";
    process.stdout.write(JSON.stringify([...dashboardFiles()]));`;
  const words = ["--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, words, { encoding: "utf8" });
  const present = readdirSync(join(folder, "dashboards")).map((name) => [
    name,
    readFileSync(join(folder, "dashboards", name), "utf8"),
  ]);
  const wanted = JSON.parse(output) as [string, string][];
  expect(Object.fromEntries(present)).toEqual(Object.fromEntries(wanted));
});

it("dashboards and alerts use only metrics that the server has", () => {
  const alerts = readFileSync(join(folder, "alerts.yaml"), "utf8");
  const used = new Set([
    ...panelQueries().flatMap(({ query }) => metricNamesIn(query)),
    ...metricNamesIn(alerts),
  ]);
  expect(used.size).toBeGreaterThan(15);
  const unknown = [...used]
    .map((name) => name.replace(/_(bucket|sum|count)$/, ""))
    .filter((name) => !metricSources.some((source) => source.includes(`"${name}"`)))
    .filter((name) => !metricSources.some((source) => source.includes(`# TYPE ${name} `)));
  expect(unknown).toEqual([]);
});

it("every alert has a test that raises it", () => {
  const alerts = readFileSync(join(folder, "alerts.yaml"), "utf8");
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(8);
  const tests = readFileSync(join(folder, "alerts.test.yaml"), "utf8");
  const untested = names.filter(
    (name) => !new RegExp(`alertname: ${name}\\n(?:.*\\n){1,2}\\s+- exp_labels`).test(tests),
  );
  expect(untested).toEqual([]);
});
