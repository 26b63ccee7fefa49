/** Position of a QUERY_DIRECTORY enumeration. */
export interface Listing {
  readonly pattern: string;
  /** How many of the entries `.` and `..`, which come first, were returned. */
  dots: 0 | 1 | 2;
  /** Case-folded name at which the enumeration continues. */
  from: string;
  isFinished: boolean;
  hasShown: boolean;
}

export function newListing(pattern: string): Listing {
  return { pattern, dots: 0, from: "", isFinished: false, hasShown: false };
}
