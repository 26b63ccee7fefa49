/** A date of the Gregorian calendar, which is extended to years before its introduction. The
 *  functions below convert it to and from days since 0001-01-01, a Monday. */
export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

export const yearMax = 9999;

/**
 * The conversion counts years from March, so that the leap day is the last day of a year. Day 0 of
 * this count is 0000-03-01; 0001-01-01 is its day 306.
 */
const daysBeforeEpoch = 306;
/** Days in 400 years, after which the calendar repeats. */
const daysPerEra = 146_097;

export function daysFromCivil(date: CivilDate): number {
  const year = date.month <= 2 ? date.year - 1 : date.year;
  const era = Math.floor(year / 400);
  const yearOfEra = year - era * 400;
  const monthFromMarch = (date.month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + date.day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * daysPerEra + yearOfEra * 365 + leapDays + dayOfYear - daysBeforeEpoch;
}

export function civilFromDays(days: number): CivilDate {
  const shifted = days + daysBeforeEpoch;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** 0 is Sunday, as in the names of `dates.ts`. */
export function weekdayFromDays(days: number): number {
  return (days + 1) % 7;
}

/** Whether the date exists in the calendar, from year 1 to 9999. */
export function isCivilDate(date: CivilDate): boolean {
  if (date.year < 1 || date.year > yearMax || date.month < 1 || date.month > 12) return false;
  return date.day >= 1 && date.day <= daysInMonth(date.year, date.month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
