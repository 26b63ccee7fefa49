import { faultMessage, type Fault } from "../../protocol/faults.ts";
import { queryText } from "../../protocol/signing/request.ts";
import type { HttpService } from "../http-service.ts";
import { authRequestOf, identifyTarget, locateRequest } from "../request/target.ts";
import type { WireRequest } from "../wire.ts";
import { sasTextOf } from "./sas-mistakes.ts";
import { elementsForLog, withoutSecrets } from "./secrets.ts";
import { sharedKeyMistakes } from "./shared-key-mistakes.ts";
import { explainSignature, type SignatureReport } from "./signature-checks.ts";

/** Explains a rejected request in the debug log (`--debug`). For a signature that did not match it
 *  tries what clients commonly do wrong, and names the mistake that reproduces the signature. */

/** The fields of the debug log that explain why a request was rejected. */
interface Diagnosis {
  readonly reason: string;
  /** The property, header, query parameter or XML element that is at fault. */
  readonly about?: string;
  readonly details?: Readonly<Record<string, string>>;
  /** Names the mistake that explains a signature that did not match. */
  readonly signature?: SignatureReport;
}

/** Explains a rejected request. Parses the request again, so that nothing is kept for it while no
 *  debug log is written. */
export function diagnose(http: HttpService, request: WireRequest, fault: Fault): Diagnosis {
  const { elements, failedCondition, subject = failedCondition } = fault.detail ?? {};
  const signature = isMismatch(fault) ? signatureReport(http, request) : undefined;
  return {
    reason: withoutSecrets(faultMessage(fault)),
    ...(subject === undefined ? {} : { about: withoutSecrets(subject) }),
    ...(elements === undefined ? {} : { details: elementsForLog(elements) }),
    ...(signature === undefined ? {} : { signature }),
  };
}

const mismatch = /^(The MAC signature found|Signature did not match)/;

function isMismatch({ code, detail }: Fault): boolean {
  const explanation = detail?.elements?.["AuthenticationErrorDetail"] ?? "";
  return code === "AuthenticationFailed" && mismatch.test(explanation);
}

function signatureReport(http: HttpService, request: WireRequest): SignatureReport | undefined {
  const located = locateRequest(http, { request, requestId: "" });
  if (!located.ok) return undefined;
  const target = identifyTarget(http, located.value);
  if (!target.ok) return undefined;
  const settings = http.accounts.get(target.value.location.account);
  if (settings === undefined) return undefined;
  const { keys } = settings;
  const signed = authRequestOf(http, target.value);
  const found = /^(SharedKey|SharedKeyLite) +[^:]*:(.*)$/i.exec(
    signed.header("authorization") ?? "",
  );
  if (found === null) {
    const sas = sasTextOf(signed);
    const signature = queryText(signed, "sig");
    return sas && shown(explainSignature(sas.text, sas.mistakes, { keys, signature }));
  }
  const isFull = found[1]?.toLowerCase() === "sharedkey";
  const { text, mistakes } = sharedKeyMistakes(signed, isFull ? "SharedKey" : "SharedKeyLite");
  return shown(explainSignature(text, mistakes, { keys, signature: found[2] ?? "" }));
}

function shown({ stringToSign, difference }: SignatureReport): SignatureReport {
  return { stringToSign: withoutSecrets(stringToSign), difference: withoutSecrets(difference) };
}
