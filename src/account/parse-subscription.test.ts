import { describe, expect, it } from "vitest";
import {
  filterOperators,
  findSubscriptionNameProblem,
  parseSubscription,
} from "./parse-subscription.ts";

const queue = { destination: { queue: "events" } };

function problemsOf(input: unknown): string {
  const parsed = parseSubscription("subscription", input);
  return parsed.ok ? "" : parsed.problems.join("\n");
}

describe("a subscription", () => {
  it("has the limits of Event Grid unless it names others", () => {
    expect(parseSubscription("s", queue)).toMatchObject({
      ok: true,
      value: { maxDeliveryAttempts: 30, eventTimeToLiveSeconds: 86_400 },
    });
  });

  it.each([
    ["no object", "must be an object"],
    [{}, '"destination" is missing'],
    [{ destination: { queue: "E" } }, '"queue" must be a text'],
    [{ ...queue, maxDeliveryAttempts: 31 }, "1 to 30"],
    [{ ...queue, eventTimeToLiveSeconds: 0 }, "1 to 86400"],
    [{ ...queue, colour: "red" }, 'no setting "colour"'],
    [{ ...queue, deadLetterContainer: "A" }, "deadLetterContainer"],
    [{ ...queue, eventTypes: [1] }, "eventTypes"],
    [{ ...queue, subjectEndsWith: "x".repeat(3000) }, "at most 2048"],
    [{ destination: { webhook: "file:///etc/passwd" } }, "must be an http or https URL"],
    [{ destination: { webhook: "http://a:b@c/" } }, "without a user name"],
    [{ destination: { webhook: "http://c/", schema: "x" } }, "schema"],
    [{ destination: { webhook: "http://c/", secret: "short" } }, "secret"],
    [{ ...queue, advancedFilters: {} }, "at most 25 filters"],
  ])("%j is rejected: %s", (input, problem) => {
    expect(problemsOf(input)).toContain(problem);
  });

  it("with 10,000 filters or values is rejected", () => {
    const one = { operatorType: "StringIn", key: "subject", values: ["a"] };
    const filters = Array.from({ length: 10_000 }, () => one);
    expect(problemsOf({ ...queue, advancedFilters: filters })).toContain("at most 25 filters");
    const values = Array.from({ length: 10_000 }, (_, at) => String(at));
    const wide = { ...queue, advancedFilters: [{ ...one, values }] };
    expect(problemsOf(wide)).toContain("a list of 1 to 25 texts");
    const two = { ...one, values: values.slice(0, 13) };
    expect(problemsOf({ ...queue, advancedFilters: [two, two] })).toContain("25 values together");
  });
});

describe("values of advanced filters", () => {
  const valid: Readonly<Record<string, object>> = {
    texts: { values: ["a"] },
    numbers: { values: [1] },
    number: { value: 1 },
    ranges: { values: [[1, 2]] },
    boolean: { value: true },
    none: {},
  };
  it.each(Object.entries(filterOperators))("%s takes %s only", (operatorType, form) => {
    for (const [other, fields] of Object.entries(valid)) {
      const filter = { operatorType, key: "data.x", ...fields };
      const problems = problemsOf({ ...queue, advancedFilters: [filter] });
      const isAccepted = other === form || (form === "none" && "value" in fields);
      expect([other, problems === ""]).toEqual([other, isAccepted]);
    }
  });

  it("need a known operator", () => {
    const filter = { operatorType: "StringLike", key: "subject", values: ["a"] };
    expect(problemsOf({ ...queue, advancedFilters: [filter] })).toContain("operatorType");
  });
});

it.each([
  ["my-hook", true],
  ["ab", false],
  ["a/b", false],
  ["x".repeat(65), false],
])("the name %s: %s", (name, isValid) => {
  expect(findSubscriptionNameProblem(name) === undefined).toBe(isValid);
});
