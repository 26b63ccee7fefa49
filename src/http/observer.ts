import type { ReportFileChange } from "../file/file-change.ts";
import type { HttpService } from "./http-service.ts";
import type { CompletedRequest } from "./request/request-context.ts";
import type { WireResponse } from "./wire.ts";

/** The subscriber to completed requests. The event feed sets `watch`. */
export interface Observer {
  watch: ((observed: ObservedRequest) => void) | undefined;
  /** Receives the changes of files over SMB. */
  watchFiles?: ReportFileChange | undefined;
  /** Writes the audit log; undefined without one. */
  readonly audit?: ((observed: ObservedRequest) => void) | undefined;
}

/** A completed request. Valid only during the call of `watch`, because it refers to the body of the
 *  request. */
export interface ObservedRequest extends CompletedRequest {
  readonly http: HttpService;
  readonly reply: WireResponse;
}
