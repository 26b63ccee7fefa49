const oplockPrefix = "oplock:";

/** The key of an open that caches for itself rather than under a lease. */
export function oplockKey(open: bigint): string {
  return `${oplockPrefix}${open}`;
}

export function isOplockKey(key: string): boolean {
  return key.startsWith(oplockPrefix);
}
