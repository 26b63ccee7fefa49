/** How far a client has read a directory. */
export interface Listing {
  readonly pattern: string;
  /** Which of the two entries for the directory itself come next, before the names. */
  dots: 0 | 1 | 2;
  /** Folded; the first name that was not shown yet. */
  from: string;
  isFinished: boolean;
  hasShown: boolean;
}

export function newListing(pattern: string): Listing {
  return { pattern, dots: 0, from: "", isFinished: false, hasShown: false };
}
