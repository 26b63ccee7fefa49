import { boolean, header, type Param } from "./params.ts";
import { fail, ok } from "./result.ts";

const md5 = header("x-ms-range-get-content-md5", boolean);
const crc64 = header("x-ms-range-get-content-crc64", boolean);

/** The checksum of the returned range that the request asks for. Only one kind is allowed;
 *  undefined for none. */
export const rangeChecksum: Param<"md5" | "crc64" | undefined> = {
  sources: [...md5.sources, ...crc64.sources],
  parse: (reader) => {
    const wantsMd5 = md5.parse(reader);
    if (!wantsMd5.ok) return wantsMd5;
    const wantsCrc64 = crc64.parse(reader);
    if (!wantsCrc64.ok) return wantsCrc64;
    if (wantsMd5.value === true && wantsCrc64.value === true) {
      return fail("BothCrc64AndMd5RangeHeaderPresent");
    }
    return ok(wantsMd5.value === true ? "md5" : wantsCrc64.value === true ? "crc64" : undefined);
  },
};
