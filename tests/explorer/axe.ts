import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const axe = readFileSync(axePath, "utf8");

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Accessibility problems of every impact, of all rules or of some. */
export async function axeFindings(
  page: Page,
  rules?: readonly string[],
): Promise<readonly string[]> {
  // Injected as a debugger would, because the page's policy allows no other script; once per page.
  if (!(await page.evaluate<boolean>(`"axe" in globalThis`))) await page.evaluate(axe);
  const options = JSON.stringify({
    resultTypes: ["violations"],
    ...(rules === undefined ? {} : { runOnly: rules }),
  });
  const findings: readonly Finding[] = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return findings.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html ?? ""}`);
}
