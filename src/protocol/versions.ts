import { isCivilDate } from "../base/dates.ts";

/** The x-ms-versions of Azure Storage. Each request names one; operations and faults depend on
 *  it. */

/** All x-ms-versions that Azure has announced, oldest first. */
export const knownVersions = [
  "2009-04-14",
  "2009-07-17",
  "2009-09-19",
  "2011-08-18",
  "2012-02-12",
  "2013-08-15",
  "2014-02-14",
  "2015-02-21",
  "2015-04-05",
  "2015-07-08",
  "2015-12-11",
  "2016-05-31",
  "2017-04-17",
  "2017-07-29",
  "2017-11-09",
  "2018-03-28",
  "2018-11-09",
  "2019-02-02",
  "2019-07-07",
  "2019-10-10",
  "2019-12-12",
  "2020-02-10",
  "2020-04-08",
  "2020-06-12",
  "2020-08-04",
  "2020-10-02",
  "2020-12-06",
  "2021-02-12",
  "2021-04-10",
  "2021-06-08",
  "2021-08-06",
  "2021-10-04",
  "2021-12-02",
  "2022-11-02",
  "2023-01-03",
  "2023-05-03",
  "2023-08-03",
  "2023-11-03",
  "2024-02-04",
  "2024-05-04",
  "2024-08-04",
  "2024-11-04",
  "2025-01-05",
  "2025-05-05",
  "2025-07-05",
  "2025-11-05",
  "2026-02-06",
  "2026-04-06",
  "2026-06-06",
  "2026-10-06",
  "2026-12-06",
] as const;

export type Version = (typeof knownVersions)[number];

/** The first x-ms-version whose responses contain a CRC64 of the body instead of an MD5. */
export const crc64Since: Version = "2019-02-02";

export const oldestVersion: Version = knownVersions[0];
/** The last of `knownVersions`, which a request without a version gets if it has credentials. */
export const latestVersion: Version = "2026-12-06";

const known: ReadonlySet<string> = new Set(knownVersions);

export function isKnownVersion(text: string): text is Version {
  return known.has(text);
}

const versionPattern = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Whether the text is a valid date `YYYY-MM-DD`, even if Azure has announced no such version. */
export function isVersionDate(text: string): boolean {
  const [, year, month, day] = versionPattern.exec(text) ?? [];
  return (
    year !== undefined &&
    isCivilDate({ year: Number(year), month: Number(month), day: Number(day) })
  );
}

/** Whether the text is a date after the latest announced version. Client libraries that are newer
 *  than this release send such versions. */
export function isLaterVersion(text: string): boolean {
  return text > latestVersion && isVersionDate(text);
}

/** Which versions are accepted. `known`: announced ones; `later`: also dates after them; `any`: any
 *  text; a text that is no date is treated as the latest version. */
export type VersionPolicy = "known" | "later" | "any";

/** Whether a version is `since` or later: versions are dates, which sort as text. */
export function isAtLeast(version: string, since: string): boolean {
  return version >= since;
}
