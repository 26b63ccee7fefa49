import { emptyResponse, type SmbResponse } from "../response.ts";

/** ECHO: clients send it to test the connection. */
export function echo(): SmbResponse {
  return emptyResponse();
}
