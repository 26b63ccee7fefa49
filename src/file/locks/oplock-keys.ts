const oplockPrefix = "oplock:";

/** Key of the caching grant of an open with an oplock. */
export function oplockKey(open: bigint): string {
  return `${oplockPrefix}${open}`;
}

export function isOplockKey(key: string): boolean {
  return key.startsWith(oplockPrefix);
}
