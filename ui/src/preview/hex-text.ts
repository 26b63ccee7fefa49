const bytesPerLine = 16;
const dot = ".";

/** Lines of offset, 16 bytes in hexadecimal, and the same bytes as ASCII. */
export function hexText(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    const line = bytes.subarray(at, at + bytesPerLine);
    const hex = [...line].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = [...line].map(letterOf).join("");
    const width = bytesPerLine * 3 - 1;
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(width)}  ${letters}`);
  }
  return lines.join("\n");
}

function letterOf(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : dot;
}
