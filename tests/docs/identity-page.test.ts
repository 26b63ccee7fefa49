import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withRoleTables } from "../../scripts/docs/identity-page.ts";
import { parseIdentity } from "../../src/account/parse-identity.ts";

it("shows actions and roles as they are declared (npm run docs writes it)", () => {
  const page = readFileSync("docs/IDENTITY.md", "utf8");
  expect(page).toBe(withRoleTables(page));
});

it("the examples of the configuration are valid", () => {
  const page = readFileSync("docs/IDENTITY.md", "utf8");
  const guide = readFileSync("docs/guides/self-hosting.md", "utf8");
  const examples = [page, guide].flatMap((text) =>
    [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) => json.trim()),
  );
  const ofIdentity = examples.filter((json) => /"issuers"|"principals"/.test(json));
  expect(ofIdentity).toHaveLength(3);
  for (const json of ofIdentity) {
    const whole = json.startsWith("{") ? json : `{ ${json} }`;
    expect(parseIdentity(JSON.parse(whole) as Record<string, unknown>)).toMatchObject({ ok: true });
  }
});
