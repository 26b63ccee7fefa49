/**
 * The order in which the service sorts header names before it signs them: that of a word list, in
 * which punctuation comes before digits and letters, and hyphens weigh nothing unless all else is
 * equal. So `x-ms-meta-ab` comes before `x-ms-meta-a-c`, where plain ASCII has it the other way.
 */
export type HeaderOrder = (left: string, right: string) => number;

const byWeight = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
const asciiCount = 128;
/** 0 marks the characters that weigh nothing. */
const weights = new Uint8Array(asciiCount);
for (let index = 0; index < byWeight.length; index += 1) {
  weights[byWeight.charCodeAt(index)] = index + 1;
}

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

export const asciiOrder: HeaderOrder = (left, right) => (left < right ? -1 : left > right ? 1 : 0);

/** Names that differ in hyphens only: the one whose first odd hyphen comes later is first. */
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
