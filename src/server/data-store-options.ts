import type { RunningServerOptions } from "./running-server.ts";
import { services } from "./services.ts";

const bytesPerMegabyte = 1024 * 1024;

/** Where records and content go. */
export function dataStoreOptions(given: RunningServerOptions) {
  const { options, location, clock, random, log } = given;
  const { extentMemoryLimit } = options;
  const memoryBytesMax =
    extentMemoryLimit === undefined ? undefined : Math.floor(extentMemoryLimit * bytesPerMegabyte);
  const places = { location, storeUrl: options.store, contentUrl: options.content, memoryBytesMax };
  const { scrubMegabytesPerSecond: rate } = options;
  const scrubBytesPerSecond = rate === undefined ? undefined : rate * bytesPerMegabyte;
  return { ...places, services, clock, random, log, scrubBytesPerSecond };
}
