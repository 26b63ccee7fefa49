import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { account, explorer, row } from "./explorer.ts";

const here = explorer();
const rowCount = 100_000;
const rowsInPageMax = 200;
const taskMillisecondsMax = 50;
const stepPixels = 1500;
const rowsLoadedMin = 3000;
const stepsMax = 5000;

/** One page of a list of 100,000 blobs, as the service would respond. */
function listPage(url: URL): string {
  const start = Number(url.searchParams.get("marker") ?? 0);
  const count = Number(url.searchParams.get("maxresults") ?? 1000);
  const end = Math.min(rowCount, start + count);
  const blobs = Array.from({ length: end - start }, (_, index) => {
    const name = `blob-${String(start + index).padStart(6, "0")}.txt`;
    return `<Blob><Name>${name}</Name><Properties><Etag>0x8DE${start + index}</Etag>
      <Last-Modified>Mon, 16 Nov 2026 05:00:00 GMT</Last-Modified><Content-Length>${index}
      </Content-Length><Content-Type>text/plain</Content-Type><BlobType>BlockBlob</BlobType>
      <AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred></Properties></Blob>`;
  });
  const next = end < rowCount ? `<NextMarker>${end}</NextMarker>` : "<NextMarker />";
  const list = `<Blobs>${blobs.join("")}</Blobs>${next}`;
  return `<?xml version="1.0" encoding="utf-8"?><EnumerationResults>${list}</EnumerationResults>`;
}

async function openLargeList(): Promise<Page> {
  await here.blobs.getContainerClient("large").createIfNotExists();
  const page = await here.open("#/tables");
  await page.route(/\/storage\/blob\/.*comp=list/, (route) =>
    route.fulfill({
      contentType: "application/xml",
      body: listPage(new URL(route.request().url())),
    }),
  );
  await page.evaluate(`location.hash = "#/blobs/${account}/large"`);
  await row(page, "blob-000000.txt").waitFor();
  return page;
}

/** Scrolls frame by frame until many rows are loaded; returns the most rows in the page. */
const scrollThrough = `(async () => {
  const body = document.querySelector(".work .grid-body");
  const rowPixels = document.querySelector(".grid-row").offsetHeight;
  const isLoaded = () => body.scrollHeight >= ${rowsLoadedMin} * rowPixels;
  let most = 0;
  for (let step = 0; step < ${stepsMax} && !isLoaded(); step += 1) {
    body.scrollTop += ${stepPixels};
    await new Promise((resolve) => requestAnimationFrame(resolve));
    most = Math.max(most, document.querySelectorAll(".grid-row").length);
  }
  return most;
})()`;

interface TraceEvent {
  readonly name: string;
  readonly tid: number;
  /** Processor time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

describe("a list of 100,000 blobs", () => {
  it("has at most 200 rows in the page, and scrolls without tasks over 50 ms", async () => {
    const page = await openLargeList();
    const browser = page.context().browser();
    await browser?.startTracing(page, {
      categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
    });
    const most = await page.evaluate<number>(scrollThrough);
    const trace = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: TraceEvent[] };
    const main = trace.traceEvents.find(({ args }) => args?.name === "CrRendererMain")?.tid;
    const tasks = trace.traceEvents.filter(({ name, tid }) => tid === main && name === "RunTask");
    expect(tasks.length).toBeGreaterThan(100);
    expect(most).toBeLessThanOrEqual(rowsInPageMax);
    // Time of the processor: other programs do not count.
    const longest = Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
    expect(longest).toBeLessThan(taskMillisecondsMax);
    await page.getByText(/^[3-9],\d00\+ entries$/).waitFor();
  });
});
