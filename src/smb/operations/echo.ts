import { emptyAnswer, type Answer } from "../answer.ts";

export function echo(): Answer {
  return emptyAnswer();
}
