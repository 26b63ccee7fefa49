import { describe, expect, it } from "vitest";
import { neededNode, newestOf } from "../../scripts/bench/azurite.ts";
import { median, slowestShareOf } from "../../scripts/bench/compare.ts";
import { tolerance, verdictOn } from "../../scripts/bench/guard/verdict.ts";
import { callTreeOf } from "../../scripts/bench/profile/call-tree.ts";
import { flameGraph } from "../../scripts/bench/profile/flame-graph.ts";
import { hotFunctions } from "../../scripts/bench/profile/hot-functions.ts";
import { withSection } from "../../scripts/bench/report/write.ts";

describe("the result of several rounds", () => {
  it("is their median", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([])).toBeNaN();
  });

  it("is, for the slowest client, the mean over all rounds", () => {
    expect(
      slowestShareOf([
        [4, 0, 2],
        [2, 2, 2],
      ]),
    ).toBe(0.5);
    expect(slowestShareOf([[0, 0]])).toBe(0);
  });
});

describe("the newest release for comparison", () => {
  const releases = [
    { version: "3.9.0", node: ">=10.0.0" },
    { version: "3.35.0", node: ">=10.0.0" },
    { version: "3.37.0", node: ">=22.0.0" },
    { version: "4.0.0-beta.1", node: undefined },
  ];
  it("is run by a newer Node.js if it needs one", () => {
    const newest = newestOf(releases);
    expect(newest.version).toBe("3.37.0");
    expect(neededNode("20.20.2", newest.node)).toBe("^22.0.0");
    expect(neededNode("22.0.0", newest.node)).toBeUndefined();
    expect(neededNode("20.20.2", undefined)).toBeUndefined();
    expect(() => newestOf([])).toThrow("no release");
  });
});

describe("the benchmark guard", () => {
  const baseline = (
    yardstickMicroseconds: number,
    cpuMicroseconds: number,
    allocatedBytes: number,
  ) => ({
    node: "20",
    yardstickMicroseconds,
    costs: { put: { cpuMicroseconds, allocatedBytes } },
  });
  const agreed = baseline(100, 50, 1000);

  it("attributes a slowdown of both commits to the machine", () => {
    expect(verdictOn("put", baseline(200, 100, 1000), agreed)).toMatchObject({
      cpu: 1,
      worse: false,
    });
  });

  it("reports more CPU time and more allocation than allowed", () => {
    const slower = 50 * (1.01 + tolerance.cpu);
    expect(verdictOn("put", baseline(100, slower, 1000), agreed)?.worse).toBe(true);
    const larger = 1000 * (1.01 + tolerance.allocation);
    expect(verdictOn("put", baseline(100, 50, larger), agreed)?.worse).toBe(true);
    expect(verdictOn("get", agreed, agreed)).toBeUndefined();
  });
});

describe("a profile", () => {
  const callFrame = (functionName: string, url = "file:///x/dist/http/serve.js") => ({
    functionName,
    url,
    lineNumber: 4,
  });
  const profile = {
    startTime: 1000,
    nodes: [
      { id: 1, callFrame: callFrame("(root)", ""), children: [2, 4] },
      { id: 2, callFrame: callFrame("serve"), children: [3] },
      { id: 3, callFrame: callFrame("<parse>") },
      { id: 4, callFrame: callFrame("(idle)", "") },
    ],
    samples: [2, 3, 4, 3, 2],
    timeDeltas: [0, 10, 10, 10, 10],
  };

  it("counts the functions that ran in a span, not those that waited", () => {
    const tree = callTreeOf(profile, { from: 0, to: 1030 });
    expect(tree.microseconds).toBe(30);
    const [serve] = tree.called.values();
    expect(serve).toMatchObject({ name: "serve", place: "http/serve.js:5", microseconds: 30 });
    expect(callTreeOf(profile, { from: 1025, to: 1030 }).microseconds).toBe(10);
    expect(hotFunctions(tree, 1)[0]).toMatchObject({ where: "<parse> http/serve.js:5" });
  });

  it("escapes function names in the drawing", () => {
    const drawn = flameGraph(callTreeOf(profile, { from: 0, to: 1030 }), "a & b");
    expect(drawn).toContain("&lt;parse&gt; http/serve.js:5 66.7 %");
    expect(drawn).toContain("a &amp; b");
  });
});

describe("a generated page", () => {
  it("keeps its hand-written parts", () => {
    const page = "# By hand\n\n<!-- results: begin -->\nold\n<!-- results: end -->\n\nmore\n";
    const once = withSection(page, "results", "new");
    expect(once).toContain("# By hand");
    expect(once).toContain("\nnew\n");
    expect(once).not.toContain("old");
    expect(once.endsWith("\n\nmore\n")).toBe(true);
    expect(withSection(once, "results", "new")).toBe(once);
    expect(withSection(page, "growth", "grown")).toContain("<!-- growth: begin -->\n\ngrown");
  });
});
