const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

export function bytes(size: number | undefined): string {
  if (size === undefined || Number.isNaN(size)) return "";
  let value = size;
  let unit = 0;
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${byteUnits[unit] ?? ""}`;
}

const wholeNumber = new Intl.NumberFormat("en");

export function count(value: number | undefined): string {
  return value === undefined ? "" : wholeNumber.format(value);
}

/** Formats `Tue, 03 Nov 2026 10:00:00 GMT` or ISO 8601 in the local time zone. */
export function moment(text: string | number | undefined): string {
  if (text === undefined || text === "") return "";
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Formats seconds: 95 as `95 s`, 150 as `2 m 30 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** The end of an ETag, which is the part that differs between states. */
export function shortEtag(etag: string | undefined): string {
  if (etag === undefined) return "";
  const plain = etag.replace(/^W\/|"/g, "");
  return plain.length > 14 ? `…${plain.slice(-10)}` : plain;
}

export function plural(howMany: number, one: string, many = `${one}s`): string {
  return `${count(howMany)} ${howMany === 1 ? one : many}`;
}
