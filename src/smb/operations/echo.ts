import { emptyResponse, type SmbResponse } from "../response.ts";

export function echo(): SmbResponse {
  return emptyResponse();
}
