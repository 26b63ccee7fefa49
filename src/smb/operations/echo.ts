import { emptyAnswer, type SmbResponse } from "../response.ts";

export function echo(): SmbResponse {
  return emptyAnswer();
}
