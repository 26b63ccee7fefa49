import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = "deploy/prometheus/dashboards";

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** Every query of every panel of the dashboards. */
export function panelQueries(): readonly { readonly title: string; readonly query: string }[] {
  return readdirSync(folder).flatMap((name) => {
    const dashboard = JSON.parse(readFileSync(join(folder, name), "utf8")) as Dashboard;
    return dashboard.panels.flatMap((panel) =>
      panel.targets.map(({ expr }, index) => ({
        title: `${dashboard.title}: ${panel.title} (${index + 1})`,
        query: expr,
      })),
    );
  });
}

export function metricNamesIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:etagere|process)_[a-z_]+\b/g)].map(([name]) => name);
}
