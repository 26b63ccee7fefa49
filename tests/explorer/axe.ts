import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Accessibility problems of every impact. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Injected as a debugger would, because the page's policy allows no other script.
  await page.evaluate(readFileSync(axePath, "utf8"));
  const findings: readonly Finding[] = await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return findings.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html ?? ""}`);
}
