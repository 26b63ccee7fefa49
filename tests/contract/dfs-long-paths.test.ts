// Paths that a rename of a directory above makes longer than a request can name.
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const long = "n".repeat(200);
const files = ["a", "b", "c"];

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  for (const name of files) await create(`dir/${[long, long, long, long].join("/")}/${name}`);
  await create([long, long].join("/"), "directory");
  await rename("dir", `${long}/${long}/moved`);
});

function create(path: string, kind = "file") {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}` });
}

async function rename(from: string, to: string): Promise<void> {
  const headers = { "x-ms-rename-source": `/fff/${from}` };
  const answer = await sim.sendToDfs({ method: "PUT", path: `/fff/${to}?mode=legacy`, headers });
  expect(answer.status).toBe(201);
}

const tooLong = files.map(
  (name) => `${[long, long, "moved", long, long, long, long].join("/")}/${name}`,
);

describe("paths that are longer than a name may be", () => {
  it("are listed page by page, through both APIs", async () => {
    const paths: string[] = [];
    let token = "";
    for (let page = 0; page < 20; page += 1) {
      const from = token === "" ? "" : `&continuation=${encodeURIComponent(token)}`;
      const path = `/fff?resource=filesystem&recursive=true&maxResults=1${from}`;
      const { headers, body, status } = await sim.sendToDfs({ method: "GET", path });
      expect(status).toBe(200);
      paths.push(...(JSON.parse(body) as { paths: { name: string }[] }).paths.map((p) => p.name));
      token = headers["x-ms-continuation"] ?? "";
      if (token === "") break;
    }
    expect(paths.slice(-3)).toEqual(tooLong);
    const blobs: string[] = [];
    let marker = "";
    for (let page = 0; page < 20; page += 1) {
      const path = `/fff?restype=container&comp=list&maxresults=1&marker=${encodeURIComponent(marker)}`;
      const { body, status } = await sim.send({ method: "GET", path });
      expect(status).toBe(200);
      blobs.push(...Array.from(body.matchAll(/<Name>([^<]*)<\/Name>/g), ([, name = ""]) => name));
      marker = /<NextMarker>([^<]*)</.exec(body)?.[1] ?? "";
      if (marker === "") break;
    }
    expect(blobs.slice(-3)).toEqual(tooLong);
  });

  it("can be read again when the directory has a shorter path", async () => {
    const [first = ""] = tooLong;
    const refused = await sim.sendToDfs({ method: "GET", path: `/fff/${first}` });
    expect(refused.status).toBe(400);
    await rename(`${long}/${long}/moved`, "back");
    const path = `/fff/back/${[long, long, long, long].join("/")}/a`;
    expect((await sim.sendToDfs({ method: "GET", path })).status).toBe(200);
  });

  it("are not accepted as positions on flat accounts, where names are keys", async () => {
    sim = await simBlob();
    await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
    await create("file");
    const token = encodeURIComponent(
      Buffer.from(`0 1 ${"ü".repeat(1000)}/${long}`).toString("base64"),
    );
    const path = `/fff?resource=filesystem&recursive=true&continuation=${token}`;
    expect((await sim.sendToDfs({ method: "GET", path })).status).toBe(200);
  });
});

describe("a position in a listing", () => {
  it.each([
    [`/fff?resource=filesystem&recursive=true&beginFrom=${"x".repeat(5000)}`],
    [`/fff?resource=filesystem&recursive=true&beginFrom=${"x".repeat(1500)}`],
    [`/?resource=account&prefix=${"x".repeat(5000)}`],
  ])("that no path can have is refused", async (path) => {
    const refused = await sim.sendToDfs({ method: "GET", path });
    expect([refused.status, refused.code]).toEqual([400, "InvalidQueryParameterValue"]);
  });
});
