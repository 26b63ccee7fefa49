/** Returns the index of the first element for which the test is true, by binary search: the test
 *  must be false for all elements before it and true for all after it. The length of the list if
 *  there is none. Used in sorted lists of slices, locks and keys: the first slice that ends after
 *  an offset, for example. */
export function firstWhere<T>(list: readonly T[], test: (element: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
