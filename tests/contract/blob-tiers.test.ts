import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

type Headers = Readonly<Record<string, string>>;

let sim: SimBlob;

const send = (method: string, path: string, headers: Headers = {}, body?: string) =>
  sim.send({ method, path, headers, ...(body === undefined ? {} : { body }) });
const put = (path: string, headers: Headers = {}) =>
  send("PUT", path, { "x-ms-blob-type": "BlockBlob", ...headers }, "bytes");
const setTier = (tier: string, path = "/ccc/b", headers: Headers = {}) =>
  send("PUT", `${path}${path.includes("?") ? "&" : "?"}comp=tier`, {
    "x-ms-access-tier": tier,
    ...headers,
  });

beforeEach(async () => {
  sim = await simBlob();
  await send("PUT", "/ccc?restype=container");
});

const early = "Sat, 01 Jan 2000 00:00:00 GMT";
const late = "Sat, 01 Jan 2050 00:00:00 GMT";
const notMet = "AccessTierChangeTimeConditionNotMet";
const modifiedSince = "x-ms-access-tier-if-modified-since";
const unmodifiedSince = "x-ms-access-tier-if-unmodified-since";

describe("Delete Blob with a condition on the access tier", () => {
  it.each<[string, string, number]>([
    [modifiedSince, late, 412],
    [modifiedSince, early, 202],
    [unmodifiedSince, early, 412],
    [unmodifiedSince, late, 202],
  ])("%s: %s gets %d", async (name, date, status) => {
    await put("/ccc/b");
    await setTier("Cool");
    const answer = await send("DELETE", "/ccc/b", { [name]: date });
    expect(answer.status).toBe(status);
    if (status === 412) expect(answer.code).toBe(notMet);
    expect((await send("HEAD", "/ccc/b")).status).toBe(status === 412 ? 200 : 404);
  });

  it("compares the time of the last change, to the second", async () => {
    await put("/ccc/b");
    await setTier("Cool");
    const { headers } = await send("HEAD", "/ccc/b");
    const changed = headers["x-ms-access-tier-change-time"] ?? "";
    expect((await send("DELETE", "/ccc/b", { [modifiedSince]: changed })).status).toBe(412);
    expect((await send("DELETE", "/ccc/b", { [unmodifiedSince]: changed })).status).toBe(202);
  });

  it("takes a tier that was never set for unmodified", async () => {
    await put("/ccc/b");
    expect((await send("DELETE", "/ccc/b", { [modifiedSince]: early })).status).toBe(412);
    expect((await send("DELETE", "/ccc/b", { [unmodifiedSince]: early })).status).toBe(202);
  });

  it("rejects both headers together, and a malformed date", async () => {
    await put("/ccc/b");
    const both = await send("DELETE", "/ccc/b", {
      [modifiedSince]: early,
      [unmodifiedSince]: late,
    });
    expect([both.status, both.code]).toEqual([400, "MultipleConditionHeadersNotSupported"]);
    const malformed = await send("DELETE", "/ccc/b", { [modifiedSince]: "yesterday" });
    expect([malformed.status, malformed.code]).toEqual([400, "InvalidHeaderValue"]);
    expect((await send("HEAD", "/ccc/b")).status).toBe(200);
  });

  it("compares the tier of the snapshot that the address names", async () => {
    await put("/ccc/b", { "x-ms-access-tier": "Cool" });
    const { headers } = await send("PUT", "/ccc/b?comp=snapshot");
    const path = `/ccc/b?snapshot=${headers["x-ms-snapshot"]}`;
    expect((await send("DELETE", path, { [unmodifiedSince]: early })).code).toBe(notMet);
    expect((await send("DELETE", path, { [modifiedSince]: early })).status).toBe(202);
  });
});

describe("the tier Smart", () => {
  const newest = { "x-ms-version": "2026-06-06" };
  const older = { "x-ms-version": "2026-04-06" };

  it.each<[string, () => Promise<{ readonly status: number }>]>([
    ["Set Blob Tier", () => setTier("Smart", "/ccc/b", newest)],
    ["Put Blob", () => put("/ccc/b", { ...newest, "x-ms-access-tier": "Smart" })],
  ])("is set by %s and shown with the tier in use", async (_, set) => {
    await put("/ccc/b");
    expect((await set()).status).toBeLessThan(300);
    const { headers } = await send("HEAD", "/ccc/b", newest);
    expect(headers).toMatchObject({
      "x-ms-access-tier": "Smart",
      "x-ms-smart-access-tier": "Hot",
    });
    expect(headers["x-ms-access-tier-change-time"]).toBeDefined();
    const { body } = await send("GET", "/ccc?restype=container&comp=list", newest);
    expect(body).toContain("<AccessTier>Smart</AccessTier>");
    expect(body).toContain("<SmartAccessTier>Hot</SmartAccessTier>");
    await setTier("Cool", "/ccc/b", newest);
    const cooled = await send("HEAD", "/ccc/b", newest);
    expect(cooled.headers["x-ms-smart-access-tier"]).toBeUndefined();
  });

  it("is rejected in versions that do not have it", async () => {
    await put("/ccc/b");
    for (const answer of [
      await setTier("Smart", "/ccc/b", older),
      await put("/ccc/b", { ...older, "x-ms-access-tier": "Smart" }),
    ]) {
      expect([answer.status, answer.code]).toEqual([400, "InvalidHeaderValue"]);
    }
  });
});

describe("the tier in the response of Get Blob", () => {
  it.each([
    ["2026-06-06", undefined],
    ["2026-10-06", "Hot"],
  ])("at %s is %s", async (version, tier) => {
    await put("/ccc/b");
    const inferred = await send("GET", "/ccc/b", { "x-ms-version": version });
    expect(inferred.headers["x-ms-access-tier"]).toBe(tier);
    expect(inferred.headers["x-ms-access-tier-inferred"]).toBe(tier && "true");
    await setTier("Cool");
    const range = { "x-ms-range": "bytes=0-1", "x-ms-version": version };
    const { status, headers } = await send("GET", "/ccc/b", range);
    expect([status, headers["x-ms-access-tier"]]).toEqual([206, tier && "Cool"]);
    expect(headers["x-ms-access-tier-change-time"] === undefined).toBe(tier === undefined);
  });
});
