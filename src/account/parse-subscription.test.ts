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
    [{}, '"destination" must be { "queue": … } or { "webhook": … }'],
    [{ destination: [] }, '"destination" must be'],
    [{ destination: { webHook: "http://c/" } }, '"destination" must be'],
    [{ destination: { queue: "E" } }, '"queue" must be a name of 3 to 63 lower-case letters'],
    [{ destination: { queue: "events", account: "a/b" } }, "1 to 128 letters"],
    [{ destination: { queue: "events", webhook: "http://c/" } }, 'no setting "queue"'],
    [{ destination: { queue: "events", messageTimeToLiveSeconds: 0.5 } }, "1 to 2147483647"],
    [{ ...queue, maxDeliveryAttempts: 31 }, "1 to 30"],
    [{ ...queue, eventTimeToLiveSeconds: 0 }, "1 to 86400"],
    [{ ...queue, colour: "red" }, 'no setting "colour"'],
    [{ ...queue, deadLetterContainer: "A" }, "deadLetterContainer"],
    [{ ...queue, eventTypes: "All" }, '"eventTypes" must be a list'],
    [{ ...queue, eventTypes: [1] }, '"eventTypes" must be a list'],
    [{ ...queue, eventTypes: [] }, '"eventTypes" must not be empty'],
    [{ ...queue, eventTypes: ["BlobCreated"] }, "one of All, Microsoft.Storage.BlobCreated,"],
    [{ ...queue, eventTypes: ["Microsoft.Storage.BlobCreate"] }, "one of All,"],
    [{ ...queue, eventTypes: ["MicrosoftxStorage.BlobCreated"] }, "one of All,"],
    [{ ...queue, subjectBeginsWith: 1 }, "a text of at most 2048"],
    [{ ...queue, isSubjectCaseSensitive: "yes" }, "true or false"],
    [{ ...queue, subjectEndsWith: "x".repeat(3000) }, "at most 2048"],
    [{ destination: { webhook: "file:///etc/passwd" } }, "must be an http or https URL"],
    [{ destination: { webhook: "http://a:b@c/" } }, "without a user name"],
    [{ destination: { webhook: "http://:b@c/" } }, "without a user name"],
    [{ destination: { webhook: "http://c/#x" } }, "and a fragment"],
    [{ destination: { webhook: "http://c/", schema: "x" } }, "one of EventGridSchema, Cloud"],
    [{ destination: { webhook: "http://c/", secret: "short" } }, "8 to 256 ASCII characters"],
    [{ ...queue, advancedFilters: {} }, "at most 25 filters"],
  ])("%j is rejected: %s", (input, problem) => {
    expect(problemsOf(input)).toContain(problem);
  });

  it("names each type once", () => {
    const [created, deleted] = ["Microsoft.Storage.BlobCreated", "Microsoft.Storage.BlobDeleted"];
    const parsed = parseSubscription("s", { ...queue, eventTypes: [created, deleted, created] });
    expect(parsed).toMatchObject({ ok: true, value: { eventTypes: [created, deleted] } });
  });

  it("with 10,000 unknown fields is rejected with a short message", () => {
    const fields = Array.from({ length: 10_000 }, (_, at) => [`${"x".repeat(1000)}${at}`, 1]);
    const problems = problemsOf({ ...queue, ...Object.fromEntries(fields) });
    expect(problems).toContain("no setting");
    expect(problems.length).toBeLessThan(2000);
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
      expect([other, problems === ""]).toEqual([other, other === form]);
    }
  });

  it.each([
    [{ operatorType: "NumberInRange", values: [[5, 1]] }, "ranges [from, to] with from ≤ to"],
    [{ operatorType: "NumberInRange", values: [[1, 2, 3]] }, "ranges [from, to]"],
    [{ operatorType: "NumberNotInRange", values: [[1, Infinity]] }, "ranges [from, to]"],
    [{ operatorType: "NumberIn", values: [NaN] }, "numbers"],
    [{ operatorType: "NumberLessThan", value: Infinity }, "must be a number"],
    [{ operatorType: "NumberLessThan", value: 1, values: [2] }, '"values" is not accepted'],
    [{ operatorType: "StringIn", values: ["a"], value: "b" }, '"value" is not accepted'],
    [{ operatorType: "StringIn", values: [] }, "a list of 1 to 25"],
    [{ operatorType: "StringIn", values: { 0: "a" } }, "a list of 1 to 25"],
  ])("%j is rejected: %s", (filter, problem) => {
    const advancedFilters = [{ key: "data.x", ...filter }];
    expect(problemsOf({ ...queue, advancedFilters })).toContain(problem);
  });

  it.each([
    ["subject", true],
    ["EventType", true],
    ["data.api", true],
    ["data.storageDiagnostics.batchId", true],
    ["data", false],
    ["data.", false],
    ["api", false],
    ["subject.x", false],
    ["constructor", false],
    [`data.${"x".repeat(65)}`, false],
  ])("the key %s: %s", (key, isValid) => {
    const filter = { operatorType: "StringIn", key, values: ["a"] };
    const problems = problemsOf({ ...queue, advancedFilters: [filter] });
    expect(problems.includes("data.FIELD")).toBe(!isValid);
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
