/** A bucket and a prefix, parsed from `s3://bucket/prefix?endpoint=…&region=…`. */
export interface BucketLocation {
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
  /** `http://host:port` or `https://host`, without a path. */
  readonly endpoint: string;
  readonly region: string;
  /** Size of the cache of recently read blocks. */
  readonly cacheBytesMax: number;
}

/** Values from the environment, for parameters that the location omits. */
export interface BucketDefaults {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

const regionDefault = "us-east-1";
const cacheMegabytesDefault = 64;
const cacheMegabytesMax = 65_536;
const bytesPerMegabyte = 1024 * 1024;

export function parseBucketLocation(
  location: string,
  defaults: BucketDefaults = {},
): BucketLocation {
  const url = new URL(location);
  if (url.protocol !== "s3:" || url.hostname === "") {
    throw new Error("must have the form s3://bucket/prefix?endpoint=https://…");
  }
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const region = parameter("region") ?? defaults.region ?? regionDefault;
  const amazon = `https://s3.${region}.amazonaws.com`;
  const endpoint = parameter("endpoint") ?? defaults.endpoint ?? amazon;
  const cacheBytesMax = bytesPerMegabyte * parseMegabytes(parameter("cache"));
  const path = url.pathname.replaceAll(/^\/+|\/+$/g, "");
  const prefix = path === "" ? "" : `${path}/`;
  const { origin } = new URL(endpoint);
  return { bucket: url.hostname, prefix, endpoint: origin, region, cacheBytesMax };
}

function parseMegabytes(text: string | undefined): number {
  if (text === undefined) return cacheMegabytesDefault;
  const megabytes = Number(text);
  if (/^\d+$/.test(text) && megabytes <= cacheMegabytesMax) return megabytes;
  throw new Error(`cache: must be 0 to ${cacheMegabytesMax} (megabytes), got "${text}"`);
}
