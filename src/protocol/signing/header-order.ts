/** Compares header names for sorting before signing. */
export type HeaderOrder = (left: string, right: string) => number;

const byWeight = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
const asciiCount = 128;
/** Weight of a character by its code; 0: ignored in the comparison. */
const weights = new Uint8Array(asciiCount);
for (let index = 0; index < byWeight.length; index += 1) {
  weights[byWeight.charCodeAt(index)] = index + 1;
}

/** The order of the service: punctuation before digits and letters; hyphens are ignored unless the
 *  names are otherwise equal. So `x-ms-meta-ab` comes before `x-ms-meta-a-c`, unlike in ASCII
 *  order. */
export const serviceOrder: HeaderOrder = (left, right) => {
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const leftWeight = i < left.length ? weightAt(left, i) : -1;
    const rightWeight = j < right.length ? weightAt(right, j) : -1;
    if (leftWeight === 0) i += 1;
    else if (rightWeight === 0) j += 1;
    else if (leftWeight !== rightWeight) return leftWeight - rightWeight;
    else {
      i += 1;
      j += 1;
    }
  }
  return byFirstHyphen(left, right);
};

/** The order that some client libraries use. */
export const asciiOrder: HeaderOrder = (left, right) => (left < right ? -1 : left > right ? 1 : 0);

/** Compares names that differ only in hyphens: the name whose first extra hyphen comes later is
 *  first. */
function byFirstHyphen(left: string, right: string): number {
  const length = Math.max(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    if (left[index] === right[index]) continue;
    return isWeightless(left, index) ? 1 : -1;
  }
  return 0;
}

function isWeightless(text: string, index: number): boolean {
  return index < text.length && weightAt(text, index) === 0;
}

function weightAt(text: string, index: number): number {
  return weights[text.charCodeAt(index)] ?? 0;
}
