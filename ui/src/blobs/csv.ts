/** Parses a CSV text (RFC 4180) into rows. Quoted fields may contain separators, line ends and
 *  quotes. */
export function parseCsv(
  text: string,
  { separator = ",", rowsMax = Number.MAX_SAFE_INTEGER } = {},
): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endField = (): void => {
    row.push(field);
    field = "";
  };
  const endRow = (): void => {
    endField();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length && rows.length < rowsMax; at += 1) {
    const letter = text.charAt(at);
    if (isQuoted) {
      if (letter !== '"') field += letter;
      else if (text.charAt(at + 1) === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && field === "") isQuoted = true;
    else if (letter === separator) endField();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") field += letter;
  }
  if (rows.length < rowsMax && (field !== "" || row.length > 0)) endRow();
  return rows;
}

export function formatCsvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
