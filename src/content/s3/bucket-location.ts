/** Where a bucket is, from `s3://bucket/prefix?endpoint=…&region=…`. */
export interface BucketLocation {
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
  /** `http://host:port` or `https://host`, without a path. */
  readonly endpoint: string;
  readonly region: string;
}

const regionDefault = "us-east-1";

export function parseBucketLocation(location: string): BucketLocation {
  const url = new URL(location);
  if (url.protocol !== "s3:" || url.hostname === "") {
    throw new Error("must read s3://bucket/prefix?endpoint=https://…");
  }
  const region = url.searchParams.get("region") ?? regionDefault;
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const path = url.pathname.replaceAll(/^\/+|\/+$/g, "");
  const prefix = path === "" ? "" : `${path}/`;
  return { bucket: url.hostname, prefix, endpoint: new URL(endpoint).origin, region };
}
