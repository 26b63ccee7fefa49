/** Position of a QUERY_DIRECTORY enumeration. */
export interface Listing {
  readonly pattern: string;
  /** How many of the entries `.` and `..`, which come first, were returned. */
  dots: 0 | 1 | 2;
  /** Case-folded name at which the enumeration continues. */
  from: string;
  isFinished: boolean;
  /** Whether a response had entries; then the end is STATUS_NO_MORE_FILES, else
   *  STATUS_NO_SUCH_FILE. */
  hasShown: boolean;
}

export function newListing(pattern: string): Listing {
  return { pattern, dots: 0, from: "", isFinished: false, hasShown: false };
}
