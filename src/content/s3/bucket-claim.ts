import type { Bucket } from "./bucket.ts";

/** Raised when an older release could no longer read what is written. */
const formatVersion = 1;
const key = "owner";

/** Extents of two stores have the same names, so they must not lie in one place. The object says
 *  whose place it is, and how its objects are to be read. */
export async function claimBucket(bucket: Bucket, storeId: string): Promise<void> {
  const found = await read(bucket);
  if (found === undefined) {
    const body = Buffer.from(JSON.stringify({ format: formatVersion, store: storeId }));
    await bucket.send({ method: "PUT", key, body }, [200]);
  }
  // Read again even then: another store may have come at the same moment.
  const { store, format } = found ?? (await read(bucket)) ?? {};
  if (format !== formatVersion) {
    throw new Error(`the bucket has format ${format}; this release knows ${formatVersion}`);
  }
  if (store !== storeId) {
    throw new Error("the bytes there belong to another store; give each store a prefix of its own");
  }
}

interface Owner {
  readonly store?: string;
  readonly format?: number;
}

async function read(bucket: Bucket): Promise<Owner | undefined> {
  const { status, body } = await bucket.send({ method: "GET", key }, [200, 404]);
  return status === 404 ? undefined : (JSON.parse(body.toString("utf8")) as Owner);
}
